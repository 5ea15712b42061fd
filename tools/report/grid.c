// SPDX-License-Identifier: GPL-2.0
#include "report/grid.h"

#define WIDTH_LEAST 1000	/* ns */

/* The next of 1, 2, 5, 10, 20, 50 ... */
static __u64 wider(__u64 width)
{
	__u64 first;

	for (first = width; first >= 10; first /= 10)
		;
	return first == 2 ? width / 2 * 5 : width * 2;
}

void grid_of(struct grid *g, __u64 begin, __u64 end)
{
	__u64 duration = end > begin ? end - begin : 1;

	*g = (struct grid){ .begin = begin, .width = WIDTH_LEAST };
	while ((duration - 1) / g->width >= GRID_BUCKETS)
		g->width = wider(g->width);
	g->nr = (duration - 1) / g->width + 1;
}

void grid_overlap(const struct grid *g, __u64 *buckets, __u64 from, __u64 to, __u64 weight)
{
	size_t i = grid_bucket(g, from), last = grid_bucket(g, to);
	__u64 end;

	for (; from < to && i < last; i++) {
		end = g->begin + (i + 1) * g->width;
		buckets[i] += weight * (end - from);
		from = end;
	}
	if (from < to)
		buckets[last] += weight * (to - from);
}
