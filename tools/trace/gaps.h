/* SPDX-License-Identifier: GPL-2.0 */
/* Where events of a CPU are missing between two others: the numbers of records show it. */
#ifndef TOOL_TRACE_GAPS_H
#define TOOL_TRACE_GAPS_H

#include <stddef.h>
#include <linux/types.h>

/* Start from a zeroed struct. */
struct gaps {
	__u64 *next;		/* by CPU: the number of its next event; 0: none was seen */
	size_t nr;
};

/* How many events are missing before the one with @seq. CPUs have numbers below CPU_MERGE_CPUS. */
__u64 gaps_before(struct gaps *g, unsigned int cpu, __u64 seq);
void gaps_free(struct gaps *g);

#endif /* TOOL_TRACE_GAPS_H */
