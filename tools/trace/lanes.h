/* SPDX-License-Identifier: GPL-2.0 */
/*
 * In which lane of a time line each interval is drawn, so that none crosses another one.
 *
 * Intervals come in the order in which they end. Those of a queue do not overlap in a lane, and
 * take as few lanes as there are intervals at one moment. Those of a thread, whose calls may make
 * others, may lie in each other in lane 0; what crosses another one there gets a lane behind it.
 */
#ifndef TOOL_TRACE_LANES_H
#define TOOL_TRACE_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define LANES_MOST	65536
#define LANES_NONE	(~0U)
#define LANES_KEPT	8	/* intervals of lane 0 that later ones may lie around */

/* Start from a zeroed struct. */
struct lanes {
	bool nests;			/* of a thread; set before the first interval */
	struct {
		__u64 begin, end;
	} kept[LANES_KEPT];		/* none lies in another one */
	unsigned int nr_kept;
	__u64 forgotten;		/* when the last one before those ended */
	struct lane {
		__u64 end;		/* of its last interval */
		__u32 number;
	} *lanes;			/* that with the earliest end first */
	size_t nr;
};

/* The lane of an interval, which is not empty; LANES_NONE if there are too many. */
__u32 lanes_take(struct lanes *l, __u64 begin, __u64 end);
void lanes_free(struct lanes *l);

#endif /* TOOL_TRACE_LANES_H */
