// SPDX-License-Identifier: GPL-2.0
#include <curses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/bar.h"
#include "base/cli.h"
#include "base/scaled.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "top/column.h"
#include "top/draw.h"

#define HEAD		4	/* lines above the rows */
#define SHORT_PAST	4	/* intervals of a sparkline where names have little room */
#define GOOD_NAME	30	/* columns of a name: with less, a sparkline is short */
#define LEAST_NAME	8	/* with less, there is none */
#define LEAST_LINES	7	/* of a histogram, and of the events below it */
#define BAD		66.0	/* percent of the device */
#define WARNING		33.0
#define SLOW_NS		100000000ULL
#define SLOWISH_NS	10000000ULL

enum { PLAIN, RED, YELLOW, GREEN, CYAN };

void top_draw_init(void)
{
	/* --color and NO_COLOR count here, too */
	if (!*CLI_BOLD || !has_colors())
		return;
	start_color();
	use_default_colors();
	init_pair(RED, COLOR_RED, -1);
	init_pair(YELLOW, COLOR_YELLOW, -1);
	init_pair(GREEN, COLOR_GREEN, -1);
	init_pair(CYAN, COLOR_CYAN, -1);
}

/*
 * Writes a text in @width columns at most; what the terminal cannot show is "?". Returns the
 * columns.
 */
static int put(int y, int x, int width, const char *text)
{
	mbstate_t state = { 0 };
	size_t left = strlen(text);
	int used = 0;

	if (y < 0 || y >= LINES || x < 0 || x >= COLS)
		return 0;
	width = width < COLS - x ? width : COLS - x;
	move(y, x);
	while (left) {
		wchar_t c;
		size_t n = mbrtowc(&c, text, left, &state);
		int columns;

		bool is_known = n && n <= left;

		if (!is_known) {
			state = (mbstate_t){ 0 };
			n = 1;
		}
		columns = is_known ? wcwidth(c) : 1;
		if (columns < 0)
			columns = 1;
		if (used + columns > width)
			break;
		addnstr(is_known ? text : "?", n);
		used += columns;
		text += n;
		left -= n;
	}
	return used;
}

static int put_in(int y, int x, int width, attr_t attribute, const char *text)
{
	int used;

	attron(attribute);
	used = put(y, x, width, text);
	attroff(attribute);
	return used;
}

static attr_t color(int pair)
{
	return COLOR_PAIR(pair);
}

int top_draw_rows(void)
{
	int rows = LINES - HEAD - 2;

	return rows > 0 ? rows : 0;
}

/* --- above the rows --------------------------------------------------------------- */

static void draw_tabs(const struct top *t)
{
	int x = 0;
	size_t i;

	for (i = 0; i < TOP_VIEWS; i++) {
		char *tab = xasprintf("%zu %s", i + 1, top_views[i].title);

		x += put_in(0, x, COLS, t->view == &top_views[i] ? A_REVERSE | A_BOLD : A_NORMAL, tab) + 1;
		free(tab);
	}
}

static int draw_count(int x, const char *name, __u64 n, int pair)
{
	char cell[SCALED], *text;

	if (!n)
		return x;
	text = xasprintf("%s %s  ", name, scaled_number(cell, n));
	x += put_in(2, x, COLS, color(pair) | A_BOLD, text);
	free(text);
	return x;
}

