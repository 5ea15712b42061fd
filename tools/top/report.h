/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One interval of iotracer top on standard output: a table of text, a line of JSON, or rows of CSV.
 */
#ifndef TOOL_TOP_REPORT_H
#define TOOL_TOP_REPORT_H

#include "top/list.h"
#include "top/source.h"

struct top_report {
	const struct top_source *source;
	const struct top_window *window;
	const struct top_list *list;
	size_t top;		/* rows at most; 0: all */
};

void top_report_text(const struct top_report *r);
void top_report_json(const struct top_report *r);
void top_report_csv(const struct top_report *r, bool header);

#endif /* TOOL_TOP_REPORT_H */
