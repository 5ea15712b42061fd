/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Statistics over time as a picture: operations per second, MiB per second, and the 99th percentile of
 * latencies, each of all events of an interval. Intervals outside the time that rates are of are not shown.
 */
#ifndef TOOL_TRACE_STATS_SERIES_H
#define TOOL_TRACE_STATS_SERIES_H

struct stats_report;
struct svg;

/* Lines of text with a column for each interval, or for as many of them as make a page. */
void stats_series_text(const struct stats_report *r);

/* A panel for each of the three. */
void stats_series_svg(const struct stats_report *r, struct svg *svg);

#endif /* TOOL_TRACE_STATS_SERIES_H */
