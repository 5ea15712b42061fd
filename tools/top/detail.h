/* SPDX-License-Identifier: GPL-2.0 */
/* One row of iotracer top looked at closely: its last events as lines of text. */
#ifndef TOOL_TOP_DETAIL_H
#define TOOL_TOP_DETAIL_H

#include "top/source.h"

#define TOP_LINES 128		/* events that are kept */

/* Start from a zeroed struct. */
struct top_detail {
	char *key;		/* of the row; NULL: none is looked at */
	char *lines[TOP_LINES];	/* the oldest first */
	size_t nr;
};

void top_detail_open(struct top_detail *d, const char *key);
void top_detail_close(struct top_detail *d);

/* Appends the events of the window, whose view still is that of the row. */
void top_detail_add(struct top_detail *d, const struct top_source *s, struct top_window *w);

/* The row of the window that is looked at, or NULL: it had no events. */
const struct top_row *top_detail_row(const struct top_detail *d, const struct top_window *w);

#endif /* TOOL_TOP_DETAIL_H */
