/* SPDX-License-Identifier: GPL-2.0 */
/* What durable.h found, as ranges. */
#ifndef TOOL_TRACE_DURABLE_RANGE_H
#define TOOL_TRACE_DURABLE_RANGE_H

#include "trace/durable_state.h"

/* What of a file may be lost, and what is durable. */
enum durable_state {
	DURABLE_MEMORY,		/* acknowledged; no writeback is known */
	DURABLE_WRITEBACK,	/* its writeback began */
	DURABLE_CACHE,		/* the device has it; no flush since is known */
	DURABLE_UNPROVEN,	/* flushed; the file may not have a place for it */
	DURABLE_UNKNOWN,
	DURABLE_SAFE,
	DURABLE_STATES
};

extern const char *const durable_state_names[DURABLE_STATES];
extern const char *const durable_name_names[];

/*
 * A range; @since: from when on writes to it may be lost. 0 if nothing may, or if it is not known.
 */
struct durable_range {
	__u64 begin, end, since;
	enum durable_state state;
};

/* Calls @each for the ranges of a file: those that may be lost, unknown ones, durable ones. */
void durable_ranges(const struct durable *d, const struct durable_file *f,
		    void (*each)(const struct durable_range *r, void *data), void *data);

#endif /* TOOL_TRACE_DURABLE_RANGE_H */
