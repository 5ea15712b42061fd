/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes one frame of several that follow each other, as large frames are compressed better and
 * waste less of the last TRACE_ALIGN bytes.
 *
 * The blocks of each CPU come together, in their order, and one that continues another becomes a
 * part of it. The notes come last. Paths are only put together.
 */
#ifndef TOOL_TRACE_GATHER_H
#define TOOL_TRACE_GATHER_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/trace.h"

struct gathered_block {
	__u64 cpu;
	size_t at;		/* of its header, in @content */
};

struct trace_gather {
	size_t record;		/* bytes of one; 0: paths */
	struct trace_frame frame;	/* what the frame will say: size, events, until */
	char *content, *notes;	/* blocks, and what comes behind them */
	size_t used, room, used_notes, notes_room;
	struct gathered_block *blocks;
	size_t nr, blocks_room;
};

/* Whether a frame of this size is to be put in front of what is gathered no more. */
bool trace_gather_is_full(const struct trace_gather *g, size_t size);

/*
 * Adds the content of a frame. False if it is no whole blocks and notes, or too large: nothing is
 * added then.
 */
bool trace_gather_add(struct trace_gather *g, const struct trace_frame *frame,
		      const char *content);

/*
 * Writes the frame to @to, its header first, which has room for TRACE_FRAME_MAX bytes after that,
 * and empties @g.
 */
void trace_gather_take(struct trace_gather *g, char *to);
void trace_gather_free(struct trace_gather *g);

#endif /* TOOL_TRACE_GATHER_H */
