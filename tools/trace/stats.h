/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Statistics of the records of a category: a row for each key, or for each interval and key.
 *
 * Memory grows with the rows that are asked for, the different latencies of each (distribution.h), and
 * the pages that they touched, if these are asked for (page_set.h), not with the events. In a sampled trace a record stands for several events, and is counted as them.
 */
#ifndef TOOL_TRACE_STATS_H
#define TOOL_TRACE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "trace/busy.h"
#include "trace/distribution.h"
#include "trace/intern.h"
#include "trace/key_table.h"
#include "trace/key_text.h"
#include "trace/measure.h"
#include "trace/page_set.h"
#include "trace/position.h"

#define STATS_PERCENTILES 5

/* In parts of 10000, and as names of columns. */
extern const unsigned int stats_parts[STATS_PERCENTILES];
extern const char *const stats_part_names[STATS_PERCENTILES];

/* By what rows are sorted, and which are the top ones. */
enum stats_sort { STATS_BY_BYTES, STATS_BY_COUNT, STATS_BY_LATENCY, STATS_BY_NAME };

#define STATS_SORT_WORDS "bytes count latency name"

struct stats_error {
	unsigned int error;	/* errno */
	__u64 count;
};

struct stats_range {
	__u64 total, least, most;
};

struct stats_row {
	__u32 key;			/* number of its key; STATS_OTHERS */
	__u32 folded;			/* keys that the row of others is of */
	__s64 interval;
	__u64 records;			/* the events of a sampled trace that were seen */
	__u64 count, bytes, failed;
	__u64 sized;			/* events that have bytes, so a size */
	struct stats_range size;	/* bytes */
	struct stats_range latency;	/* ns */
	__u64 device_time;		/* ns: with driver and device, of all requests together */
	__u64 touched;			/* different pages that were accessed */
	__u64 written;			/* different pages that were written */
	__u64 writes;			/* pages of all writes and discards */
	struct stats_error *errors;	/* from stats_finish() on, the most frequent first */
	size_t nr_errors;
	struct distribution latencies;
	struct distribution sizes;
	/* From stats_finish() on: */
	__u64 percentiles[STATS_PERCENTILES];		/* ns */
	__u64 size_percentiles[STATS_PERCENTILES];	/* bytes */
	__u64 low[STATS_PERCENTILES], high[STATS_PERCENTILES];	/* ns: bounds of @percentiles */
};

#define STATS_OTHERS KEY_TEXT_OTHERS

/* All of an interval's rows together. */
struct stats_point {
	__s64 interval;
	__u64 count, bytes;
	__u64 p99;		/* ns */
};

/* All of a key's rows together. */
struct stats_total {
	__u64 count, bytes, latency;
	__u32 rank;		/* from stats_finish() on */
	char command[STATS_COMM];	/* by process: that of its first record */
};

/* Set before stats_begin(): all of the first part. */
struct stats {
	struct stats_keys *keys;
	__u64 interval;		/* ns; 0: none */
	__u64 origin;		/* ns since 1970: where the first interval begins */
	enum stats_sort sort;
	size_t top;		/* keys that have a row of their own; 0: all */
	bool no_sizes;		/* percentiles of sizes are not wanted */
	bool with_points;	/* intervals are also wanted as a whole */
	bool no_percentiles;	/* sums are all that is wanted: they are 0, and values are not kept */
	bool with_pages;	/* count pages that were touched, of events with positions */

	/*
	 * Set before stats_finish(): events of the category that were not recorded, each of which
	 * may belong to any row.
	 */
	__u64 missing;

	bool with_command;
	struct key_table table;
	struct stats_total *totals;	/* by number of the key */
	size_t room_totals;
	struct intern cells;	/* with intervals: which row an interval and a key have */
	struct stats_row *rows;
	size_t nr, room;

	struct stats_point *points;	/* from stats_finish() on: those with events, ascending */
	size_t nr_points;

	struct positions positions;
	struct page_set pages;
	const struct iot_schema_field *device, *device_latency;	/* of block; else NULL */
	struct busy busy;

	__u64 count, bytes, failed;
	__u64 device_time;	/* ns: all requests together */
};

void stats_begin(struct stats *s, struct stats_keys *keys);

/* @time: when it began, ns since 1970; needed if there are intervals. */
void stats_add(struct stats *s, const void *record, const struct measure *m, __u64 time);

/*
 * Puts the keys that are not among the top ones into one row, the last of its interval, computes the
 * percentiles, and sorts the rows.
 */
void stats_finish(struct stats *s);
void stats_free(struct stats *s);

#endif /* TOOL_TRACE_STATS_H */
