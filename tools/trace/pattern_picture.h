/* SPDX-License-Identifier: GPL-2.0 */
/* Access patterns as pictures: for each key where its accesses are over time, and how they follow each other. */
#ifndef TOOL_TRACE_PATTERN_PICTURE_H
#define TOOL_TRACE_PATTERN_PICTURE_H

struct pattern_report;
struct svg;

/* The report has maps. Text of 80 columns on standard output; and as SVG. */
void pattern_picture_text(const struct pattern_report *r);
void pattern_picture_svg(const struct pattern_report *r, struct svg *svg);

#endif /* TOOL_TRACE_PATTERN_PICTURE_H */
