// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "merge.h"
#include "record.h"

#define CPUS_MAX 65536

static __u64 u64_at(const char *record, size_t offset)
{
	__u64 n;

	return memcpy(&n, record + offset, sizeof(n)), n;
}

/* What a crash of the machine may have left as zeroes does not pass. */
static bool is_whole(const struct merge *m, const struct iot_block *b, const char *records)
{
	const char *last = records + (b->count - 1) * (size_t)m->event->size;

	return !b->count || (u64_at(records, m->seq) == b->first &&
			     u64_at(last, m->seq) == b->first + b->count - 1);
}

/* Length of the blocks in a frame, behind which notes stand; -1: it is damaged. */
static ssize_t measure_blocks(const struct merge *m, struct merge_cpu *c,
			      const char *data, size_t size)
{
	size_t at = 0, record = m->event->size;
	struct iot_block b;

	while (size - at >= sizeof(b)) {
		memcpy(&b, data + at, sizeof(b));
		if (b.magic != IOT_BLOCK_MAGIC)
			break;
		at += sizeof(b);
		if (b.event != m->event->id || b.count > (size - at) / record ||
		    !is_whole(m, &b, data + at))
			return -1;
		at += b.count * record;
		c->lost += b.gap;
	}
	return at;
}

/* Loads the next frame of the queue. False when there is none, or it is damaged. */
static bool load_frame(struct merge *m, struct merge_cpu *c)
{
	struct trace_frame frame;
	ssize_t blocks;
	__u64 at;

	if (c->first == c->nr)
		return false;
	at = c->queue[c->first++];
	if (c->first == c->nr) {
		c->first = 0;
		c->nr = 0;
	}
	if (!trace_reader_load(&m->reader, at, &c->data, &c->data_room, &frame))
		return false;
	blocks = measure_blocks(m, c, c->data, frame.size);
	if (blocks < 0) {
		trace_reader_damaged(&m->reader, at);
		return false;
	}
	c->block = c->data;
	c->blocks_left = blocks;
	c->notes = c->data + blocks;
	c->notes_size = frame.size - blocks;
	return true;
}

/* The first record of the next block that has one. */
static const char *next_block(struct merge *m, struct merge_cpu *c)
{
	size_t record = m->event->size;
	struct iot_block b = { .count = 0 };

	while (!b.count) {
		while (!c->blocks_left)
			if (!load_frame(m, c))
				return NULL;
		memcpy(&b, c->block, sizeof(b));
		c->block += sizeof(b) + b.count * record;
		c->blocks_left -= sizeof(b) + b.count * record;
	}
	c->left = b.count - 1;
	return c->block - b.count * record;
}

static void advance(struct merge *m, struct merge_cpu *c)
{
	if (c->record && c->left) {
		c->left--;
		c->record += m->event->size;
	} else {
		c->record = NULL;
		c->record = next_block(m, c);
	}
	if (c->record)
		c->end = u64_at(c->record, m->time) + u64_at(c->record, m->latency);
}

static bool is_before(const struct merge *m, unsigned int a, unsigned int b)
{
	const struct merge_cpu *x = &m->cpus[a], *y = &m->cpus[b];

	return x->end < y->end || (x->end == y->end && a < b);
}

