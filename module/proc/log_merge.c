// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the rings of a log, and merges their records by the time at which events ended. Each ring
 * has its records in this order. One record of each ring is read ahead.
 *
 * Context: task, may sleep.
 */
#include <linux/sched.h>
#include <linux/slab.h>
#include "core/schema.h"
#include "proc/log_files.h"
#include "proc/log_merge.h"
#include "proc/mask.h"

/**
 * iot_merge_new() - make a reader
 *
 * Its memory is charged to the memory cgroup of the task. Return: NULL if there is none.
 */
struct iot_merge *iot_merge_new(struct iot_log *log, bool masked)
{
	unsigned int i, nr = iot_rings_nr(log->of);
	struct iot_merge *m;

	m = kvzalloc(struct_size(m, front, nr), GFP_KERNEL_ACCOUNT);
	if (!m)
		return NULL;
	m->log = log;
	m->masked = masked;
	m->nr = nr;
	m->records = kvcalloc(nr, log->event->size, GFP_KERNEL_ACCOUNT);
	if (!m->records) {
		kvfree(m);
		return NULL;
	}
	for (i = 0; i < nr; i++)
		m->front[i].record = m->records + i * log->event->size / sizeof(u64);
	return m;
}

void iot_merge_free(struct iot_merge *m)
{
	iot_merge_end(m);
	kvfree(m->records);
	kvfree(m);
}

/** iot_merge_begin() - get the present rings of the log. Return: false if there are none */
bool iot_merge_begin(struct iot_merge *m)
{
	iot_merge_end(m);
	m->rings = iot_log_rings(m->log);
	m->t0 = READ_ONCE(m->log->t0);
	return m->rings;
}

/** iot_merge_end() - let the rings go */
void iot_merge_end(struct iot_merge *m)
{
	iot_rings_put(m->rings);
	m->rings = NULL;
}

/**
 * iot_merge_catch_up() - skip records of a ring that are gone
 * @end:	set to the index after the last record
 *
 * Return: the index of the next record.
 */
u64 iot_merge_catch_up(struct iot_pipe_position *at, const struct iot_shard *shard, u64 *end)
{
	u64 from = iot_shard_window(shard, end) + shard->shift;

	if (at->next < from) {
		at->gap += from - at->next;
		at->next = from;
	}
	return at->next - shard->shift;
}

/** iot_merge_pass() - skip a record that is gone */
void iot_merge_pass(struct iot_pipe_position *at)
{
	at->next++;
	at->gap++;
}

/* Read the next record of a ring that is not gone. Return: the state of the front. */
static enum iot_front_state read_next(struct iot_merge *m, unsigned int i, bool follow)
{
	const struct iot_shard *shard = &m->rings->shard[i];
	struct iot_front *front = &m->front[i];
	u64 end, index;

	for (;;) {
		index = iot_merge_catch_up(&front->at, shard, &end);
		if (follow)
			front->end = end + shard->shift;
		if (front->at.next >= front->end)
			return IOT_FRONT_NONE;
		switch (iot_ring_read(iot_shard_ring(shard), index, front->record)) {
		case IOT_RING_OK:
			return IOT_FRONT_FULL;
		case IOT_RING_PENDING:
			if (follow)
				return IOT_FRONT_PENDING;
			break;
		case IOT_RING_GONE:
			break;
		}
		iot_merge_pass(&front->at);
		cond_resched();
	}
}

/**
 * iot_merge_look() - read ahead in a ring
 * @follow:	read on beyond the front's end, and stop at a record that is not complete; without
 *		it, such a record is skipped
 *
 * Context: between iot_merge_begin() and iot_merge_end().
 */
void iot_merge_look(struct iot_merge *m, unsigned int i, bool follow)
{
	struct iot_front *front = &m->front[i];

	front->state = read_next(m, i, follow);
	if (front->state != IOT_FRONT_FULL)
		return;
	front->record[0] = front->at.next;
	if (m->log->shown->complete)
		m->log->shown->complete(m->log, front->record);
	if (m->masked)
		iot_mask_record(m->log->event, front->record);
}

/* Get when an event ended. All records begin with seq, time and latency (record/categories.c). */
static u64 end_time(const struct iot_front *front)
{
	return front->record[1] + front->record[2];
}

/** iot_merge_best() - get the front that ended first, or NULL if there is none */
struct iot_front *iot_merge_best(struct iot_merge *m)
{
	struct iot_front *front, *best = NULL;

	for (front = m->front; front < m->front + m->nr; front++)
		if (front->state == IOT_FRONT_FULL &&
		    (!best || end_time(front) < end_time(best)))
			best = front;
	return best;
}