/* What the figures rest on. */
static void draw_basis(const struct top_draw *d)
{
	const struct top *t = d->top;
	const struct basis basis = top_window_basis(t->shown);
	char *filter;
	int x = 0;

	if (d->is_frozen)
		x += put_in(2, x, COLS, A_REVERSE, "FROZEN") + 2;
	if (t->source->at_end)
		x += put_in(2, x, COLS, A_REVERSE, "END OF TRACE") + 2;
	if (*t->list.filter) {
		filter = xasprintf("filter \"%s\"  ", t->list.filter);
		x += put_in(2, x, COLS, color(CYAN), filter);
		free(filter);
	}
	if (t->shown->is_partial)
		x += put_in(2, x, COLS, color(YELLOW), "figures from the next interval on  ");
	if (t->shown->sums.has_rest) {
		char cell[SCALED], *text = xasprintf("%s op. of %s beyond %d  ",
						     scaled_number(cell, t->shown->sums.rest.count), t->view->title, TOP_ROWS);

		x += put_in(2, x, COLS, color(YELLOW) | A_BOLD, text);
		free(text);
	}
	x = draw_count(x, "lost", basis.lost, RED);
	x = draw_count(x, "missed", basis.missed, YELLOW);
	x = draw_count(x, "unreadable", basis.unreadable, RED);
	if (basis.sampled) {
		char cells[2][SCALED], *text;

		text = xasprintf("sampled: %s of %s events  ", scaled_number(cells[0], basis.records),
				 scaled_number(cells[1], basis.events));
		x += put_in(2, x, COLS, color(YELLOW) | A_BOLD, text);
		free(text);
	}
	put_in(2, x, COLS, *d->message ? color(RED) | A_BOLD : A_NORMAL,
	       *d->message ? d->message : t->source->note);
}

static bool is_sorted_by(const struct top_list *l, size_t column)
{
	const enum top_sort sort = top_columns[column].sort;

	return l->sort == sort || (l->sort == TOP_BY_BYTES && (sort == TOP_BY_READ || sort == TOP_BY_WRITE));
}

/* How many intervals a row's sparkline has. */
static int past_shown(void)
{
	const int room = COLS - top_columns_width() - 2;

	return room >= TOP_PAST + GOOD_NAME ? TOP_PAST : room >= SHORT_PAST + LEAST_NAME ? SHORT_PAST : 0;
}

static void draw_bar(int y)
{
	attron(A_REVERSE);
	mvhline(y, 0, ' ', COLS);
	attroff(A_REVERSE);
}

static void draw_heading(const struct top *t)
{
	const int past = past_shown();
	int x = 0;
	size_t i;

	draw_bar(3);
	for (i = 0; i < TOP_COLUMNS; i++) {
		const char *name = top_column_heading(t->view, i);
		int width = top_columns[i].width;

		put_in(3, x + width - (int)strlen(name), width,
		       A_REVERSE | (is_sorted_by(&t->list, i) ? A_BOLD | A_UNDERLINE : 0), name);
		x += width;
	}
	if (past)
		put_in(3, x + 1, past, A_REVERSE, "PAST");
	put_in(3, x + past + 2, COLS,
	       A_REVERSE | (t->list.sort == TOP_BY_NAME ? A_BOLD | A_UNDERLINE : 0), t->view->title);
}

/* --- the table -------------------------------------------------------------------- */

static attr_t attribute_of(const struct top_window *w, const struct top_row *row, size_t column)
{
	double percent;

	switch (top_columns[column].sort) {
	case TOP_BY_P99:
		return color(row->p99 >= SLOW_NS ? RED : row->p99 >= SLOWISH_NS ? YELLOW : PLAIN);
	case TOP_BY_DEVICE:
		percent = top_device_percent(w, row);
		return color(percent >= BAD ? RED : percent >= WARNING ? YELLOW : PLAIN);
	case TOP_BY_MISSES:
		return color(row->misses ? YELLOW : PLAIN);
	default:
		return A_NORMAL;
	}
}

/* "0", "0B", "0.0", "-" */
static bool is_nothing(const char *cell)
{
	return !strcmp(cell, "-") || (*cell == '0' && !strpbrk(cell, "123456789"));
}

