/* SPDX-License-Identifier: GPL-2.0 */
/* Histograms over time as text of 80 columns, on standard output: a map for each key. */
#ifndef TOOL_TRACE_HISTOGRAM_HEAT_H
#define TOOL_TRACE_HISTOGRAM_HEAT_H

struct histogram_report;

void histogram_heat(const struct histogram_report *r);

#endif /* TOOL_TRACE_HISTOGRAM_HEAT_H */
