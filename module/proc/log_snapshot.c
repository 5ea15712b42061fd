// SPDX-License-Identifier: GPL-2.0
/*
 * Sorted copies of the records of a log that has one ring, that of a file or device: what it has at
 * one moment. So reads in parts, at offsets and from several processes find the same text, and
 * even the smallest ring shows its last N records under the heaviest load.
 */
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "core/order.h"
#include "proc/log_files.h"
#include "proc/log_snapshot.h"

/* The copy is charged to the reader's memory cgroup. */
static void *snapshot_alloc(size_t n, size_t size)
{
	size_t bytes = array_size(n, size);

	if (bytes <= KMALLOC_MAX_CACHE_SIZE)
		return kmalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	return __vmalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_NOWARN |
			 __GFP_RETRY_MAYFAIL);
}

/* Values of seq for a record that is not there yet, or never will be. */
#define SEQ_PENDING	U64_MAX
#define SEQ_GONE	(U64_MAX - 1)

/**
 * struct span - the part of a ring that a snapshot copies
 * @log:	whose ring it is
 * @shard:	the ring; a reference is held
 * @from:	first index
 * @end:	index after the last
 */
struct span {
	const struct iot_log *log;
	const struct iot_shard *shard;
	u64 from;
	u64 end;
};

/* Copy the records that are marked as pending. Return: how many are still pending. */
static size_t copy_pending(struct iot_log_snapshot *snapshot, const struct span *span)
{
	size_t pending = 0;
	u64 i;

	for (i = span->from; i < span->end; i++) {
		struct iot_io *r = &snapshot->records[i - span->from];

		cond_resched();
		if (r->seq != SEQ_PENDING)
			continue;
		switch (iot_ring_read(span->shard->ring, i, (u64 *)r)) {
		case IOT_RING_OK:
			r->seq = i + span->shard->shift;
			span->log->shown->complete(span->log, r);
			break;
		case IOT_RING_PENDING:
			pending++;
			break;
		case IOT_RING_GONE:
			r->seq = SEQ_GONE;
			break;
		}
	}
	return pending;
}

/*
 * A record that is missing after all writers that were active have finished was lost.
 * Writers run with preemption off, so an RCU grace period waits for them.
 */
static void copy(struct iot_log_snapshot *snapshot, const struct span *span)
{
	u64 i, nr = span->end - span->from;

	for (i = 0; i < nr; i++)
		snapshot->records[i].seq = SEQ_PENDING;
	if (copy_pending(snapshot, span)) {
		synchronize_rcu();
		copy_pending(snapshot, span);
	}
	for (i = 0; i < nr; i++)
		if (snapshot->records[i].seq < SEQ_GONE)
			snapshot->order[snapshot->nr++] = i;
}

static int take(struct iot_log_snapshot *snapshot, struct span *span, u64 from_seq)
{
	u64 shift = span->shard->shift;

	span->from = iot_shard_window(span->shard, &span->end);
	if (span->from + shift < from_seq)
		span->from = min(span->end, from_seq - shift);
	snapshot->next_seq = span->end + shift;
	if (span->from == span->end)
		return 0;
	snapshot->records = snapshot_alloc(span->end - span->from, sizeof(*snapshot->records));
	snapshot->order = snapshot_alloc(span->end - span->from, sizeof(*snapshot->order));
	if (!snapshot->records || !snapshot->order)
		return -ENOMEM;
	copy(snapshot, span);
	return 0;
}

/**
 * iot_log_snapshot_take() - copy the records of a log
 * @snapshot:	empty; to be dropped, also after an error
 * @log:	its records are of struct iot_io
 * @from_seq:	seq of the oldest record to copy
 *
 * Context: task, may sleep. Return: 0 or -ENOMEM.
 */
int iot_log_snapshot_take(struct iot_log_snapshot *snapshot, struct iot_log *log, u64 from_seq)
{
	struct iot_rings *rings = iot_log_rings(log);
	struct span span = { .log = log, .shard = rings->shard };
	int err;

	snapshot->t0 = READ_ONCE(log->t0);
	err = take(snapshot, &span, from_seq);
	iot_rings_put(rings);
	return err;
}

static bool began_after(const void *records, u32 a, u32 b)
{
	const struct iot_io *r = records;

	return r[a].time > r[b].time;
}

static bool is_killed(const void *records)
{
	cond_resched();
	return fatal_signal_pending(current);
}

/**
 * iot_log_snapshot_sort() - sort a snapshot by the time at which calls began
 *
 * Records are written when a call ends, so they are nearly in order, unless many long calls end
 * late. Context: task, may sleep. Return: 0, -ENOMEM, or -EINTR if the reader is being killed.
 */
int iot_log_snapshot_sort(struct iot_log_snapshot *snapshot)
{
	const struct iot_order order = {
		.is_after = began_after,
		.is_enough = is_killed,
		.data = snapshot->records,
	};
	u32 *spare;
	int err;

	if (!snapshot->nr)
		return 0;
	spare = snapshot_alloc(snapshot->nr, sizeof(*spare));
	if (!spare)
		return -ENOMEM;
	err = iot_order_sort(&order, snapshot->order, snapshot->nr, spare) ? 0 : -EINTR;
	kvfree(spare);
	return err;
}

/** iot_log_snapshot_drop() - free a snapshot's copies */
void iot_log_snapshot_drop(struct iot_log_snapshot *snapshot)
{
	kvfree(snapshot->records);
	kvfree(snapshot->order);
	snapshot->records = NULL;
	snapshot->order = NULL;
	snapshot->nr = 0;
}
