/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many of some intervals there are at each moment. They come in the order in which they end, so
 * one that comes later may have begun long ago: changes of the number wait until DEPTH_WAITING
 * others have come. An interval that lasts longer is counted from the first change on that still
 * waits.
 */
#ifndef TOOL_TRACE_DEPTH_H
#define TOOL_TRACE_DEPTH_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define DEPTH_WAITING 65536

struct depth_change {
	__u64 time;
	bool begins;
};

/* Start from a zeroed struct. */
struct depth {
	struct depth_change *waiting;	/* a heap, the earliest first */
	size_t nr;
	__u64 time;			/* of the last change that depth_next() returned */
	__u64 value;			/* from then on */
};

/* Adds an interval, which is not empty. Call depth_next() until it returns false. */
void depth_add(struct depth *d, __u64 begin, __u64 end);

/* Whether the number changes: at d->time to d->value. @all: no interval comes any more. */
bool depth_next(struct depth *d, bool all);
void depth_free(struct depth *d);

#endif /* TOOL_TRACE_DEPTH_H */
