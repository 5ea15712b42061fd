/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A picture as SVG: one file without scripts or references, on a light page, with text as text.
 *
 * All texts of the trace go through svg_text() and svg_mark(), which escape them: no name can become markup, and
 * characters that XML forbids are replaced.
 */
#ifndef TOOL_PICTURE_SVG_H
#define TOOL_PICTURE_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define SVG_WIDTH	800		/* px */
#define SVG_MARKS	65536		/* bars, cells and points at most: a picture with more shows nothing */

/* The colours of report/page/page.css. */
#define SVG_TEXT	"#1c2024"
#define SVG_QUIET	"#5a6370"
#define SVG_GRID	"#e6e9ee"
#define SVG_HEAT	"#0b4f9c"	/* cells of a map */
#define SVG_BLUE	"#1f6fb5"	/* reads, and what is alone */
#define SVG_ORANGE	"#c8641c"	/* writes */
#define SVG_GREEN	"#2a8a57"
#define SVG_VIOLET	"#8257b8"
#define SVG_GOLD	"#a8841a"
#define SVG_RED		"#b23a6e"

/* Start from a zeroed struct. */
struct svg {
	FILE *body;
	char *bytes;		/* what was written to @body */
	size_t length;
	double height;		/* px that are in use; whoever adds a part increases it */
	size_t marks;
	bool full;		/* there would be more than SVG_MARKS: the rest is left out */
};

void svg_open(struct svg *s);
void svg_close(struct svg *s);

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

/* A line of text, whose baseline begins, has its middle, or ends at x, y. */
struct svg_style {
	enum svg_anchor anchor;
	const char *color;	/* NULL: SVG_TEXT */
	unsigned int size;	/* px; 0: 12 */
	bool bold, upright;	/* upright: it reads from below to above */
};

void svg_text(struct svg *s, double x, double y, struct svg_style style, const char *text);

/* A text shortened to so many columns, its end: of a path, that says most. */
void svg_text_end(struct svg *s, double x, double y, struct svg_style style, const char *text, size_t columns);

void svg_line(struct svg *s, double x1, double y1, double x2, double y2, const char *color);

/* A rectangle that shows no value. */
void svg_rect(struct svg *s, double x, double y, double width, double height, const char *color, double opacity);

/*
 * A rectangle that shows a value. @data: its attributes, as data-count="5"; @title: what a mouse or a screen
 * reader tells of it. A width or height of less than a pixel is drawn as one.
 */
struct svg_mark {
	double x, y, width, height;
	const char *color;
	double opacity;
	const char *data, *title;
};

void svg_mark(struct svg *s, const struct svg_mark *mark);

/* A line through points, in px. */
struct svg_point {
	double x, y;
};

void svg_polyline(struct svg *s, const struct svg_point *points, size_t nr, const char *color, const char *dashes);

/* Writes the whole file. Errors are those of the stream. */
void svg_write(const struct svg *s, FILE *to, const char *title, const char *description);

#endif /* TOOL_PICTURE_SVG_H */
