/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All values of a kind, for percentiles that are exact.
 *
 * Each different value is kept once, with how often it came. Values and counts below 2^32 share a word
 * in a hash table, which takes 11 to 22 bytes for each different value, and 32 while it grows. Latencies
 * of some microseconds repeat themselves; if they do not, the bound is the number of events. Values of
 * 2^32 and more (a latency of 4.3 s) are few, and are in a list: 16 bytes each time one comes.
 */
#ifndef TOOL_TRACE_DISTRIBUTION_H
#define TOOL_TRACE_DISTRIBUTION_H

#include <stddef.h>
#include <linux/types.h>

struct distribution_wide {
	__u64 value, weight;
};

/* Start from a zeroed struct. */
struct distribution {
	__u64 *narrow;		/* value << 32 | weight; 0: free */
	size_t nr, size;	/* size: a power of two */
	struct distribution_wide *wide;
	size_t nr_wide, room_wide;
};

/* The value came @weight times, which is not 0. */
void distribution_add(struct distribution *d, __u64 value, __u64 weight);

/* Adds all values of @from. */
void distribution_merge(struct distribution *to, const struct distribution *from);

/* How often values above @value came. */
__u64 distribution_above(const struct distribution *d, __u64 value);

#define DISTRIBUTION_PARTS 8	/* most @parts of a call */
#define DISTRIBUTION_NONE (~0ULL)

/*
 * The percentiles by nearest rank: of @parts[i] in 10000, which rise, the smallest value that as many
 * of the values do not exceed. Sorts: nothing can be added or merged afterwards.
 */
void distribution_percentiles(struct distribution *d, const unsigned int *parts, size_t nr,
			      __u64 *values);

/*
 * Between which values these percentiles are if up to @missing values are not among those that were
 * added. *low is 0 if it can be any smaller value, *high DISTRIBUTION_NONE if it can be any larger
 * one. Sorts, too.
 */
void distribution_bounds(struct distribution *d, const unsigned int *parts, size_t nr, __u64 missing,
			 __u64 *low, __u64 *high);

/* The value that came most often, the smallest of several, and how often. Sorts, too. 0 if there is none. */
__u64 distribution_mode(struct distribution *d, __u64 *count);
void distribution_free(struct distribution *d);

#endif /* TOOL_TRACE_DISTRIBUTION_H */
