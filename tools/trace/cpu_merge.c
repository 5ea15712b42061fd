// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/xalloc.h"
#include "trace/cpu_merge.h"
#include "trace/record.h"

static __u64 u64_at(const char *record, size_t offset)
{
	__u64 n;

	return memcpy(&n, record + offset, sizeof(n)), n;
}

/* Rejects records that a crash of the machine may have left as zeroes. */
static bool is_whole(const struct cpu_merge *m, const struct iot_stream_block *b, const char *records)
{
	__u64 seq = b->first, end = seq + b->count;

	for (; seq < end; seq++, records += m->event->size)
		if (u64_at(records, m->seq) != seq)
			return false;
	return true;
}

/* Length of the blocks at the start of a frame, before its notes; -1: the frame is damaged. */
static ssize_t measure_blocks(const struct cpu_merge *m, const char *data, size_t size)
{
	size_t at = 0, record = m->event->size;
	struct iot_stream_block b;

	while (size - at >= sizeof(b)) {
		memcpy(&b, data + at, sizeof(b));
		if (b.magic != IOT_STREAM_BLOCK_MAGIC)
			break;
		at += sizeof(b);
		if (b.event != m->event->id || b.cpu >= m->nr_cpus ||
		    b.count > (size - at) / record || !is_whole(m, &b, data + at))
			return -1;
		at += b.count * record;
	}
	return at;
}

static bool is_before(const struct cpu_merge *m, unsigned int a, unsigned int b)
{
	const struct cpu_merge_cpu *x = &m->cpus[a], *y = &m->cpus[b];

	return x->end < y->end || (x->end == y->end && a < b);
}

static void sift_down(struct cpu_merge *m)
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

static void insert(struct cpu_merge *m, unsigned int cpu)
{
	unsigned int i = m->nr_heap++;

	for (; i && is_before(m, cpu, m->heap[(i - 1) / 2]); i = (i - 1) / 2)
		m->heap[i] = m->heap[(i - 1) / 2];
	m->heap[i] = cpu;
}

static __u64 end_of(const struct cpu_merge *m, const char *record)
{
	return u64_at(record, m->time) + u64_at(record, m->latency);
}

static void show(struct cpu_merge *m, struct cpu_merge_cpu *c, const char *record, size_t left)
{
	c->record = record;
	c->left = left;
	c->end = end_of(m, record);
}

static bool make_room(struct cpu_merge_cpu *c)
{
	size_t room = c->room ? 2 * c->room : 16;

	if (c->nr < c->room)
		return true;
	if (!xgrow(&c->queue, room, sizeof(*c->queue)))
		return false;
	c->room = room;
	return true;
}

/*
 * Queues a block. If the CPU had no record left, it continues with this block. False if there is no
 * memory.
 */
static bool enqueue(struct cpu_merge *m, unsigned int cpu, struct cpu_merge_block block)
{
	struct cpu_merge_cpu *c = &m->cpus[cpu];

	if (c->nr == c->room && c->first) {
		c->nr -= c->first;
		memmove(c->queue, c->queue + c->first, c->nr * sizeof(*c->queue));
		c->first = 0;
	}
	if (!make_room(c))
		return false;
	c->queue[c->nr++] = block;
	if (c->record)
		return true;
	show(m, c, block.records, block.nr - 1);
	insert(m, cpu);
	return true;
}

static void put_frame(struct cpu_merge *m, struct cpu_merge_frame *f)
{
	if (--f->refs)
		return;
	f->next = m->free;
	m->free = f;
}

/* The CPU's block is finished: continues with the CPU's next block, if there is one. */
static void next_block(struct cpu_merge *m, struct cpu_merge_cpu *c)
{
	put_frame(m, c->queue[c->first++].frame);
	c->record = NULL;
	if (c->first < c->nr) {
		show(m, c, c->queue[c->first].records, c->queue[c->first].nr - 1);
		return;
	}
	c->first = 0;
	c->nr = 0;
}

/* The record at the top was returned: its CPU continues with the next record. */
static void step(struct cpu_merge *m)
{
	struct cpu_merge_cpu *c = &m->cpus[m->heap[0]];

	if (c->left)
		show(m, c, c->record + m->event->size, c->left - 1);
	else
		next_block(m, c);
	if (!c->record)
		m->heap[0] = m->heap[--m->nr_heap];
	if (m->nr_heap)
		sift_down(m);
}

