/* SPDX-License-Identifier: GPL-2.0 */
/* Histograms as JSON or as CSV, on standard output. Text: histogram_text.h, histogram_heat.h. */
#ifndef TOOL_TRACE_HISTOGRAM_REPORT_H
#define TOOL_TRACE_HISTOGRAM_REPORT_H

#include <jansson.h>
#include <stdbool.h>

#include "trace/basis.h"
#include "trace/histogram.h"
#include "trace/histogram_value.h"

/* The histograms of a category, and what they rest on. They are finished. */
struct histogram_report {
	const char *category;
	const struct histogram_kind *kind;
	const struct histogram *histogram;
	struct basis basis;
	bool heat;		/* value × time */
};

json_t *histogram_report_json(const struct histogram_report *r);

/* The names of the columns, which all categories share; then the rows. */
void histogram_report_csv_header(const struct histogram_report *r);
void histogram_report_csv(const struct histogram_report *r);

#endif /* TOOL_TRACE_HISTOGRAM_REPORT_H */
