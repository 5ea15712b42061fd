/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ranges of bytes of a file, in order, which do not overlap: a balanced tree (a treap). Each has
 * the versions of its bytes that may be lost (durable.h); a set of ranges has none.
 *
 * Each step takes the logarithm of the number of ranges. The priorities are random, so nobody can
 * choose offsets that make the tree deep.
 */
#ifndef TOOL_TRACE_EXTENTS_H
#define TOOL_TRACE_EXTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define EXTENT_VERSIONS 3

enum extent_state { EXTENT_MEMORY, EXTENT_WRITEBACK, EXTENT_CACHE };

/* One or more writes that went the same way. Times are CLOCK_MONOTONIC ns. */
struct extent_version {
	__u64 first, last;	/* when the first and the last of them were acknowledged */
	__u64 covers;		/* older versions that were acknowledged until then are part of it */
	__u64 at;		/* EXTENT_CACHE: when the device had it */
	enum extent_state state;
};

struct extent {
	__u64 begin, end;	/* the end is not part of it */
	struct extent *left, *right;
	__u32 priority;
	unsigned int nr;
	struct extent_version versions[EXTENT_VERSIONS];	/* in the order in which they were acknowledged */
};

/* Start from a zeroed struct with @count set: the ranges of all trees that share it. */
struct extents {
	struct extent *root;
	__u64 *count;
};

/*
 * Removes the ranges from @begin to @end, cut there, and returns them as a tree. Puts such a tree
 * back.
 */
struct extent *extents_take(struct extents *e, __u64 begin, __u64 end);
void extents_put(struct extents *e, struct extent *taken);

/* Cuts a range in two. */
void extents_cut(struct extents *e, __u64 at);

/* Removes all, or those from @begin to @end. */
void extents_free(struct extents *e);
void extents_drop(struct extents *e, __u64 begin, __u64 end);

/* Adds a range without versions, and joins it with those that it meets or touches. */
void extents_add(struct extents *e, __u64 begin, __u64 end);

/* Whether one range has all of these bytes. */
bool extents_has(const struct extents *e, __u64 begin, __u64 end);

/*
 * Calls @each for the ranges of a taken tree in order, and returns those for which it returned
 * true. The others are freed.
 */
struct extent *extents_keep(struct extents *e, struct extent *taken,
			    bool (*each)(struct extent *x, void *data), void *data);

/* Fills a taken tree up with new ranges, without versions, so that it has all bytes. */
struct extent *extents_fill(struct extents *e, struct extent *taken, __u64 begin, __u64 end);

/* Calls @each for the ranges that meet these bytes, in order. */
void extents_each(const struct extents *e, __u64 begin, __u64 end,
		  void (*each)(const struct extent *x, void *data), void *data);

#endif /* TOOL_TRACE_EXTENTS_H */
