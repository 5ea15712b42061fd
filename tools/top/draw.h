/* SPDX-License-Identifier: GPL-2.0 */
/* The picture of iotracer top: what is drawn on the screen of curses. */
#ifndef TOOL_TOP_DRAW_H
#define TOOL_TOP_DRAW_H

#include <stdbool.h>
#include <stddef.h>

#include "top/detail.h"
#include "top/engine.h"

enum top_draw_page { TOP_TABLE, TOP_DETAIL, TOP_HELP };

struct top_draw {
	const struct top *top;
	const struct top_detail *detail;
	enum top_draw_page page;
	size_t cursor, first;	/* the row that is chosen, and the one at the top */
	bool is_frozen;
	bool is_typing;		/* a filter */
	char message[160];	/* what went wrong, or "" */
};

/* Prepares colours, unless the user wants none. Call it once. */
void top_draw_init(void);

/* Rows of the table that fit. */
int top_draw_rows(void);
void top_draw(struct top_draw *d);

#endif /* TOOL_TOP_DRAW_H */
