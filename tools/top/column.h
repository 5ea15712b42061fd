/* SPDX-License-Identifier: GPL-2.0 */
/* The columns of iotracer top, for tables of text and for the screen. */
#ifndef TOOL_TOP_COLUMN_H
#define TOOL_TOP_COLUMN_H

#include "top/list.h"
#include "top/window.h"

#define TOP_COLUMNS	7
#define TOP_CELL	32	/* bytes of a cell at most, with the NUL */

struct top_column {
	enum top_sort sort;
	int width;		/* cells end at the right of it */
};

extern const struct top_column top_columns[TOP_COLUMNS];

/* Columns that all of them take. */
int top_columns_width(void);

/* "READ/s", "BUSY%": what it is called in this view. */
const char *top_column_heading(const struct top_view *view, size_t column);

/* Writes a cell and returns @out; "-" for what is not known. */
char *top_cell(char *out, const struct top_window *w, const struct top_row *row, size_t column);

/* "1234 fio": the key of a row and what is beside it. The caller frees it. */
char *top_label(const struct top_window *w, size_t row);

/*
 * Its device time, of that of all requests; of a device the time that it was busy, of the interval.
 */
double top_device_percent(const struct top_window *w, const struct top_row *row);

/*
 * "files, calls of fs: 15:20:01Z, 1.00s: 1.23k/s, read 4.00MiB/s, written 0B/s". The caller frees
 * it.
 */
char *top_summary(const struct top_window *w);

#endif /* TOOL_TOP_COLUMN_H */
