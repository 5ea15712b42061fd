/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The union of spans of time: a moment that several spans have counts once. The spans that are
 * kept do not touch each other, and each takes 16 bytes. Adding is quick if spans come about in
 * order.
 */
#ifndef TOOL_TRACE_SPANS_H
#define TOOL_TRACE_SPANS_H

#include <stddef.h>
#include <linux/types.h>

struct span {
	__u64 begin, end;	/* ns; the end is not part of it */
};

/* Start from a zeroed struct. */
struct spans {
	struct span *at;	/* in order */
	size_t nr, room;
};

/* A span that is empty, or ends before it begins, adds nothing. */
void spans_add(struct spans *s, __u64 begin, __u64 end);

/* ns of the union; of its part from @begin to @end. */
__u64 spans_length(const struct spans *s);
__u64 spans_overlap(const struct spans *s, __u64 begin, __u64 end);
void spans_free(struct spans *s);

#endif /* TOOL_TRACE_SPANS_H */
