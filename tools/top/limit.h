/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How iotracer top keeps its own cost within a share of a processor: the module records one event in
 * N, and N is doubled or halved.
 */
#ifndef TOOL_TOP_LIMIT_H
#define TOOL_TOP_LIMIT_H

#include <linux/types.h>

#define TOP_LIMIT_PERCENT	3.0		/* of a processor, if the user gives no other limit */
#define TOP_LIMIT_SAMPLE	65536		/* the largest N */
#define TOP_LIMIT_NS		1000000000ULL	/* it is decided after such a time */
#define TOP_LIMIT_RATE		10000		/* records a second that cost little: no reason to sample */

/* Since it was decided last. */
struct top_cost {
	__u64 cpu, wall;	/* ns: processor time, and time */
	__u64 records;		/* that were read */
};

/*
 * The N that follows @sample. Doubled if the cost is above @percent and there are many records;
 * halved if the cost is below a quarter of it, or if records are so few that twice as many cost
 * little. Call it with @wall of TOP_LIMIT_NS at least.
 */
__u64 top_limit_sample(__u64 sample, double percent, const struct top_cost *cost);

#endif /* TOOL_TOP_LIMIT_H */