static void draw_row(const struct top *t, int y, size_t number, attr_t chosen)
{
	const struct top_window *w = t->shown;
	const struct top_row *row = &w->sums.rows[number];
	const struct top_past past = top_list_past(&t->list, top_sums_key(&w->sums, number));
	char *label = top_label(w, number), *end, cell[TOP_CELL], spark[3 * TOP_PAST + 1];
	const int shown = past_shown();
	int x = 0;
	size_t i;

	if (chosen)
		draw_bar(y);
	for (i = 0; i < TOP_COLUMNS; i++) {
		int width = top_columns[i].width;

		top_cell(cell, w, row, i);
		put_in(y, x + width - (int)strlen(cell), width,
		       chosen | (chosen ? A_NORMAL : is_nothing(cell) ? A_DIM : attribute_of(w, row, i)), cell);
		x += width;
	}
	if (shown)
		put_in(y, x + 1, shown, chosen ? chosen : color(GREEN),
		       bar_spark(spark, past.at + TOP_PAST - shown, shown));
	x += shown + 2;
	end = text_shorten(label, COLS > x ? COLS - x : 0);
	put_in(y, x, COLS, chosen | A_BOLD, end);
	free(end);
	free(label);
}

/* The name of the chosen row, as much of it as there is room for. */
static void draw_chosen(const struct top_draw *d)
{
	char *label = top_label(d->top->shown, d->top->list.rows[d->cursor]), *end, *line;

	end = text_shorten(label, COLS > 20 ? COLS - 20 : 0);
	line = xasprintf("%zu of %zu: %s", d->cursor + 1, d->top->list.nr, end);
	put_in(LINES - 2, 0, COLS, color(CYAN), line);
	free(line);
	free(end);
	free(label);
}

/* There is no row. */
static void draw_nothing(const struct top *t)
{
	char length[SCALED], *text;

	if (t->shown->end) {
		put(HEAD, 2, COLS, *t->list.filter ? "no row has this text" : "nothing happened in this interval");
		return;
	}
	text = xasprintf("nothing is measured yet: the first interval, of %s, is not over",
			 scaled_time(length, t->interval));
	put(HEAD, 2, COLS, text);
	free(text);
}

static void draw_table(struct top_draw *d)
{
	const struct top *t = d->top;
	const int rows = top_draw_rows();
	int i;

	if (d->cursor >= t->list.nr)
		d->cursor = t->list.nr ? t->list.nr - 1 : 0;
	if (d->first > d->cursor)
		d->first = d->cursor;
	if (rows && d->cursor >= d->first + rows)
		d->first = d->cursor - rows + 1;
	draw_heading(t);
	for (i = 0; i < rows && d->first + i < t->list.nr; i++)
		draw_row(t, HEAD + i, t->list.rows[d->first + i],
			 d->first + i == d->cursor ? A_REVERSE : A_NORMAL);
	if (t->list.nr)
		draw_chosen(d);
	if (!t->list.nr && !t->shown->is_partial)
		draw_nothing(t);
}

/* --- one row ---------------------------------------------------------------------- */

static int draw_bucket(int y, const __u64 *buckets, size_t first, size_t i, __u64 most)
{
	char from[SCALED], to[SCALED], blocks[BAR], *line;

	/* what is below the first bucket that is shown is counted in it */
	scaled_time(from, i > first ? 1ULL << (i - 1) : 0);
	if (i == TOP_BUCKETS - 1)
		strcpy(to, "more");
	else
		scaled_time(to, 1ULL << i);
	line = xasprintf("%8s %8s %9llu ", from, to, (unsigned long long)buckets[i]);
	put(y, 0, COLS, line);
	put_in(y, 28, COLS, color(GREEN), bar(blocks, buckets[i], most, COLS > 30 ? COLS - 30 : 0, NULL));
	free(line);
	return y + 1;
}

/*
 * Up to the last bucket that is not empty, in @lines at most: the slow ones count. Returns the line
 * behind them.
 */
static int draw_histogram(const struct top_row *row, int y, size_t lines)
{
	__u64 buckets[TOP_BUCKETS], most = 0;
	size_t first = TOP_BUCKETS - 1, last = 0, i;

	memcpy(buckets, row->buckets, sizeof(buckets));
	for (i = 0; i < TOP_BUCKETS; i++)
		if (buckets[i]) {
			first = i < first ? i : first;
			last = i;
		}
	for (; last - first >= lines; first++)
		buckets[first + 1] += buckets[first];
	for (i = first; i <= last; i++)
		most = buckets[i] > most ? buckets[i] : most;
	for (i = first; i <= last; i++)
		y = draw_bucket(y, buckets, first, i, most);
	return y;
}

