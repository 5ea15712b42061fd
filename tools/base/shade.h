/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cells of a map, the darker the more they count: the shades ░▒▓█ in a locale of UTF-8, else one of
 * .:-=+*%@. On a terminal with 256 colours a cell has one of eight colours, from dark to bright; the
 * character is still there for whoever copies it, and the legend has both.
 *
 * Counts are apart by powers of two, so that a map shows few values beside many: the first shade
 * stands for 1 or more, each next one for 2^bits as many as the one before it.
 */
#ifndef TOOL_BASE_SHADE_H
#define TOOL_BASE_SHADE_H

#include <linux/types.h>

#define SHADES_MOST	8
#define SHADE_NONE	(-1)	/* of a cell that is empty */

struct shades {
	unsigned int nr;	/* that are in use */
	unsigned int bits;
};

/* As many shades as standard output can show, for counts up to @most. */
struct shades shades_for(__u64 most);

/* As above, @levels of them, for a picture that is not made of text. */
struct shades shades_of(__u64 most, unsigned int levels);

/* The shade of a count, from 0 on; SHADE_NONE of 0. */
int shade_of(const struct shades *s, __u64 count);

/* The least count of a shade. */
__u64 shade_least(const struct shades *s, unsigned int shade);

/* Prints @nr cells with these shades on standard output. */
void shade_put(const int *shades, unsigned int nr);

/* Prints the legend, a line: each shade, and from which count on it is used. */
void shade_put_legend(const struct shades *s);

#endif /* TOOL_BASE_SHADE_H */
