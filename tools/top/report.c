// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/text.h"
#include "top/column.h"
#include "top/report.h"

#define WIDTH 80

static size_t nr_rows(const struct top_report *r)
{
	return r->top && r->top < r->list->nr ? r->top : r->list->nr;
}

/* --- text ----------------------------------------------------------------------- */

static void put_heading(const struct top_view *view)
{
	size_t i;

	fputs(CLI_BOLD, stdout);
	for (i = 0; i < TOP_COLUMNS; i++)
		printf("%*s", top_columns[i].width, top_column_heading(view, i));
	printf("  ");
	for (i = 0; view->name[i]; i++)
		putchar(view->name[i] - 'a' + 'A');
	printf("%s\n", CLI_PLAIN);
}

static void put_row(const struct top_window *w, const struct top_row *row, const char *label)
{
	char *end = text_shorten(label, WIDTH - top_columns_width() - 2), cell[TOP_CELL];
	size_t i;

	for (i = 0; i < TOP_COLUMNS; i++)
		printf("%*s", top_columns[i].width, top_cell(cell, w, row, i));
	printf("  %s\n", end);
	free(end);
}

static void put_rows(const struct top_report *r)
{
	const struct top_sums *s = &r->window->sums;
	char rest[32];
	size_t i;

	for (i = 0; i < nr_rows(r); i++) {
		size_t row = r->list->rows[i];
		char *label = top_label(r->window, row);

		put_row(r->window, &s->rows[row], label);
		free(label);
	}
	if (nr_rows(r) < r->list->nr)
		printf("%*s%zu others\n", top_columns_width() + 2, "", r->list->nr - nr_rows(r));
	if (s->has_rest) {
		snprintf(rest, sizeof(rest), "those beyond %d", TOP_ROWS);
		put_row(r->window, &s->rest, rest);
	}
}

void top_report_text(const struct top_report *r)
{
	const struct top_window *w = r->window;
	const struct basis basis = top_window_basis(w);
	char *summary = top_summary(w);

	printf("%s\n", summary);
	free(summary);
	if (*r->source->note)
		printf("%s\n", r->source->note);
	putchar('\n');
	put_heading(w->sums.view);
	put_rows(r);
	basis_text(&basis);
}

/* --- JSON and CSV --------------------------------------------------------------- */

static json_t *number_if(bool known, __u64 n)
{
	return known ? json_unsigned(n) : json_null();
}

static json_t *rate(const struct top_window *w, __u64 n)
{
	double seconds = top_window_seconds(w);

	return seconds ? json_real(n / seconds) : json_null();
}

static void put_figures(json_t *object, const struct top_window *w, const struct top_row *row)
{
	const struct top_sums *s = &w->sums;

	json_put(object, "operations", json_unsigned(row->count));
	json_put(object, "operations_per_s", rate(w, row->count));
	json_put(object, "errors", json_unsigned(row->failed));
	json_put(object, "read_bytes", json_unsigned(row->read));
	json_put(object, "read_bytes_per_s", rate(w, row->read));
	json_put(object, "written_bytes", json_unsigned(row->written));
	json_put(object, "written_bytes_per_s", rate(w, row->written));
	json_put(object, "missed_pages", number_if(s->has_misses, row->misses));
	json_put(object, "device_time_ns", number_if(s->has_device, row->device_time));
}

static json_t *row_json(const struct top_window *w, const struct top_row *row, const char *key)
{
	const struct top_sums *s = &w->sums;
	json_t *object = json_object();

	json_put(object, s->view->name, json_string(key));
	if (s->view->note)
		json_put(object, s->view->note, row->note ? json_string(row->note) : json_null());
	put_figures(object, w, row);
	json_put(object, "device_percent", s->has_device ? json_real(top_device_percent(w, row)) : json_null());
	json_put(object, "latency_p50_ns", number_if(row->count, row->p50));
	json_put(object, "latency_p99_ns", number_if(row->count, row->p99));
	return object;
}

/* @i: which row of the list; behind the last one that is printed, the rest. */
static json_t *listed_json(const struct top_report *r, size_t i)
{
	const struct top_sums *s = &r->window->sums;

	if (i == nr_rows(r))
		return row_json(r->window, &s->rest, "*");
	return row_json(r->window, &s->rows[r->list->rows[i]], top_sums_key(s, r->list->rows[i]));
}

static json_t *categories_json(const struct top_report *r)
{
	json_t *all = json_array(), *category;
	size_t i;

	for (i = 0; i < r->window->nr; i++) {
		category = json_object();
		json_put(category, "category", json_string(r->source->parts[i].category->name));
		basis_json(category, &r->window->basis[i]);
		json_add(all, category);
	}
	return all;
}

void top_report_json(const struct top_report *r)
{
	const struct top_window *w = r->window;
	const struct top_sums *s = &w->sums;
	json_t *document = json_object(), *rows = json_array(), *total = json_object();
	size_t nr = nr_rows(r), i;

	json_put(document, "trace", r->source->trace ? json_shown(r->source->trace) : json_null());
	json_put(document, "begin_ns", json_unsigned(w->begin));
	json_put(document, "duration_s", json_real(top_window_seconds(w)));
	json_put(document, "note", *r->source->note ? json_string(r->source->note) : json_null());
	json_put(document, "by", json_string(s->view->name));
	json_put(document, "category", s->main ? json_string(s->main->name) : json_null());
	json_put(document, "categories", categories_json(r));
	put_figures(total, w, &s->total);
	json_put(document, "total", total);
	for (i = 0; i < nr; i++)
		json_add(rows, listed_json(r, i));
	json_put(document, "rows", rows);
	json_put(document, "others", json_unsigned(r->list->nr - nr));
	json_put(document, "rest", s->has_rest ? listed_json(r, nr) : json_null());
	json_dumpf(document, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));
	putchar('\n');
	json_decref(document);
}

void top_report_csv(const struct top_report *r, bool header)
{
	const struct basis basis = top_window_basis(r->window);
	size_t nr = nr_rows(r) + r->window->sums.has_rest, i;

	for (i = 0; i < nr; i++) {
		json_t *row = json_object(), *cells = listed_json(r, i);

		json_put(row, "begin_ns", json_unsigned(r->window->begin));
		json_object_update(row, cells);
		basis_json_row(row, &basis);
		if (header && !i)
			json_csv_header(row);
		json_csv_row(row);
		json_decref(cells);
		json_decref(row);
	}
}
