// SPDX-License-Identifier: GPL-2.0
/* Converts the events of a trace to the merged one: CPUs, times and ids of paths. */
#include <string.h>

#include "record/trace_merge_parts.h"

static __u64 get(const char *at)
{
	__u64 n;

	return memcpy(&n, at, sizeof(n)), n;
}

static void put(char *at, __u64 n)
{
	memcpy(at, &n, sizeof(n));
}

/* A path that is not in the file gets an id that no path has, so it is still shown as ?. */
static __u64 move_path(const struct trace_merge_source *s, __u64 id)
{
	if (!id)
		return 0;
	if (id < s->path_first || id >= s->path_next)
		return ~0ULL;
	return id - s->path_first + s->path_base;
}

static __u64 end_of(const struct trace_merge_source *s, const struct cpu_merge *m, const char *record)
{
	return trace_merge_time(s, get(record + m->time) + get(record + m->latency));
}

/*
 * Converts the time when the event ended, and keeps the latency: so the events of a CPU stay in the
 * order in which they ended, although the clocks run at different rates. Returns that time.
 */
static __u64 move_record(const struct trace_merge_source *s, const struct cpu_merge *m, char *record)
{
	__u64 end = end_of(s, m, record);
	unsigned int i;

	put(record + m->time, end - get(record + m->latency));
	for (i = 0; i < m->event->nr_fields; i++) {
		const struct iot_schema_field *f = &m->event->fields[i];

		if (!strcmp(f->kind, "path"))
			put(record + f->offset, move_path(s, get(record + f->offset)));
	}
	return end;
}

static void move_notes(const struct trace_merge_source *s, char *at, size_t left)
{
	struct trace_note n;
	size_t length;

	while (left >= sizeof(n)) {
		memcpy(&n, at, sizeof(n));
		length = sizeof(n) + ((n.length + 7ULL) & ~7ULL);
		if (n.magic != TRACE_NOTE_MAGIC || n.length > TRACE_NOTE_MAX || length > left)
			return;
		n.cpu += s->first_cpu;
		memcpy(at, &n, sizeof(n));
		at += length;
		left -= length;
	}
}

__u64 trace_merge_move(const struct trace_merge_source *s, const struct cpu_merge *m, char *content,
		       size_t blocks, size_t size, __u64 *end)
{
	char *at = content;
	struct iot_stream_block b;
	__u64 events = 0, last;
	__u32 i;

	while (at < content + blocks) {
		memcpy(&b, at, sizeof(b));
		b.cpu += s->first_cpu;
		memcpy(at, &b, sizeof(b));
		at += sizeof(b);
		for (i = 0; i < b.count; i++, at += m->event->size) {
			last = move_record(s, m, at);
			if (last > *end)
				*end = last;
		}
		events += b.count;
	}
	move_notes(s, at, size - blocks);
	return events;
}

/* Looks only at the first event of each block, which ended before the others. */
__u64 trace_merge_first(const struct trace_merge_source *s, const struct cpu_merge *m,
			const struct cpu_merge_whole *w)
{
	__u64 first = ~0ULL, end;
	struct iot_stream_block b;
	size_t at;

	for (at = 0; at < w->blocks; at += sizeof(b) + b.count * (size_t)m->event->size) {
		memcpy(&b, w->data + at, sizeof(b));
		end = b.count ? end_of(s, m, w->data + at + sizeof(b)) : ~0ULL;
		if (end < first)
			first = end;
	}
	return first;
}
