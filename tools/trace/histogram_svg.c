// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "base/scaled.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "picture/panel.h"
#include "trace/histogram_svg.h"
#include "trace/histogram_text.h"

#define BARS_HEIGHT	170	/* px */
#define HEAT_HEIGHT	250
#define GAP		1	/* between bars */
#define LEVELS		6	/* of a map */
#define ALL		18446744073709551616.0	/* 2^64 */

static const enum axis_unit units[] = {
	[HISTOGRAM_NS] = AXIS_NS, [HISTOGRAM_BYTES] = AXIS_BYTES,
	[HISTOGRAM_REQUESTS] = AXIS_NUMBER, [HISTOGRAM_SECTORS] = AXIS_NUMBER,
};

/* What all cells of a histogram have: where they are, and what no panel shows. */
struct extent {
	double from, to;
	__u64 most;
	__s64 last;		/* interval of the last cell; HISTOGRAM_BEFORE: none */
	__u64 below, above, before;
};

static bool is_shown(const struct histogram_cell *cell)
{
	return cell->part == HISTOGRAM_WITHIN && cell->interval != HISTOGRAM_BEFORE;
}

static void bounds(const struct histogram *h, const struct histogram_cell *cell, double *from, double *to)
{
	__u64 a, b;

	histogram_bounds(h, cell, &a, &b);
	*from = a;
	*to = b ? b : ALL;
}

static struct extent extent_of(const struct histogram *h, const struct histogram_one *one)
{
	struct extent e = { .from = ALL, .last = HISTOGRAM_BEFORE };
	size_t i;

	for (i = 0; i < one->nr; i++) {
		const struct histogram_cell *cell = &one->cells[i];
		double from, to;

		if (cell->part == HISTOGRAM_BELOW)
			e.below += cell->count;
		else if (cell->part == HISTOGRAM_ABOVE)
			e.above += cell->count;
		else if (cell->interval == HISTOGRAM_BEFORE)
			e.before += cell->count;
		if (!is_shown(cell))
			continue;
		bounds(h, cell, &from, &to);
		e.from = from < e.from ? from : e.from;
		e.to = to > e.to ? to : e.to;
		e.most = cell->count > e.most ? cell->count : e.most;
		e.last = cell->interval > e.last ? cell->interval : e.last;
	}
	return e;
}

/* --- marks ---------------------------------------------------------------------- */

/* "4.10us to 8.19us: 352 values", of a map also when. */
static char *title_of(const struct histogram_report *r, const struct histogram_cell *cell, bool exact)
{
	char from[HISTOGRAM_LABEL], to[HISTOGRAM_LABEL];
	unsigned long long count = cell->count;
	__u64 a, b;

	histogram_bounds(r->histogram, cell, &a, &b);
	histogram_label(from, r, exact, a);
	histogram_label(to, r, exact, b);
	if (r->heat)
		return xasprintf("%+.10gs, %s to %s: %llu", histogram_since(r->histogram, cell->interval), from,
				 b ? to : "2^64", count);
	return xasprintf("%s to %s: %llu", from, b ? to : "2^64", count);
}

static char *data_of(const struct histogram_report *r, const struct histogram_cell *cell)
{
	char *since = r->heat ? xasprintf("data-since-s=\"%.9f\" ", histogram_since(r->histogram, cell->interval)) :
				xstrdup("");
	char *data;
	__u64 from, to;

	histogram_bounds(r->histogram, cell, &from, &to);
	data = xasprintf("%sdata-from=\"%llu\" data-to=\"%llu\" data-count=\"%llu\"", since, (unsigned long long)from,
			 (unsigned long long)to, (unsigned long long)cell->count);
	free(since);
	return data;
}

static void put_mark(const struct histogram_report *r, struct panel *p, const struct histogram_cell *cell,
		     struct svg_mark *mark, bool exact)
{
	char *title = title_of(r, cell, exact), *data = data_of(r, cell);

	mark->title = title;
	mark->data = data;
	svg_mark(p->svg, mark);
	free(title);
	free(data);
}

static void put_bar(const struct histogram_report *r, struct panel *p, const struct histogram_cell *cell, bool exact)
{
	struct svg_mark mark = { .color = SVG_BLUE, .opacity = 1, .y = axis_at(&p->y, cell->count) };
	double from, to;

	bounds(r->histogram, cell, &from, &to);
	mark.x = axis_at(&p->x, from);
	mark.width = axis_at(&p->x, to) - mark.x - GAP;
	mark.height = p->y.begin - mark.y;
	put_mark(r, p, cell, &mark, exact);
}

