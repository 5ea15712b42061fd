/* SPDX-License-Identifier: GPL-2.0 */
/* Statistics as text of 80 columns, as JSON or as CSV, on standard output. */
#ifndef TOOL_TRACE_STATS_REPORT_H
#define TOOL_TRACE_STATS_REPORT_H

#include <jansson.h>
#include <stdbool.h>

#include "trace/basis.h"
#include "trace/stats.h"

/* The statistics of a category, and what they rest on. */
struct stats_report {
	const char *category;
	const struct stats *stats;
	__u64 begin, end;	/* ns since 1970: the time that the rates are of */
	struct basis basis;
	bool with_errors;	/* text: errors by name */
	bool with_pages;	/* CSV: columns for pages, in categories that have none, too */
};

void stats_report_text(const struct stats_report *r);
json_t *stats_report_json(const struct stats_report *r);

/* The names of the columns, which all categories share; then the rows. */
void stats_report_csv_header(const struct stats *s, bool with_pages);
void stats_report_csv(const struct stats_report *r);

/* What these have in common: */
#define STATS_PAGE	4096
#define STATS_MIB	(1024.0 * 1024)
#define STATS_NS_PER_S	1e9

static inline double stats_mean(__u64 sum, __u64 nr)
{
	return nr ? (double)sum / nr : 0;
}

/* The seconds that a row's rates are of: those of its interval that the whole time has. */
double stats_row_seconds(const struct stats_report *r, const struct stats_row *row);
double stats_interval_seconds(const struct stats_report *r, __s64 interval);

/* The first and the last interval that have a part in the time. */
void stats_intervals(const struct stats_report *r, __s64 *first, __s64 *last);

/*
 * Bounds. Each event that is missing may belong to any row, and have any latency. In a sampled
 * trace nothing is known but what was seen.
 */
static inline bool stats_is_bounded(const struct stats_report *r)
{
	return !r->basis.sampled;
}

static inline __u64 stats_row_least(const struct stats_report *r, const struct stats_row *row)
{
	return r->basis.sampled ? row->records : row->count;
}

/* Where its interval begins, in seconds from the beginning of the trace. */
double stats_row_since(const struct stats *s, const struct stats_row *row);
double stats_interval_since(const struct stats *s, __s64 interval);

struct key_text stats_row_keys(const struct stats *s, const struct stats_row *row);

/* The part of the rows that others are of is not known: they may have touched the same pages. */
bool stats_row_has_pages(const struct stats *s, const struct stats_row *row);
double stats_row_invalidation(const struct stats_row *row);

/* The name of an error, or its number if it has none. The caller frees it. */
char *stats_error_name(unsigned int error);

#endif /* TOOL_TRACE_STATS_REPORT_H */
