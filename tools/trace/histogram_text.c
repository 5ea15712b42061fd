// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bar.h"
#include "base/cli.h"
#include "base/scaled.h"
#include "base/terminal.h"
#include "base/xalloc.h"
#include "trace/histogram_text.h"

#define WIDTH_LEAST 9	/* of the columns of bounds */

/* --- parts of both texts -------------------------------------------------------- */

char *histogram_label(char *out, const struct histogram_report *r, bool exact, __u64 value)
{
	static const char *const units[] = { "ns", "B", "", "" };
	enum histogram_unit unit = r->kind->unit;

	if (!exact && unit == HISTOGRAM_NS)
		return scaled_time(out, value);
	if (!exact && unit == HISTOGRAM_BYTES)
		return scaled_size(out, value);
	snprintf(out, HISTOGRAM_LABEL, "%llu%s", (unsigned long long)value, units[unit]);
	return out;
}

bool histogram_is_exact(const struct histogram_report *r, const struct histogram_one *one)
{
	char a[HISTOGRAM_LABEL], b[HISTOGRAM_LABEL];
	__u64 from, to;
	size_t i;

	for (i = 0; i < one->nr; i++) {
		histogram_bounds(r->histogram, &one->cells[i], &from, &to);
		if (to && !strcmp(histogram_label(a, r, false, from), histogram_label(b, r, false, to)))
			return true;
	}
	return false;
}

void histogram_count(__u64 n)
{
	printf("%llu value%s\n", (unsigned long long)n, n == 1 ? "" : "s");
}

void histogram_title(const struct histogram_report *r, const struct histogram_one *one)
{
	const struct key_text text = histogram_key_text(r->histogram, one);
	char *label, *line;

	putchar('\n');
	if (!text.table->keys->nr)
		return;
	label = key_text(&text);
	line = xasprintf("%s: %llu value%s", label, (unsigned long long)one->count,
			 one->count == 1 ? "" : "s");
	key_text_put_line(line);
	free(line);
	free(label);
}

/* --- bars ----------------------------------------------------------------------- */

/* How the lines of a histogram look. */
struct table {
	const struct histogram_report *r;
	const struct histogram_one *one;
	bool exact;
	int from_width, to_width;
	__u64 most;		/* values of a bucket within the range */
};

static int max(int a, int b)
{
	return a > b ? a : b;
}

/* The texts of both bounds. */
static void labels(const struct table *t, const struct histogram_cell *cell, char *from, char *to)
{
	__u64 a, b;

	histogram_bounds(t->r->histogram, cell, &a, &b);
	histogram_label(from, t->r, t->exact, a);
	if (b)
		histogram_label(to, t->r, t->exact, b);
	else
		strcpy(to, "-");
	if (cell->part == HISTOGRAM_BELOW)
		strcpy(from, "below");
	else if (cell->part == HISTOGRAM_ABOVE)
		strcpy(to, "above");
}

static void measure_table(struct table *t)
{
	char from[HISTOGRAM_LABEL], to[HISTOGRAM_LABEL];
	size_t i;

	t->exact = histogram_is_exact(t->r, t->one);
	t->from_width = WIDTH_LEAST;
	t->to_width = WIDTH_LEAST;
	for (i = 0; i < t->one->nr; i++) {
		const struct histogram_cell *cell = &t->one->cells[i];

		labels(t, cell, from, to);
		t->from_width = max(t->from_width, strlen(from));
		t->to_width = max(t->to_width, strlen(to));
		if (cell->part == HISTOGRAM_WITHIN && cell->count > t->most)
			t->most = cell->count;
	}
}

static void put_line(const struct table *t, const struct histogram_cell *cell)
{
	char from[HISTOGRAM_LABEL], to[HISTOGRAM_LABEL], number[SCALED], blocks[BAR];
	int used;

	labels(t, cell, from, to);
	used = printf("%*s %*s%9s%7.1f%%", t->from_width, from, t->to_width, to,
		      scaled_number(number, cell->count), 100.0 * cell->count / t->one->count);
	bar(blocks, cell->part == HISTOGRAM_WITHIN ? cell->count : 0, t->most,
	    terminal_columns() - used - 1, NULL);
	printf("%s%s\n", *blocks ? " " : "", blocks);
}

/* The empty buckets between two. */
static void put_empty(const struct table *t, const struct histogram_cell *before, __u64 behind)
{
	struct histogram_cell empty = { .part = HISTOGRAM_WITHIN, .bucket = before->bucket + 1 };

	if (behind - empty.bucket > HISTOGRAM_EMPTY) {
		printf("%*s\n", t->from_width, "...");
		return;
	}
	for (; empty.bucket < behind; empty.bucket++)
		put_line(t, &empty);
}

static void put_table(const struct histogram_report *r, const struct histogram_one *one)
{
	struct table t = { .r = r, .one = one };
	const struct histogram_cell *last = NULL, *cell;
	size_t i;

	measure_table(&t);
	printf("%s%*s %*s%9s%8s%s\n", CLI_BOLD, t.from_width, "FROM", t.to_width, "TO", "COUNT", "SHARE",
	       CLI_PLAIN);
	for (i = 0; i < one->nr; i++) {
		cell = &one->cells[i];
		if (last && last->part == HISTOGRAM_WITHIN && cell->part == HISTOGRAM_WITHIN)
			put_empty(&t, last, cell->bucket);
		put_line(&t, cell);
		last = cell;
	}
}

void histogram_text(const struct histogram_report *r)
{
	const struct histogram *h = r->histogram;
	size_t i;

	printf("%s%s%s: %s, ", CLI_BOLD, r->category, CLI_PLAIN, r->kind->name);
	histogram_count(h->count);
	for (i = 0; i < h->nr; i++) {
		histogram_title(r, &h->all[i]);
		put_table(r, &h->all[i]);
	}
	basis_text(&r->basis);
}