static void put_cell(const struct histogram_report *r, struct panel *p, const struct histogram_cell *cell,
		     const struct shades *shades, bool exact)
{
	struct svg_mark mark = { .color = SVG_HEAT, .opacity = panel_opacity(shades, shade_of(shades, cell->count)) };
	double from, to;

	bounds(r->histogram, cell, &from, &to);
	mark.x = axis_at(&p->x, histogram_since(r->histogram, cell->interval));
	mark.width = axis_at(&p->x, histogram_since(r->histogram, cell->interval + 1)) - mark.x;
	mark.y = axis_at(&p->y, to);
	mark.height = axis_at(&p->y, from) - mark.y;
	put_mark(r, p, cell, &mark, exact);
}

/* --- panels --------------------------------------------------------------------- */

static char *add(char *text, __u64 count, const char *where)
{
	char *part = xasprintf("%llu %s", (unsigned long long)count, where);

	if (count)
		text = text_append(text, ", ", part);
	free(part);
	return text;
}

/* "1702 values, 3 below the range", without the values if all are of one key; or NULL */
static char *subtitle_of(const struct histogram_one *one, const struct extent *e, bool keys)
{
	char *text = keys ? xasprintf("%llu value%s", (unsigned long long)one->count, one->count == 1 ? "" : "s") : NULL;

	text = add(text, e->below, "below the range");
	text = add(text, e->above, "above it");
	return add(text, e->before, "before the first column");
}

static void put_marks(const struct histogram_report *r, const struct histogram_one *one, struct panel *p,
		      const struct shades *shades)
{
	bool exact = histogram_is_exact(r, one);
	size_t i;

	for (i = 0; i < one->nr; i++) {
		if (!is_shown(&one->cells[i]))
			continue;
		if (r->heat)
			put_cell(r, p, &one->cells[i], shades, exact);
		else
			put_bar(r, p, &one->cells[i], exact);
	}
}

/* What all histograms of a category have in common, so that people can compare them. */
struct frame {
	struct axis values, time;
	struct shades shades;
};

static struct frame frame_of(const struct histogram_report *r)
{
	const struct histogram *h = r->histogram;
	struct frame f = {
		.values = { .unit = units[r->kind->unit], .log = h->scale.log, .title = r->kind->title, .from = ALL },
		.time = { .unit = AXIS_SECONDS, .title = "time since the start of the trace" },
		.shades = shades_of(histogram_most(h), LEVELS),
	};
	__s64 last = HISTOGRAM_BEFORE;
	size_t i;

	for (i = 0; i < h->nr; i++) {
		const struct extent e = extent_of(h, &h->all[i]);

		f.values.from = e.from < f.values.from ? e.from : f.values.from;
		f.values.to = e.to > f.values.to ? e.to : f.values.to;
		last = e.last > last ? e.last : last;
	}
	if (f.values.from > f.values.to) /* none is in the range */
		f.values.from = 0;
	if (r->heat) {
		f.time.from = histogram_since(h, 0);
		f.time.to = histogram_since(h, last + 1);
	}
	return f;
}

static void put_panel(const struct histogram_report *r, const struct histogram_one *one, struct svg *svg,
		      const struct frame *f)
{
	const struct key_text key = histogram_key_text(r->histogram, one);
	const struct extent e = extent_of(r->histogram, one);
	bool keys = key.table->keys->nr;
	char *title = keys ? key_text(&key) : NULL, *subtitle = subtitle_of(one, &e, keys);
	struct panel p = { .title = title, .subtitle = subtitle };
	char texts[PANEL_ENTRIES][AXIS_LABEL];

	if (r->heat) {
		p.height = HEAT_HEIGHT;
		p.x = f->time;
		p.y = f->values;
		panel_add_shades(&p, &f->shades, SVG_HEAT, texts);
	} else {
		p.height = BARS_HEIGHT;
		p.x = f->values;
		p.y = (struct axis){ .unit = AXIS_NUMBER, .to = e.most, .title = "values" };
		p.grid = true;
	}
	panel_begin(&p, svg);
	put_marks(r, one, &p, &f->shades);
	panel_end(&p);
	free(title);
	free(subtitle);
}

void histogram_svg(const struct histogram_report *r, struct svg *svg)
{
	const struct histogram *h = r->histogram;
	const struct frame frame = frame_of(r);
	char time[SCALED], *basis = basis_line(&r->basis);
	char *title = xasprintf("%s: %s%s, %llu values", r->category, r->kind->name, r->heat ? " by time" : "",
				(unsigned long long)h->count);
	char *subtitle = basis;
	size_t i;

	if (r->heat) {
		subtitle = xasprintf("a column is %s%s%s", scaled_time(time, h->interval), basis ? "; " : "",
				     basis ? basis : "");
		free(basis);
	}
	panel_heading(svg, title, subtitle);
	for (i = 0; i < h->nr && !svg->full; i++)
		put_panel(r, &h->all[i], svg, &frame);
	free(title);
	free(subtitle);
}
