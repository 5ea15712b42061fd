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

#endif /* TOOL_TRACE_STATS_REPORT_H */
