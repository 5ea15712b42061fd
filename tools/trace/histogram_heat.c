// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "base/cli.h"
#include "base/scaled.h"
#include "base/shade.h"
#include "trace/histogram_heat.h"
#include "trace/histogram_text.h"

#define WIDTH_LEAST	8	/* of labels */

struct map {
	const struct histogram_report *r;
	const struct histogram_one *one;
	bool exact;
	int width;		/* of the labels */
	struct shades shades;
	__s64 from;		/* interval of the first column */
	__s64 columns;
};

static bool same_row(const struct histogram_cell *a, const struct histogram_cell *b)
{
	return a->part == b->part && a->bucket == b->bucket;
}

/* The first cell of the row of cell @i. */
static size_t row_start(const struct histogram_one *one, size_t i)
{
	while (i && same_row(&one->cells[i - 1], &one->cells[i]))
		i--;
	return i;
}

/* Where the row begins. */
static char *label_of(const struct map *m, const struct histogram_cell *cell, char *label)
{
	__u64 from, to;

	histogram_bounds(m->r->histogram, cell, &from, &to);
	if (cell->part == HISTOGRAM_BELOW)
		return strcpy(label, "below");
	if (cell->part == HISTOGRAM_ABOVE)
		return strcpy(label, "above");
	return histogram_label(label, m->r, m->exact, from);
}

/* @nr cells: those of a row, or one of none. */
static void put_row(const struct map *m, const struct histogram_cell *cells, size_t nr)
{
	char label[HISTOGRAM_LABEL];
	int shades[HISTOGRAM_WIDEST];
	size_t i;

	for (i = 0; i < (size_t)m->columns; i++)
		shades[i] = SHADE_NONE;
	for (i = 0; i < nr; i++) {
		__s64 column = cells[i].interval - m->from;

		if (cells[i].interval != HISTOGRAM_BEFORE && column >= 0 && column < m->columns)
			shades[column] = shade_of(&m->shades, cells[i].count);
	}
	printf("%*s|", m->width, label_of(m, cells, label));
	shade_put(shades, m->columns);
	puts("|");
}

/* The empty rows between two; the one above was the last. */
static void put_empty(const struct map *m, const struct histogram_cell *above,
		      const struct histogram_cell *below)
{
	struct histogram_cell empty = { .part = HISTOGRAM_WITHIN, .bucket = above->bucket - 1 };

	if (above->part != HISTOGRAM_WITHIN || below->part != HISTOGRAM_WITHIN)
		return;
	if (empty.bucket - below->bucket > HISTOGRAM_EMPTY) {
		printf("%*s|%*s|\n", m->width, "...", (int)m->columns, "");
		return;
	}
	for (; empty.bucket > below->bucket; empty.bucket--)
		put_row(m, &empty, 0);
}

/* "+1.5s" below the first column, and at the end of the last. */
static void put_axis(const struct map *m)
{
	const struct histogram *h = m->r->histogram;
	int used = printf("%*s%+.6gs", m->width + 1, "", histogram_since(h, m->from));
	char end[32];

	snprintf(end, sizeof(end), "%+.6gs", histogram_since(h, m->from + m->columns));
	printf("%*s\n", m->width + 1 + (int)m->columns - used, end);
}

/* High values are above low ones. */
static void put_panel(const struct map *m)
{
	const struct histogram_one *one = m->one;
	size_t end = one->nr, start;

	for (; end; end = start) {
		start = row_start(one, end - 1);
		if (end < one->nr)
			put_empty(m, &one->cells[end], &one->cells[start]);
		put_row(m, &one->cells[start], end - start);
	}
	put_axis(m);
}

static void put_map(struct map *m)
{
	const struct histogram_one *one = m->one;
	__s64 last = HISTOGRAM_BEFORE;
	char label[HISTOGRAM_LABEL];
	__u64 before = 0;
	int width;
	size_t i;

	for (i = 0; i < one->nr; i++) {
		if (one->cells[i].interval == HISTOGRAM_BEFORE)
			before += one->cells[i].count;
		else if (one->cells[i].interval > last)
			last = one->cells[i].interval;
	}
	m->exact = histogram_is_exact(m->r, one);
	m->width = WIDTH_LEAST;
	for (i = 0; i < one->nr; i++) {
		width = strlen(label_of(m, &one->cells[i], label));
		m->width = width > m->width ? width : m->width;
	}
	for (m->from = 0; m->from <= last; m->from += m->columns)
		put_panel(m);
	if (before) {
		fputs("before the first column: ", stdout);
		histogram_count(before);
	}
}

void histogram_heat(const struct histogram_report *r)
{
	const struct histogram *h = r->histogram;
	struct map m = {
		.r = r, .shades = shades_for(histogram_most(h)),
		.columns = h->columns < HISTOGRAM_WIDEST ? h->columns : HISTOGRAM_WIDEST,
	};
	char text[SCALED];
	size_t i;

	printf("%s%s%s: %s by time, ", CLI_BOLD, r->category, CLI_PLAIN, r->kind->name);
	histogram_count(h->count);
	if (h->nr) {
		printf("a column is %s; characters stand for so many values, or more:\n",
		       scaled_time(text, h->interval));
		shade_put_legend(&m.shades);
	}
	for (i = 0; i < h->nr; i++) {
		m.one = &h->all[i];
		histogram_title(r, m.one);
		put_map(&m);
	}
	basis_text(&r->basis);
}
