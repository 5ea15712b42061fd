/* SPDX-License-Identifier: GPL-2.0 */
/* The time of a trace in buckets of one length. */
#ifndef TOOL_REPORT_GRID_H
#define TOOL_REPORT_GRID_H

#include <stddef.h>
#include <linux/types.h>

#define GRID_BUCKETS 200	/* at most */

struct grid {
	__u64 begin;		/* ns since 1970 */
	__u64 width;		/* ns of a bucket */
	size_t nr;		/* buckets: 1 to GRID_BUCKETS */
};

/* The width is 1, 2 or 5 times a power of ten, the smallest one with which the buckets suffice. */
void grid_of(struct grid *g, __u64 begin, __u64 end);

/* The bucket of a time; the first or the last one if the time is outside. */
static inline size_t grid_bucket(const struct grid *g, __u64 time)
{
	__u64 bucket = time > g->begin ? (time - g->begin) / g->width : 0;

	return bucket < g->nr ? bucket : g->nr - 1;
}

/* Adds to each bucket the ns of it that are between @from and @to. What is outside goes to the first or last. */
void grid_overlap(const struct grid *g, __u64 *buckets, __u64 from, __u64 to, __u64 weight);

#endif /* TOOL_REPORT_GRID_H */
