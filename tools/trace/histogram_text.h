/* SPDX-License-Identifier: GPL-2.0 */
/* Histograms as text of 80 columns, with bars; and what the text of heat maps shares with it. */
#ifndef TOOL_TRACE_HISTOGRAM_TEXT_H
#define TOOL_TRACE_HISTOGRAM_TEXT_H

#include "trace/histogram_report.h"

#define HISTOGRAM_EMPTY 2	/* empty buckets that have lines of their own; for more, one line stands */
#define HISTOGRAM_LABEL 24	/* bytes of a bound at most, with the NUL */

/* The histograms of a category, on standard output. */
void histogram_text(const struct histogram_report *r);

/* "4.00KiB"; @exact: "4096B". Returns @out. */
char *histogram_label(char *out, const struct histogram_report *r, bool exact, __u64 value);

/* Whether bounds must be exact: as they are scaled, both of a bucket would be the same. */
bool histogram_is_exact(const struct histogram_report *r, const struct histogram_one *one);

/* "1 value", and ends the line. */
void histogram_count(__u64 n);

/* The line above a histogram: its key, and how many values it has. None if all are of one. */
void histogram_title(const struct histogram_report *r, const struct histogram_one *one);

#endif /* TOOL_TRACE_HISTOGRAM_TEXT_H */
