/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A part of a picture: a title, a plot between two axes with ticks and a grid, and a legend.
 *
 *	panel_begin(&p, svg);		// all of the first part is set
 *	... axis_at(&p.x, value), svg_mark() ...
 *	panel_end(&p);
 */
#ifndef TOOL_PICTURE_PANEL_H
#define TOOL_PICTURE_PANEL_H

#include "base/shade.h"
#include "picture/axis.h"
#include "picture/svg.h"

#define PANEL_ENTRIES	8	/* of a legend */

struct panel_entry {
	const char *text, *color;
	double opacity;
	bool is_line;
	const char *dashes;		/* of a line */
};

struct panel {
	const char *title;		/* bold; a name of the trace, or what is shown; or NULL */
	const char *subtitle;		/* or NULL */
	double left, width;		/* px: where the plot is; both 0: all of the picture's width */
	double height;			/* px of the plot */
	struct axis x, y;
	bool grid;			/* lines at the ticks of y */
	struct panel_entry entries[PANEL_ENTRIES];
	size_t nr_entries;
	bool beside;			/* another panel is to the right of it */
	bool follows;			/* another panel is to the left, and has the labels of y */
	bool no_y;			/* rows are labelled by the caller */

	struct svg *svg;
	double top;			/* px: of the whole panel */
};

void panel_begin(struct panel *p, struct svg *svg);
void panel_end(struct panel *p);

/* A title for what follows, at the top of the picture or between panels. */
void panel_heading(struct svg *svg, const char *title, const char *subtitle);

/* How dark a shade is, from 0 to 1. */
double panel_opacity(const struct shades *s, int shade);

/* The entries of the shades of a map; @texts has room for them. */
void panel_add_shades(struct panel *p, const struct shades *s, const char *color, char texts[][AXIS_LABEL]);

#endif /* TOOL_PICTURE_PANEL_H */
