/* SPDX-License-Identifier: GPL-2.0 */
/* The pass over a trace that finds which writes were durable when, and what it found as JSON. */
#ifndef TOOL_CMD_DURABILITY_PASS_H
#define TOOL_CMD_DURABILITY_PASS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "base/wall.h"
#include "cmd/pass.h"
#include "trace/basis.h"
#include "trace/durable.h"
#include "trace/durable_range.h"
#include "trace/stats.h"

/* A file that is shown. */
struct durability_row {
	struct durable_file *file;
	const char *path;
	__u64 bytes[DURABLE_STATES], at_risk;
	__u64 longest;			/* ns, also of what is still exposed */
	__u64 percentiles[STATS_PERCENTILES];
};

/* What a power cut at a time could have taken. */
struct durability_point {
	__u64 at;			/* CLOCK_MONOTONIC ns */
	__u64 at_risk;			/* bytes of files that have a name */
	__u64 safe;			/* bytes that are durable if no event is missing */
};

/* Of all files, shown or not. */
struct durability_sums {
	__u64 bytes[DURABLE_STATES], removed;	/* removed: exposed bytes of removed files */
	__u64 longest;				/* exposure, ns */
	__u64 written, syncs, idle_syncs, failed_syncs;
};

/* Set before durability_pass_read(): the first part. */
struct durability_pass {
	struct pass *pass;
	bool again;			/* all categories were read before: what is wrong was reported */
	const char *shown;		/* the only file, as paths are shown; NULL: all */
	struct wall_given at_given;
	bool has_at;
	__u64 top;			/* files; 0: all */
	const __u64 *times;		/* CLOCK_MONOTONIC ns, ascending: when points are wanted */
	size_t nr_times;
	struct durable durable;		/* its first part; the names are those of the pass */

	__u64 at;			/* CLOCK_MONOTONIC ns */
	struct durability_row *rows;
	size_t nr_rows, hidden;
	struct durability_sums sums;
	/* At @times before @at, and at @at. Some are left out if there are very many ranges. */
	struct durability_point *points;
	size_t nr_points;
	__u64 steps;			/* files and ranges that were looked at for points */
	struct basis basis;
	json_t *read;			/* an object of each category that was read */
	bool has_pages;			/* the trace has category cache */
};

/* The categories, which the pass needs before pass_open() if it may record a trace. */
extern const struct category *const durability_needs[];

/* Whether the trace has the category without which nothing is known. */
bool durability_pass_can(const struct pass *p);

/* Returns an exit code; errors are reported. Free it in either case. */
int durability_pass_read(struct durability_pass *d);
void durability_pass_free(struct durability_pass *d);

/* Whether all events are there: else nothing is called durable. */
bool durability_is_sure(const struct durability_pass *d);
enum durable_state durability_state(const struct durability_pass *d, const struct durable_range *r);

/* Bytes of all files that have a name. */
__u64 durability_at_risk(const struct durability_pass *d);

/* A file without ranges; the document of iotracer durability with such files. */
json_t *durability_row_json(const struct durability_row *row);
json_t *durability_pass_json(const struct durability_pass *d);

/* The points: a flat array of ns since 1970 and bytes. */
json_t *durability_points_json(const struct durability_pass *d);

#endif /* TOOL_CMD_DURABILITY_PASS_H */