static void sift_down(struct merge *m)
{
	unsigned int i = 0, child, cpu = m->heap[0];

	while ((child = 2 * i + 1) < m->nr_heap) {
		if (child + 1 < m->nr_heap &&
		    is_before(m, m->heap[child + 1], m->heap[child]))
			child++;
		if (!is_before(m, m->heap[child], cpu))
			break;
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = cpu;
}

static void insert(struct merge *m, unsigned int cpu)
{
	unsigned int i = m->nr_heap++;

	for (; i && is_before(m, cpu, m->heap[(i - 1) / 2]); i = (i - 1) / 2)
		m->heap[i] = m->heap[(i - 1) / 2];
	m->heap[i] = cpu;
}

static void enqueue(struct merge_cpu *c, __u64 at)
{
	if (c->nr == c->room && c->first) {
		c->nr -= c->first;
		memmove(c->queue, c->queue + c->first, c->nr * sizeof(*c->queue));
		c->first = 0;
	}
	if (c->nr == c->room) {
		c->room = c->room ? 2 * c->room : 16;
		c->queue = cli_grow(c->queue, c->room, sizeof(*c->queue));
	}
	c->queue[c->nr++] = at;
}

/* Makes one more frame of the file known. */
static void scan(struct merge *m)
{
	struct trace_frame frame;
	struct merge_cpu *c;
	__u64 at;

	if (!trace_reader_next(&m->reader, &frame, &at)) {
		m->all = true;
		return;
	}
	if (frame.cpu >= m->nr_cpus) {
		trace_reader_damaged(&m->reader, at);
		return;
	}
	if (frame.until > m->until)
		m->until = frame.until;
	c = &m->cpus[frame.cpu];
	enqueue(c, at);
	if (c->record)
		return;
	advance(m, c);
	if (c->record)
		insert(m, frame.cpu);
}

/* The CPU whose record was taken shows its next one. */
static void step(struct merge *m)
{
	struct merge_cpu *c = &m->cpus[m->current];

	advance(m, c);
	if (!c->record)
		m->heap[0] = m->heap[--m->nr_heap];
	if (m->nr_heap)
		sift_down(m);
}

const void *merge_next(struct merge *m)
{
	if (m->begun)
		step(m);
	m->begun = false;
	while (!m->all && (!m->nr_heap || m->cpus[m->heap[0]].end >= m->until))
		scan(m);
	if (!m->nr_heap)
		return NULL;
	m->begun = true;
	m->current = m->heap[0];
	m->events++;
	return m->cpus[m->current].record;
}

const char *merge_note(const struct merge *m, const void *record, size_t *length)
{
	const struct merge_cpu *c = &m->cpus[m->current];
	__u64 seq = record_seq(m->event, record);
	size_t at = 0, left;
	struct trace_note n;

	for (; (left = c->notes_size - at) >= sizeof(n); at += (n.length + 7) & ~(size_t)7) {
		memcpy(&n, c->notes + at, sizeof(n));
		at += sizeof(n);
		if (n.magic != TRACE_NOTE_MAGIC || n.length > left - sizeof(n))
			return NULL;
		if (n.seq != seq)
			continue;
		*length = n.length;
		return c->notes + at;
	}
	return NULL;
}

__u64 merge_lost(const struct merge *m)
{
	__u64 lost = 0;
	unsigned int i;

	for (i = 0; i < m->nr_cpus; i++)
		lost += m->cpus[i].lost;
	return lost;
}

int merge_open(struct merge *m, const char *directory, const char *file,
	       const struct iot_schema_event *event)
{
	const struct iot_stream_header *h = &m->reader.header;
	int status;

	*m = (struct merge){ .event = event };
	status = trace_reader_open(&m->reader, directory, file, IOT_LAYOUT_BLOCKS);
	if (status)
		return status;
	if (h->event != event->id || h->record_size != event->size || !h->cpus ||
	    h->cpus > CPUS_MAX) {
		cli_say_of(m->reader.name, "is damaged: event %u, records of %u bytes, %u CPUs",
			   h->event, h->record_size, h->cpus);
		return CLI_FAILED;
	}
	m->seq = record_field(event, "seq")->offset;
	m->time = record_field(event, "time")->offset;
	m->latency = record_field(event, "latency")->offset;
	m->nr_cpus = h->cpus;
	m->cpus = cli_grow(NULL, m->nr_cpus, sizeof(*m->cpus));
	memset(m->cpus, 0, m->nr_cpus * sizeof(*m->cpus));
	m->heap = cli_grow(NULL, m->nr_cpus, sizeof(*m->heap));
	return CLI_OK;
}

void merge_close(struct merge *m)
{
	unsigned int i;

	for (i = 0; m->cpus && i < m->nr_cpus; i++) {
		free(m->cpus[i].queue);
		free(m->cpus[i].data);
	}
	free(m->cpus);
	free(m->heap);
	trace_reader_close(&m->reader);
	m->cpus = NULL;
	m->heap = NULL;
}