static struct cpu_merge_frame *get_frame(struct cpu_merge *m)
{
	struct cpu_merge_frame *f = m->free;

	if (f) {
		m->free = f->next;
	} else {
		f = xreallocarray(NULL, 1, sizeof(*f));
		if (!f)
			return NULL;
		*f = (struct cpu_merge_frame){ 0 };
	}
	f->refs = 1;
	return f;
}

/* Reports events as missing up to the one before @next. The event @next ended at @before. */
static void tell_hole(struct cpu_merge *m, unsigned int cpu, __u64 next, __u64 before)
{
	const struct cpu_merge_cpu *c = &m->cpus[cpu];
	struct cpu_merge_hole hole = { cpu, c->next, next - 1, c->last_end, before };

	if (c->known && next > c->next && m->hole)
		m->hole(m->hole_data, &hole);
}

/* Reports a hole before a CPU's next block. Lost events (its gap) are reported elsewhere. */
static void follow(struct cpu_merge *m, const struct iot_stream_block *b, const char *records)
{
	struct cpu_merge_cpu *c = &m->cpus[b->cpu];
	__u64 from = b->first - b->gap;

	tell_hole(m, b->cpu, from, b->count ? end_of(m, records) : 0);
	c->missing = c->known && from > c->next ? from - c->next : 0;
	c->known = true;
	c->next = b->first + b->count;
	if (b->count)
		c->last_end = end_of(m, records + (b->count - 1) * (size_t)m->event->size);
}

/* Queues the blocks of an intact frame for their CPUs. */
static void hand_out(struct cpu_merge *m, struct cpu_merge_frame *f, size_t blocks)
{
	struct iot_stream_block b;
	size_t at;

	for (at = 0; at < blocks; at += sizeof(b) + b.count * (size_t)m->event->size) {
		memcpy(&b, f->data + at, sizeof(b));
		m->lost += b.gap;
		follow(m, &b, f->data + at + sizeof(b));
		if (!b.count)
			continue;
		f->refs++;
		if (!enqueue(m, b.cpu, (struct cpu_merge_block){ f, f->data + at + sizeof(b), b.count })) {
			put_frame(m, f);
			return;
		}
	}
}

/* The whole file was scanned: reports what is missing at its end. */
static void finish(struct cpu_merge *m)
{
	unsigned int cpu;

	m->all = true;
	for (cpu = 0; cpu < m->nr_cpus; cpu++)
		tell_hole(m, cpu, m->cpus[cpu].behind, 0);
}

void cpu_merge_expect(struct cpu_merge *m, unsigned int cpu, __u64 first, __u64 behind)
{
	if (cpu >= m->nr_cpus)
		return;
	m->cpus[cpu].known = true;
	m->cpus[cpu].next = first;
	m->cpus[cpu].behind = behind;
}

/* Loads the frame at @at. Returns the length of its blocks, or -1: it is damaged. */
static ssize_t load(struct cpu_merge *m, __u64 at, char **data, size_t *room,
		    struct trace_frame *frame)
{
	ssize_t blocks;

	if (!trace_reader_load(&m->reader, at, data, room, frame))
		return -1;
	blocks = measure_blocks(m, *data, frame->size);
	if (blocks < 0)
		trace_reader_damaged(&m->reader, at, frame);
	return blocks;
}

/* The seq that each CPU continues with is not known: its blocks in the frame were not read. */
static void skip(struct cpu_merge *m, const struct trace_frame *frame)
{
	unsigned int cpu;

	m->reader.frames++;
	m->skipped++;
	m->events += frame->events;
	m->lost += frame->index.lost;
	if (frame->until > m->until)
		m->until = frame->until;
	for (cpu = 0; cpu < m->nr_cpus; cpu++)
		m->cpus[cpu].known = false;
}

/* Reads one more frame of the file. */
static void scan(struct cpu_merge *m)
{
	struct trace_frame frame;
	struct cpu_merge_frame *f;
	ssize_t blocks;
	__u64 at;

	if (!trace_reader_next(&m->reader, &frame, &at)) {
		finish(m);
		return;
	}
	if (m->wants && !m->wants(m->wants_data, &frame.index)) {
		skip(m, &frame);
		return;
	}
	f = get_frame(m);
	if (!f)
		return;
	blocks = load(m, at, &f->data, &f->room, &frame);
	if (blocks >= 0) {
		if (frame.until > m->until)
			m->until = frame.until;
		f->blocks = blocks;
		f->notes_size = frame.size - blocks;
		f->notes_known = false;
		hand_out(m, f, blocks);
	}
	put_frame(m, f);
}

