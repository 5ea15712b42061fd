// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>

#include "base/cli.h"
#include "base/terminal.h"
#include "base/xalloc.h"
#include "picture/panel.h"
#include "trace/access_map.h"
#include "trace/key_text.h"
#include "trace/pattern_picture.h"
#include "trace/pattern_report.h"

#define BAR_COLUMNS	64
#define LABEL		9
#define BAR_HEIGHT	16	/* px */
#define BAR_EACH	22
#define GAP		1	/* between parts */

/* In the order of enum pattern_order. */
static const char *const blocks[PATTERN_ORDERS] = { "█", "▓", "▒", "░" };
static const char *const characters[PATTERN_ORDERS] = { "#", "=", "-", "." };
static const char *const colors[PATTERN_ORDERS] = { SVG_GREEN, SVG_GOLD, SVG_VIOLET, SVG_RED };

static const char *const *marks(void)
{
	return terminal_is_utf8() ? blocks : characters;
}

/* --- text ----------------------------------------------------------------------- */

/* Parts are rounded where they end, so that all together have the whole width. */
static void put_orders(const struct pattern_row *row, unsigned int kind)
{
	const struct pattern_kind *k = &row->kinds[kind];
	double all = pattern_followers(k).count, sum = 0;
	unsigned int order, at = 0;

	if (!(all > 0))
		return;
	printf("%*s ", LABEL, pattern_kinds[kind]);
	for (order = 0; order < PATTERN_ORDERS; order++) {
		sum += k->orders[order].count;
		for (; at < BAR_COLUMNS && at + 0.5 < sum / all * BAR_COLUMNS; at++)
			fputs(marks()[order], stdout);
	}
	putchar('\n');
}

static void put_legends(const struct shades *shades)
{
	unsigned int order;

	printf("\n%soffset over time%s; characters stand for so many accesses, or more:\n", CLI_BOLD, CLI_PLAIN);
	shade_put_legend(shades);
	fputs("below, how accesses follow each other:", stdout);
	for (order = 0; order < PATTERN_ORDERS; order++)
		printf(" %s %s", marks()[order], pattern_orders[order]);
	putchar('\n');
}

void pattern_picture_text(const struct pattern_report *r)
{
	struct shades shades;
	__u64 most = 0;
	unsigned int kind;
	size_t i;

	for (i = 0; i < r->nr_maps; i++)
		if (access_map_most(&r->maps[i]) > most)
			most = access_map_most(&r->maps[i]);
	if (!most)
		return;
	shades = shades_for(most);
	put_legends(&shades);
	for (i = 0; i < r->nr_maps; i++) {
		const struct pattern_row *row = &r->patterns->rows[i];
		const struct key_text keys = pattern_row_keys(r->patterns, row);
		char *label;

		if (!access_map_most(&r->maps[i]))
			continue;
		label = key_text(&keys);
		putchar('\n');
		key_text_put_line(label);
		free(label);
		access_map_text(&r->maps[i], &shades);
		for (kind = 0; kind < PATTERN_KINDS; kind++)
			put_orders(row, kind);
	}
}

/* --- SVG ------------------------------------------------------------------------ */

static void put_order_bar(struct panel *p, const struct pattern_row *row, unsigned int kind, double y)
{
	static const struct svg_style label = { .anchor = SVG_END, .color = SVG_QUIET };
	const struct pattern_kind *k = &row->kinds[kind];
	double all = pattern_followers(k).count, sum = 0;
	unsigned int order;

	svg_text(p->svg, p->left - 7, y + BAR_HEIGHT - 4, label, pattern_kinds[kind]);
	for (order = 0; order < PATTERN_ORDERS; order++) {
		unsigned long long count = k->orders[order].count;
		double share = 100 * count / all;
		struct svg_mark mark = { .y = y, .height = BAR_HEIGHT, .color = colors[order], .opacity = 1 };
		char *title, *data;

		if (!count)
			continue;
		mark.x = axis_at(&p->x, 100 * sum / all);
		sum += count;
		mark.width = axis_at(&p->x, 100 * sum / all) - mark.x - GAP;
		title = xasprintf("%s: %llu, %.2f %% of accesses", pattern_orders[order], count, share);
		data = xasprintf("data-kind=\"%s\" data-order=\"%s\" data-count=\"%llu\"", pattern_kinds[kind],
				 pattern_orders[order], count);
		mark.title = title;
		mark.data = data;
		svg_mark(p->svg, &mark);
		free(title);
		free(data);
	}
}

static void put_order_panel(const struct pattern_row *row, struct svg *svg)
{
	bool has[PATTERN_KINDS] = { pattern_followers(&row->kinds[0]).count, pattern_followers(&row->kinds[1]).count };
	struct panel p = {
		.subtitle = "how accesses follow each other", .height = BAR_EACH * (has[0] + has[1]), .no_y = true,
		.x = { .unit = AXIS_PERCENT, .to = 100, .title = "share of accesses" },
	};
	unsigned int kind, order, at = 0;

	if (!has[0] && !has[1])
		return;
	for (order = 0; order < PATTERN_ORDERS; order++)
		p.entries[p.nr_entries++] = (struct panel_entry){
			.text = pattern_orders[order], .color = colors[order], .opacity = 1,
		};
	panel_begin(&p, svg);
	for (kind = 0; kind < PATTERN_KINDS; kind++)
		if (has[kind])
			put_order_bar(&p, row, kind, p.y.end + BAR_EACH * at++);
	panel_end(&p);
}

void pattern_picture_svg(const struct pattern_report *r, struct svg *svg)
{
	char *basis = basis_line(&r->basis);
	size_t i;

	if (basis)
		panel_heading(svg, r->category, basis);
	for (i = 0; i < r->nr_maps && !svg->full; i++) {
		const struct key_text keys = pattern_row_keys(r->patterns, &r->patterns->rows[i]);
		char *label = key_text(&keys), *title = xasprintf("%s: %s", r->category, label);

		if (access_map_most(&r->maps[i])) {
			access_map_svg(&r->maps[i], svg, title);
			put_order_panel(&r->patterns->rows[i], svg);
		}
		free(title);
		free(label);
	}
	free(basis);
}
