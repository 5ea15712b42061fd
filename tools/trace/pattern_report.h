/* SPDX-License-Identifier: GPL-2.0 */
/* Access patterns as text of 80 columns, as JSON or as CSV, on standard output. */
#ifndef TOOL_TRACE_PATTERN_REPORT_H
#define TOOL_TRACE_PATTERN_REPORT_H

#include <jansson.h>

#include "trace/basis.h"
#include "trace/pattern.h"
#include "trace/reuse.h"

/* The patterns of a category, and what they rest on. */
struct pattern_report {
	const char *category;
	const struct patterns *patterns;
	struct basis basis;
	const struct reuse *reuse;	/* with a row for each of the patterns; NULL: not asked for */
};

void pattern_report_text(const struct pattern_report *r);
json_t *pattern_report_json(const struct pattern_report *r);

/* The names of the columns, which all categories share; then a row for each key and kind. */
void pattern_report_csv_header(const struct stats_keys *keys, bool with_reuse);
void pattern_report_csv(const struct pattern_report *r);

#endif /* TOOL_TRACE_PATTERN_REPORT_H */
