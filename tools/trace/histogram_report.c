// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/xalloc.h"
#include "trace/histogram_report.h"

#define NS_PER_S	1e9

/* --- numbers -------------------------------------------------------------------- */

static double share(const struct histogram_one *one, const struct histogram_cell *cell)
{
	return one->count ? 100.0 * cell->count / one->count : 0;
}

static bool is_before(const struct histogram_cell *cell)
{
	return cell->interval == HISTOGRAM_BEFORE;
}

/* --- JSON ----------------------------------------------------------------------- */

/* Integers of JSON end at 2^63: what is larger is a real number. */
static json_t *json_count(__u64 n)
{
	return n >> 63 ? json_real(n) : json_integer(n);
}

/* "from_ns" */
static void json_bound(json_t *object, const char *bound, const char *unit, json_t *value)
{
	char *name = xasprintf("%s_%s", bound, unit);

	json_put(object, name, value);
	free(name);
}

static json_t *json_cell(const struct histogram_report *r, const struct histogram_one *one,
			 const struct histogram_cell *cell)
{
	json_t *object = json_object();
	__u64 from, to;

	histogram_bounds(r->histogram, cell, &from, &to);
	if (r->heat)
		json_put(object, "since_s", is_before(cell) ? json_null() :
						  json_real(histogram_since(r->histogram, cell->interval)));
	json_bound(object, "from", r->kind->column, json_count(from));
	json_bound(object, "to", r->kind->column, to ? json_count(to) : json_null());
	json_put(object, "count", json_count(cell->count));
	json_put(object, "share_percent", json_real(share(one, cell)));
	return object;
}

/* The keys, null for those of others; the counts beside the range; the buckets within it. */
static json_t *json_one(const struct histogram_report *r, const struct histogram_one *one)
{
	const struct key_text text = histogram_key_text(r->histogram, one);
	json_t *object = json_object(), *buckets = json_array();
	__u64 beside[] = { 0, 0, 0 };
	size_t i;

	key_text_json(object, &text);
	for (i = 0; i < one->nr; i++) {
		beside[one->cells[i].part] += one->cells[i].count;
		if (one->cells[i].part == HISTOGRAM_WITHIN)
			json_add(buckets, json_cell(r, one, &one->cells[i]));
	}
	json_put(object, "count", json_count(one->count));
	json_put(object, "below", json_count(beside[HISTOGRAM_BELOW]));
	json_put(object, "above", json_count(beside[HISTOGRAM_ABOVE]));
	json_put(object, "buckets", buckets);
	return object;
}

json_t *histogram_report_json(const struct histogram_report *r)
{
	const struct histogram *h = r->histogram;
	json_t *object = json_object(), *histograms = json_array();
	size_t i;

	json_put(object, "category", json_string(r->category));
	json_put(object, "of", json_string(r->kind->name));
	json_put(object, "unit", json_string(r->kind->column));
	json_put(object, "scale", json_string(h->scale.log ? "log" : "linear"));
	json_bound(object, "bucket", r->kind->column, h->scale.log ? json_null() : json_count(h->size));
	if (r->heat)
		json_put(object, "interval_s", json_real(h->interval / NS_PER_S));
	json_put(object, "count", json_count(h->count));
	basis_json(object, &r->basis);
	for (i = 0; i < h->nr; i++)
		json_add(histograms, json_one(r, &h->all[i]));
	json_put(object, "histograms", histograms);
	return object;
}

/* --- CSV ------------------------------------------------------------------------ */

void histogram_report_csv_header(const struct histogram_report *r)
{
	fputs("category,", stdout);
	key_text_csv_header(r->histogram->table.keys);
	printf("%sfrom_%s,to_%s,count,share_percent," BASIS_CSV_HEADER "\n",
	       r->heat ? "since_s," : "", r->kind->column, r->kind->column);
}

/* Below the range a row has no start, above it no end. */
static void csv_row(const struct histogram_report *r, const struct histogram_one *one,
		    const struct histogram_cell *cell)
{
	const struct key_text text = histogram_key_text(r->histogram, one);
	__u64 from, to;

	printf("%s,", r->category);
	key_text_csv(&text);
	if (r->heat && !is_before(cell))
		printf("%.9f", histogram_since(r->histogram, cell->interval));
	if (r->heat)
		putchar(',');
	histogram_bounds(r->histogram, cell, &from, &to);
	if (cell->part != HISTOGRAM_BELOW)
		printf("%llu", (unsigned long long)from);
	putchar(',');
	if (to && cell->part != HISTOGRAM_ABOVE)
		printf("%llu", (unsigned long long)to);
	printf(",%llu,%.3f,", (unsigned long long)cell->count, share(one, cell));
	basis_csv(&r->basis);
	putchar('\n');
}

void histogram_report_csv(const struct histogram_report *r)
{
	const struct histogram *h = r->histogram;
	size_t i, j;

	for (i = 0; i < h->nr; i++)
		for (j = 0; j < h->all[i].nr; j++)
			csv_row(r, &h->all[i], &h->all[i].cells[j]);
}