static void draw_detail(const struct top_draw *d)
{
	const struct top_window *w = d->top->shown;
	const struct top_row *row = top_detail_row(d->detail, w);
	char *shown = text_shorten(d->detail->key, COLS > 12 ? COLS - 12 : 0), *title;
	int y = HEAD, events;
	size_t i;

	title = xasprintf("%s %s", w->sums.view->name, *shown ? shown : "-");
	put_in(3, 0, COLS, A_REVERSE | A_BOLD, title);
	if (row && row->count) {
		put_in(y++, 0, COLS, A_BOLD, "    FROM       TO     COUNT  latencies of this interval");
		y = draw_histogram(row, y, top_draw_rows() > 2 * LEAST_LINES ? top_draw_rows() - LEAST_LINES : LEAST_LINES);
	} else {
		put(y++, 0, COLS, "no operation of it ended in this interval");
	}
	put_in(y++, 0, COLS, A_BOLD, "END             WHAT                   SIZE LATENCY  WHO AND WHERE");
	events = LINES - 1 - y;
	i = events > 0 && d->detail->nr > (size_t)events ? d->detail->nr - events : 0;
	for (; i < d->detail->nr && y < LINES - 1; i++)
		put(y++, 0, COLS, d->detail->lines[i]);
	free(shown);
	free(title);
}

/* --- help --------------------------------------------------------------------------- */

static const char *const help[] = {
	"1-7 Tab      another view: files, directories, processes ...",
	"< >          sort by the column to the left or right; r: the other way round",
	"/            show only rows with a text; an empty one shows all",
	"Space p      freeze the picture, or let it go on",
	"Up Down      choose a row; also PgUp PgDn Home End, j k",
	"Enter        its last events, and a histogram of its latencies",
	"Left Right   of a trace: one interval back or ahead",
	"Esc          back",
	"? h          this help",
	"q ^C         end",
	"",
	"OPS/s READ/s WRITE/s  operations that ended, and bytes that they moved",
	"P50 P99               half of the operations took no longer, 99 % did not",
	"MISS/s                pages that were not in memory",
	"DEV%                  share of the time that all requests were in devices",
	"BUSY%                 of a device: how long it had any request",
	"PAST                  operations of the last intervals",
	"colours               P99 from 10 and 100 ms, device from 33 and 66 %",
};

static void draw_help(void)
{
	size_t i;

	put_in(3, 0, COLS, A_REVERSE | A_BOLD, "keys and columns");
	for (i = 0; i < sizeof(help) / sizeof(help[0]); i++)
		if (HEAD + (int)i < LINES - 1)
			put(HEAD + i, 2, COLS, help[i]);
}

static void draw_foot(const struct top_draw *d)
{
	char *text;

	if (d->is_typing) {
		text = xasprintf("show rows with: %s_", d->top->list.filter);
		put_in(LINES - 1, 0, COLS, A_BOLD, text);
		free(text);
		return;
	}
	put_in(LINES - 1, 0, COLS, A_DIM, d->page == TOP_TABLE ?
	       "? help  q quit  1-7 view  <> sort  / filter  Space freeze  Enter details" :
	       "Esc back  q quit");
}

void top_draw(struct top_draw *d)
{
	char *summary = top_summary(d->top->shown);

	erase();
	draw_tabs(d->top);
	put_in(1, 0, COLS, A_BOLD, d->top->shown->end ? summary : "iotracer top");
	draw_basis(d);
	if (d->page == TOP_DETAIL)
		draw_detail(d);
	else if (d->page == TOP_HELP)
		draw_help();
	else
		draw_table(d);
	draw_foot(d);
	refresh();
	free(summary);
}
