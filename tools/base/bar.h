/* SPDX-License-Identifier: GPL-2.0 */
/* Bars of text: shares that people compare at a glance, in tables and histograms. */
#ifndef TOOL_BASE_BAR_H
#define TOOL_BASE_BAR_H

#include <linux/types.h>

#define BAR_WIDTH 120			/* columns at most */
#define BAR (3 * BAR_WIDTH + 1)		/* bytes of a bar at most, with the NUL */

/*
 * Writes a bar of @part out of @all, which fills @width columns, and returns @out. In a locale of
 * UTF-8 it consists of blocks, the last one in eighths of a column; else of #. A part that is not 0
 * has a bar. No blanks follow it: the columns that it takes are *columns, unless that is NULL.
 */
char *bar(char *out, __u64 part, __u64 all, unsigned int width, unsigned int *columns);

/*
 * Writes a column for each of @nr values, as high as its part of the largest of them, and returns
 * @out, which has 3 * @nr + 1 bytes: blocks in a locale of UTF-8, else one of _.:-=+*#. A blank is
 * 0.
 */
char *bar_spark(char *out, const __u64 *values, unsigned int nr);

#endif /* TOOL_BASE_BAR_H */