/* Counts the blocks of a frame. The events that are missing before a block are lost. */
static void count(struct cpu_merge *m, char *data, size_t blocks)
{
	struct iot_stream_block b;
	size_t at;

	for (at = 0; at < blocks; at += sizeof(b) + b.count * (size_t)m->event->size) {
		const struct cpu_merge_cpu *c;

		memcpy(&b, data + at, sizeof(b));
		c = &m->cpus[b.cpu];
		m->lost += b.gap;
		m->events += b.count;
		follow(m, &b, data + at + sizeof(b));
		b.gap += c->missing;
		memcpy(data + at, &b, sizeof(b));
	}
}

bool cpu_merge_next_frame(struct cpu_merge *m, struct cpu_merge_whole *w)
{
	ssize_t blocks = -1;
	__u64 at;

	while (blocks < 0) {
		if (!trace_reader_next(&m->reader, &w->frame, &at)) {
			finish(m);
			return false;
		}
		blocks = load(m, at, &w->data, &w->room, &w->frame);
	}
	w->blocks = blocks;
	count(m, w->data, blocks);
	return true;
}

const void *cpu_merge_next(struct cpu_merge *m)
{
	if (m->begun)
		step(m);
	m->begun = false;
	while (!m->all && !xalloc_failed() && (!m->nr_heap || m->cpus[m->heap[0]].end >= m->until))
		scan(m);
	if (!m->nr_heap || xalloc_failed())
		return NULL;
	m->begun = true;
	m->events++;
	return m->cpus[m->heap[0]].record;
}

const char *cpu_merge_note(const struct cpu_merge *m, const void *record, size_t *length)
{
	const struct cpu_merge_cpu *c = &m->cpus[m->heap[0]];
	struct cpu_merge_frame *f = c->queue[c->first].frame;

	if (!f->notes_size)
		return NULL;
	if (!f->notes_known) {
		notes_fill(&f->notes, f->data + f->blocks, f->notes_size);
		f->notes_known = true;
	}
	return notes_find(&f->notes, m->heap[0], u64_at(record, m->seq), length);
}

int cpu_merge_open(struct cpu_merge *m, const char *directory, const char *file,
		   const struct iot_schema_event *event)
{
	const struct iot_stream_header like = {
		.layout = IOT_LAYOUT_BLOCKS, .event = event->id, .record_size = event->size,
		.cpus = CPU_MERGE_CPUS,
	};
	int status;

	*m = (struct cpu_merge){ .event = event };
	status = trace_reader_open(&m->reader, directory, file, &like);
	if (status)
		return status;
	m->seq = record_field(event, "seq")->offset;
	m->time = record_field(event, "time")->offset;
	m->latency = record_field(event, "latency")->offset;
	m->nr_cpus = m->reader.header.cpus;
	m->cpus = xreallocarray(NULL, m->nr_cpus, sizeof(*m->cpus));
	m->heap = xreallocarray(NULL, m->nr_cpus, sizeof(*m->heap));
	if (!m->cpus || !m->heap) {
		free(m->cpus);
		m->cpus = NULL;
		return CLI_FAILED;
	}
	memset(m->cpus, 0, m->nr_cpus * sizeof(*m->cpus));
	return CLI_OK;
}

static void free_cpu(struct cpu_merge *m, struct cpu_merge_cpu *c)
{
	for (; c->first < c->nr; c->first++)
		put_frame(m, c->queue[c->first].frame);
	free(c->queue);
}

void cpu_merge_close(struct cpu_merge *m)
{
	struct cpu_merge_frame *f;
	unsigned int i;

	for (i = 0; m->cpus && i < m->nr_cpus; i++)
		free_cpu(m, &m->cpus[i]);
	while ((f = m->free)) {
		m->free = f->next;
		notes_free(&f->notes);
		free(f->data);
		free(f);
	}
	free(m->cpus);
	free(m->heap);
	trace_reader_close(&m->reader);
	m->cpus = NULL;
	m->heap = NULL;
}
