/* SPDX-License-Identifier: GPL-2.0 */
/* Histograms, and those over time, as a picture: a panel for each key. */
#ifndef TOOL_TRACE_HISTOGRAM_SVG_H
#define TOOL_TRACE_HISTOGRAM_SVG_H

struct histogram_report;
struct svg;

/* Adds the histograms of a category. */
void histogram_svg(const struct histogram_report *r, struct svg *svg);

#endif /* TOOL_TRACE_HISTOGRAM_SVG_H */
