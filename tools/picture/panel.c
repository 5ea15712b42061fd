// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "base/scaled.h"
#include "base/text.h"
#include "picture/panel.h"

#define LEFT		76	/* px beside the plot */
#define RIGHT		34
#define TITLE		13	/* px between titles and plot */
#define LINE		17
#define BOTTOM		46	/* px below it: ticks and the title of x */
#define SWATCH		10
#define SAMPLE		26	/* of a line */
#define CHARACTER	6.6	/* px of a character in a legend, rather more than less */
#define BOLD		8.0	/* and of one in a title */
#define TICK		4
#define PX_PER_TICK_X	60
#define PX_PER_TICK_Y	28

static const struct svg_style bold = { .bold = true, .size = 14 };
static const struct svg_style quiet = { .color = SVG_QUIET };

void panel_heading(struct svg *svg, const char *title, const char *subtitle)
{
	static const struct svg_style large = { .bold = true, .size = 17 };

	svg_text_end(svg, 20, svg->height + 28, large, title, 75);
	if (subtitle)
		svg_text_end(svg, 20, svg->height + 46, quiet, subtitle, 115);
	svg->height += subtitle ? 56 : 40;
}

/* --- the legend ----------------------------------------------------------------- */

double panel_opacity(const struct shades *s, int shade)
{
	return s->nr < 2 ? 1 : 0.14 + 0.86 * shade / (s->nr - 1);
}

void panel_add_shades(struct panel *p, const struct shades *s, const char *color, char texts[][AXIS_LABEL])
{
	char number[SCALED];
	unsigned int i;

	for (i = 0; i < s->nr && p->nr_entries < PANEL_ENTRIES; i++) {
		snprintf(texts[i], AXIS_LABEL, "≥ %s", scaled_number(number, shade_least(s, i)));
		p->entries[p->nr_entries++] = (struct panel_entry){
			.text = texts[i], .color = color, .opacity = panel_opacity(s, i),
		};
	}
}

static double swatch_width(const struct panel_entry *e)
{
	return e->is_line ? SAMPLE : SWATCH;
}

static double entry_width(const struct panel_entry *e)
{
	return swatch_width(e) + 16 + CHARACTER * text_width(e->text);
}

static double legend_width(const struct panel *p)
{
	double width = 0;
	size_t i;

	for (i = 0; i < p->nr_entries; i++)
		width += entry_width(&p->entries[i]);
	return width;
}

static void put_entry(struct svg *svg, const struct panel_entry *e, double x, double y)
{
	const struct svg_point sample[] = { { x, y - 4 }, { x + SAMPLE, y - 4 } };

	if (e->is_line)
		svg_polyline(svg, sample, 2, e->color, e->dashes);
	else
		svg_rect(svg, x, y - SWATCH + 1, SWATCH, SWATCH, e->color, e->opacity);
	svg_text(svg, x + swatch_width(e) + 4, y, quiet, e->text);
}

static void put_legend(const struct panel *p, double x, double y)
{
	size_t i;

	for (i = 0; i < p->nr_entries; i++) {
		put_entry(p->svg, &p->entries[i], x, y);
		x += entry_width(&p->entries[i]);
	}
}

/* --- axes ----------------------------------------------------------------------- */

static unsigned int ticks_wanted(double px, double each)
{
	double wanted = px / each;

	return wanted < 2 ? 2 : wanted > AXIS_TICKS - 2 ? AXIS_TICKS - 2 : wanted;
}

/* The label of a tick at an end of the axis stays within the picture. */
static void put_x(const struct panel *p)
{
	static const struct svg_style middle = { .color = SVG_QUIET, .anchor = SVG_MIDDLE };
	double ticks[AXIS_TICKS], bottom = p->y.begin;
	char label[AXIS_LABEL];
	size_t i, nr = axis_ticks(&p->x, ticks_wanted(p->width, PX_PER_TICK_X), ticks);

	svg_line(p->svg, p->x.begin, bottom, p->x.end, bottom, SVG_QUIET);
	for (i = 0; i < nr; i++) {
		double x = axis_at(&p->x, ticks[i]);

		svg_line(p->svg, x, bottom, x, bottom + TICK, SVG_QUIET);
		svg_text(p->svg, x, bottom + LINE, middle, axis_label(&p->x, label, ticks[i]));
	}
	if (p->x.title)
		svg_text(p->svg, (p->x.begin + p->x.end) / 2, bottom + 2 * LINE, middle, p->x.title);
}

static void put_y(const struct panel *p)
{
	static const struct svg_style end = { .color = SVG_QUIET, .anchor = SVG_END };
	static const struct svg_style upright = { .color = SVG_QUIET, .anchor = SVG_MIDDLE, .upright = true };
	double ticks[AXIS_TICKS], left = p->x.begin;
	char label[AXIS_LABEL];
	size_t i, nr = axis_ticks(&p->y, ticks_wanted(p->height, PX_PER_TICK_Y), ticks);

	svg_line(p->svg, left, p->y.begin, left, p->y.end, SVG_QUIET);
	for (i = 0; i < nr; i++) {
		double y = axis_at(&p->y, ticks[i]);

		if (p->grid)
			svg_line(p->svg, left, y, p->x.end, y, SVG_GRID);
		svg_line(p->svg, left - TICK, y, left, y, SVG_QUIET);
		if (!p->follows)
			svg_text(p->svg, left - TICK - 3, y + 4, end, axis_label(&p->y, label, ticks[i]));
	}
	if (p->y.title && !p->follows)
		svg_text(p->svg, left - LEFT + 16, (p->y.begin + p->y.end) / 2, upright, p->y.title);
}

/* --- panels --------------------------------------------------------------------- */

/* The legend is in the line of the title, or of the subtitle if there is none, or else below them. */
static double put_titles(const struct panel *p)
{
	double y = p->top, right = p->left + p->width, legend = legend_width(p);
	size_t characters = p->title ? BOLD / CHARACTER * text_width(p->title) : p->subtitle ? text_width(p->subtitle) : 0;
	bool fits = CHARACTER * characters + legend + 20 < p->width;

	if (p->nr_entries && fits)
		put_legend(p, right - legend, y + LINE);
	if (p->title)
		svg_text_end(p->svg, p->left, y += LINE, bold, p->title, p->width / BOLD);
	if (p->subtitle)
		svg_text_end(p->svg, p->left, y += LINE, quiet, p->subtitle, p->width / CHARACTER);
	if (p->nr_entries && !fits)
		put_legend(p, p->left, y += LINE);
	return y == p->top && p->nr_entries ? y + LINE : y;
}

void panel_begin(struct panel *p, struct svg *svg)
{
	double y;

	p->svg = svg;
	p->top = svg->height;
	if (!p->width) {
		p->left = LEFT;
		p->width = SVG_WIDTH - LEFT - RIGHT;
	}
	y = put_titles(p) + TITLE;
	p->x.begin = p->left;
	p->x.end = p->left + p->width;
	p->y.begin = y + p->height;
	p->y.end = y;
	axis_open(&p->x);
	if (p->y.from == 0 && !p->y.log)
		axis_round(&p->y, ticks_wanted(p->height, PX_PER_TICK_Y));
	axis_open(&p->y);
	if (p->grid)
		put_y(p);
}

void panel_end(struct panel *p)
{
	if (!p->grid && !p->no_y)
		put_y(p);
	put_x(p);
	if (!p->beside)
		p->svg->height = p->y.begin + BOTTOM;
}
