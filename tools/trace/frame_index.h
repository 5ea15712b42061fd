/* SPDX-License-Identifier: GPL-2.0 */
/* What values the records of a frame have, so that a reader can skip the frame: struct trace_index. */
#ifndef TOOL_TRACE_FRAME_INDEX_H
#define TOOL_TRACE_FRAME_INDEX_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/trace.h"

#define TRACE_INDEX_FIELDS 8

/* Where the fields of an event are that the index is about. */
struct frame_indexer {
	const struct iot_schema_event *event;	/* NULL: the content is no records */
	struct frame_indexer_field {
		unsigned int offset, size, range;	/* range: its place in struct trace_index */
	} fields[TRACE_INDEX_FIELDS];
	size_t nr;
	unsigned int time, latency, op;		/* offsets; op 0: there is none */
	unsigned int op_size;
};

/* @event NULL: the index of each frame will say that it may have any value. */
void frame_indexer_open(struct frame_indexer *x, const struct iot_schema_event *event);

/* The index of a frame's content: blocks of records, and what follows them. */
void frame_index(const struct frame_indexer *x, struct trace_index *to, const char *content, size_t size);

/* Whether a value, or one between @least and @most, may be among those of a frame. */
static inline bool frame_may_have(const struct trace_range *r, __u64 least, __u64 most)
{
	return r->least <= most && least <= r->most;
}

/* Whether an operation may be. */
static inline bool frame_may_have_op(const struct trace_index *x, unsigned int op)
{
	return x->ops >> (op < 63 ? op : 63) & 1;
}

#endif /* TOOL_TRACE_FRAME_INDEX_H */
