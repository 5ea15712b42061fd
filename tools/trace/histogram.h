/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Histograms: how many values are in each bucket, for each key, and with intervals for each of them.
 *
 * Only buckets that are not empty are kept, HISTOGRAM_CELLS at most, so memory does not grow with the
 * events. In a sampled trace a value counts as often as the events that its record stands for.
 *
 * Buckets are logarithmic, [0, 1), [1, 2), [2, 4), [4, 8) ..., or of one size, from where the range
 * begins. If the size is not given, it is the smallest power of two with which all values are within
 * HISTOGRAM_ROWS buckets: it is doubled when a value would be in none of them, and then each two
 * buckets become one. The same is done with intervals, if their size is not given.
 */
#ifndef TOOL_TRACE_HISTOGRAM_H
#define TOOL_TRACE_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "trace/intern.h"
#include "trace/key_table.h"
#include "trace/key_text.h"

#define HISTOGRAM_CELLS		(1U << 20)
#define HISTOGRAM_ROWS		32
#define HISTOGRAM_COLUMNS	56	/* intervals, if their size is not given, of a page of 80 columns */
#define HISTOGRAM_WIDEST	256	/* of a wide terminal */
#define HISTOGRAM_BEFORE	(-1)	/* the interval of what began before the first one */

enum histogram_part { HISTOGRAM_BELOW, HISTOGRAM_WITHIN, HISTOGRAM_ABOVE };

struct histogram_scale {
	bool log;
	__u64 size;		/* of a bucket; 0: see above */
	__u64 first, last;	/* of the range, both included */
};

/* How often values of a key were in a bucket, in an interval. */
struct histogram_cell {
	__u64 bucket;
	__s64 interval;
	__u32 key;
	__u32 part;		/* enum histogram_part: of the range */
	__u64 count;
};

/* The histogram of a key. */
struct histogram_one {
	__u32 key;		/* KEY_TEXT_OTHERS */
	__u32 folded;		/* keys that the histogram of others is of */
	__u64 count;
	const struct histogram_cell *cells;	/* by part, bucket and interval */
	size_t nr;
};

/* Set before histogram_begin(): all of the first part. */
struct histogram {
	struct histogram_scale scale;
	__u64 interval;		/* ns; 0: none */
	bool interval_grows;	/* it is doubled if there would be more than @columns */
	unsigned int columns;	/* up to HISTOGRAM_WIDEST; those of a map of text */
	__u64 origin;		/* ns since 1970: where the first interval begins */
	__u64 since;		/* the same as ns since the trace began */
	size_t top;		/* keys that have a histogram of their own; 0: all */

	__u64 size;		/* of a bucket at present */
	struct key_table table;
	char (*commands)[STATS_COMM];	/* by process: that of the first record of each key; else NULL */
	size_t room_commands;
	struct intern cells;	/* which cell a key, a bucket and an interval have */
	__u64 *counts;		/* by number of the cell */
	size_t room;
	__u64 count;		/* values */

	/* From histogram_finish() on, the first has most values: */
	struct histogram_one *all;
	size_t nr;
	struct histogram_cell *sorted;
};

void histogram_begin(struct histogram *h, struct stats_keys *keys);

/* The number of a record's key. */
__u32 histogram_key(struct histogram *h, const void *record);

/*
 * Adds a value @weight times. @time: when it began, ns since 1970. False if there are too many buckets:
 * nothing can be added from then on.
 */
bool histogram_add(struct histogram *h, __u32 key, __u64 value, __u64 weight, __u64 time);

/* Puts keys that are not among the top ones into one histogram, the last. */
void histogram_finish(struct histogram *h);
void histogram_free(struct histogram *h);

struct key_text histogram_key_text(const struct histogram *h, const struct histogram_one *one);

/* From where to where the values of a cell are; *to is not included, and 0 stands for 2^64. */
void histogram_bounds(const struct histogram *h, const struct histogram_cell *cell, __u64 *from, __u64 *to);

/* The largest count of a cell, 1 at least. */
__u64 histogram_most(const struct histogram *h);

/* Where an interval begins, in seconds since the trace began. */
double histogram_since(const struct histogram *h, __s64 interval);

#endif /* TOOL_TRACE_HISTOGRAM_H */
