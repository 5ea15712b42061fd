/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rows of iotracer top for one interval: what is summed up for each key of a view (view.h),
 * over the categories that have it.
 *
 * Memory grows with the rows and the different latencies of the interval. A process can make as many
 * files as it likes, so there are TOP_ROWS at most: what is of other keys is summed up in one row.
 * A record of a sampled category counts as the events that it stands for.
 */
#ifndef TOOL_TOP_SUMS_H
#define TOOL_TOP_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "top/names.h"
#include "top/view.h"
#include "trace/busy.h"
#include "trace/distribution.h"
#include "trace/intern.h"
#include "trace/key_table.h"
#include "trace/measure.h"
#include "trace/stats_key.h"

#define TOP_ROWS 65536
#define TOP_BUCKETS 40		/* of latencies: the i-th has those below 2^i ns, the last all others */

struct top_row {
	char *note;		/* what is shown beside the key, escaped; NULL: nothing is known */
	__u64 count, failed;
	__u64 read, written;	/* bytes; what copies between files is read */
	__u64 misses;		/* pages */
	__u64 device_time;	/* ns: with driver and device, all requests together */
	__u64 busy;		/* ns: of a device, with at least one request; from top_sums_end() on */
	struct distribution latencies;
	__u64 p50, p99;		/* ns; from top_sums_end() on */
	__u64 buckets[TOP_BUCKETS];
};

struct top_sums {
	const struct top_view *view;
	const struct category *main;	/* NULL: none of its categories is there */
	bool has_misses, has_device;	/* a category is there that has them */
	struct top_names *names;	/* NULL: of a trace, whose machine may be another one */
	struct intern keys;		/* as they are shown; their numbers are those of rows */
	struct top_row *rows;
	size_t room;
	struct top_row rest;		/* of keys that have no row, as there are TOP_ROWS */
	bool has_rest;
	struct top_row total;		/* without latencies */
	struct busy busy;
};

/* The records of one category on their way into the sums. */
struct top_feed {
	struct top_sums *sums;		/* NULL: the view needs no such records */
	const struct category *category;
	struct stats_keys keys;
	struct key_table table;
	__u32 *rows;			/* by number of the category's key */
	size_t nr, room;
	struct measurer measurer;
	const struct iot_schema_field *op, *device, *device_latency;
	bool is_main, is_cache, is_block;
};

/* @categories: those that are there. */
void top_sums_begin(struct top_sums *s, const struct top_view *view, struct top_names *names,
		    const struct category *const *categories, size_t nr);

/* Computes the percentiles; nothing can be added from then on. */
void top_sums_end(struct top_sums *s);
void top_sums_free(struct top_sums *s);

static inline size_t top_sums_rows(const struct top_sums *s)
{
	return s->keys.nr;
}

/* The key of a row, which ends with NUL. */
const char *top_sums_key(const struct top_sums *s, size_t row);

/*
 * @paths may grow while the feed is open, but must not be freed. Close it before the sums are
 * freed.
 */
void top_feed_open(struct top_feed *f, struct top_sums *s, const struct category *category,
		   const struct paths *paths);
void top_feed_close(struct top_feed *f);

/*
 * Only if f->sums is not NULL: the number of a record's row, TOP_NO_ROW if the view shows none, or
 * TOP_REST. Adds a row if it is new.
 */
#define TOP_NO_ROW	(~0U)
#define TOP_REST	(~0U - 1)
__u32 top_feed_row(struct top_feed *f, const void *record);

/* Returns the events that the record stands for. */
__u64 top_feed_add(struct top_feed *f, const void *record);

/* Whether the bytes that an operation moves are written, or sent. */
bool top_is_write(unsigned int event, __u64 op);

#endif /* TOOL_TOP_SUMS_H */
