// SPDX-License-Identifier: GPL-2.0
#include <stdint.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "trace/record.h"
#include "trace/stats.h"
#include "uapi/iotracer.h"

const unsigned int stats_parts[STATS_PERCENTILES] = { 5000, 9000, 9900, 9990, 9999 };
const char *const stats_part_names[STATS_PERCENTILES] = { "p50", "p90", "p99", "p99_9", "p99_99" };

/* What identifies a row among intervals. */
struct cell {
	__s64 interval;
	__u64 key;
};

/* --- records -------------------------------------------------------------------- */

void stats_begin(struct stats *s, struct stats_keys *keys)
{
	const struct iot_schema_event *event = keys->printer.event;

	s->keys = keys;
	s->with_pages = s->with_pages && positions_has(event);
	if (s->with_pages)
		positions_open(&s->positions, event);
	if (event->id == IOT_EVENT_ID_BLOCK) {
		s->device = record_field(event, "device");
		s->device_latency = record_field(event, "device_latency");
	}
	s->with_command = stats_keys_have_command(keys);
	key_table_open(&s->table, keys);
}

static struct stats_row *new_row(struct stats *s, __u32 key, __s64 interval)
{
	if (s->nr == s->room) {
		s->room = 2 * s->room + 64;
		s->rows = xreallocarray(s->rows, s->room, sizeof(*s->rows));
	}
	s->rows[s->nr] = (struct stats_row){
		.key = key, .interval = interval, .size.least = ~0ULL, .latency.least = ~0ULL,
	};
	return &s->rows[s->nr++];
}

/* The number of the record's key. */
static __u32 key_of(struct stats *s, const void *record)
{
	size_t before = s->table.names.nr;
	__u32 key = key_table_add(&s->table, record);

	if (s->table.names.nr == before)
		return key;
	if (key >= s->room_totals) {
		s->room_totals = 2 * s->room_totals + 64;
		s->totals = xreallocarray(s->totals, s->room_totals, sizeof(*s->totals));
	}
	s->totals[key] = (struct stats_total){ .count = 0 };
	if (s->with_command)
		stats_keys_command(s->keys, s->totals[key].command, record);
	return key;
}

static __s64 interval_of(const struct stats *s, __u64 time)
{
	__s64 since = time - s->origin, interval = s->interval;

	if (!interval)
		return 0;
	return since < 0 ? -((interval - 1 - since) / interval) : since / interval;
}

static struct stats_row *row_of(struct stats *s, __u32 key, __u64 time)
{
	const struct cell cell = { .interval = interval_of(s, time), .key = key };
	/* Without intervals, rows have the numbers of their keys. */
	__u32 row = s->interval ? intern_add(&s->cells, &cell, sizeof(cell)) : key;

	return row == s->nr ? new_row(s, key, cell.interval) : &s->rows[row];
}

static void widen(struct stats_range *r, __u64 total, __u64 least, __u64 most)
{
	r->total += total;
	if (least < r->least)
		r->least = least;
	if (most > r->most)
		r->most = most;
}

static void add_error(struct stats_row *row, unsigned int error, __u64 count)
{
	size_t i;

	for (i = 0; i < row->nr_errors && row->errors[i].error != error; i++)
		;
	if (i == row->nr_errors) {
		row->errors = xreallocarray(row->errors, ++row->nr_errors, sizeof(*row->errors));
		row->errors[i] = (struct stats_error){ .error = error };
	}
	row->errors[i].count += count;
	row->failed += count;
}

/* The pages that an access touches; in a sampled trace, those that were seen. */
static void add_pages(struct stats *s, struct stats_row *row, const void *record, const struct measure *m)
{
	struct page_set_file file = { .source = (uintptr_t)s->keys->source };
	struct position at;

	position_of(&s->positions, record, m, &at);
	if (at.kind > POSITION_DISCARD || !at.bytes)
		return;
	file.device = at.device;
	file.inode = at.inode;
	if (at.kind == POSITION_DISCARD) {
		row->writes += page_set_pages(at.start, at.bytes);
		return;
	}
	file.owner = 2 * (row - s->rows);
	row->touched += page_set_add(&s->pages, &file, at.start, at.bytes);
	if (at.kind != POSITION_WRITE)
		return;
	file.owner++;
	row->writes += page_set_pages(at.start, at.bytes);
	row->written += page_set_add(&s->pages, &file, at.start, at.bytes);
}

/* A request was with driver and device for the last part of its latency. */
static void add_device(struct stats *s, struct stats_row *row, const void *record,
		       const struct measure *m)
{
	__u64 end = m->time + m->latency;
	__u64 time = record_scalar(record, s->device_latency->offset, s->device_latency->size);
	__u32 device = record_scalar(record, s->device->offset, s->device->size);

	if (time > m->latency)
		time = m->latency;
	row->device_time += m->weight * time;
	s->device_time += m->weight * time;
	busy_add(&s->busy, device, (uintptr_t)s->keys->source, end - time, end, m->weight);
}

void stats_add(struct stats *s, const void *record, const struct measure *m, __u64 time)
{
	__u64 bytes = m->weight * m->bytes, latency = m->weight * m->latency;
	__u32 key = key_of(s, record);
	struct stats_row *row = row_of(s, key, time);
	struct stats_total *total = &s->totals[key];

	row->records++;
	row->count += m->weight;
	row->bytes += bytes;
	widen(&row->latency, latency, m->latency, m->latency);
	if (!s->no_percentiles)
		distribution_add(&row->latencies, m->latency, m->weight);
	if (m->has_bytes) {
		row->sized += m->weight;
		if (!s->no_percentiles && !s->no_sizes)
			distribution_add(&row->sizes, m->bytes, m->weight);
		widen(&row->size, bytes, m->bytes, m->bytes);
	}
	if (m->error) {
		add_error(row, m->error, m->weight);
		s->failed += m->weight;
	}
	if (s->device_latency)
		add_device(s, row, record, m);
	if (s->with_pages)
		add_pages(s, row, record, m);
	total->count += m->weight;
	total->bytes += bytes;
	total->latency += latency;
	s->count += m->weight;
	s->bytes += bytes;
}

/* --- rows ----------------------------------------------------------------------- */

static int fall(__u64 x, __u64 y)
{
	return (x < y) - (x > y);
}

/* What is equal is sorted by the count, and then by name. */
static int compare_keys(const void *a, const void *b, void *data)
{
	const struct stats *s = data;
	const __u32 x = *(const __u32 *)a, y = *(const __u32 *)b;
	const struct stats_total *p = &s->totals[x], *q = &s->totals[y];
	int order = 0;

	switch (s->sort) {
	case STATS_BY_BYTES:
		order = fall(p->bytes, q->bytes);
		break;
	case STATS_BY_LATENCY:
		order = fall(p->latency, q->latency);
		break;
	case STATS_BY_COUNT:
	case STATS_BY_NAME:
		break;
	}
	if (!order && s->sort != STATS_BY_NAME)
		order = fall(p->count, q->count);
	return order ? order : key_table_compare(&s->table, x, y);
}

/* Gives each key its place, by the sums over all intervals. */
static void rank(struct stats *s)
{
	size_t nr = s->table.names.nr;
	__u32 *order = xreallocarray(NULL, nr, sizeof(*order));
	size_t i;

	for (i = 0; i < nr; i++)
		order[i] = i;
	qsort_r(order, nr, sizeof(*order), compare_keys, s);
	for (i = 0; i < nr; i++)
		s->totals[order[i]].rank = i;
	free(order);
}

static void free_row(struct stats_row *row)
{
	distribution_free(&row->latencies);
	distribution_free(&row->sizes);
	free(row->errors);
}

static void fold(struct stats_row *to, struct stats_row *from)
{
	size_t i;

	to->folded++;
	to->records += from->records;
	to->count += from->count;
	to->bytes += from->bytes;
	to->sized += from->sized;
	to->device_time += from->device_time;
	widen(&to->size, from->size.total, from->size.least, from->size.most);
	widen(&to->latency, from->latency.total, from->latency.least, from->latency.most);
	distribution_merge(&to->latencies, &from->latencies);
	distribution_merge(&to->sizes, &from->sizes);
	for (i = 0; i < from->nr_errors; i++)
		add_error(to, from->errors[i].error, from->errors[i].count);
	free_row(from);
}

static __u32 rank_of(const struct stats *s, const struct stats_row *row)
{
	return row->key == STATS_OTHERS ? STATS_OTHERS : s->totals[row->key].rank;
}

static int compare_rows(const void *a, const void *b, void *data)
{
	const struct stats_row *x = a, *y = b;
	const struct stats *s = data;
	__u32 p = rank_of(s, x), q = rank_of(s, y);

	if (x->interval != y->interval)
		return x->interval < y->interval ? -1 : 1;
	return (p > q) - (p < q);
}

/* Rows are sorted: those of an interval that are not among the top ones follow each other. */
static void fold_rest(struct stats *s)
{
	size_t from, to = 0;

	for (from = 0; from < s->nr; from++) {
		struct stats_row row = s->rows[from], *last = to ? &s->rows[to - 1] : NULL;

		if (rank_of(s, &row) < s->top) {
			s->rows[to++] = row;
			continue;
		}
		if (!last || last->key != STATS_OTHERS || last->interval != row.interval) {
			last = &s->rows[to++];
			*last = (struct stats_row){
				.key = STATS_OTHERS, .interval = row.interval,
				.size.least = ~0ULL, .latency.least = ~0ULL,
			};
		}
		fold(last, &row);
	}
	s->nr = to;
}

static int compare_errors(const void *a, const void *b)
{
	const struct stats_error *x = a, *y = b;
	int order = fall(x->count, y->count);

	return order ? order : (x->error > y->error) - (x->error < y->error);
}

static void finish_row(const struct stats *s, struct stats_row *row)
{
	if (!s->no_percentiles) {
		distribution_percentiles(&row->latencies, stats_parts, STATS_PERCENTILES, row->percentiles);
		distribution_bounds(&row->latencies, stats_parts, STATS_PERCENTILES, s->missing, row->low,
				    row->high);
		distribution_percentiles(&row->sizes, stats_parts, STATS_PERCENTILES, row->size_percentiles);
	}
	distribution_free(&row->latencies);
	distribution_free(&row->sizes);
	if (row->nr_errors)
		qsort(row->errors, row->nr_errors, sizeof(*row->errors), compare_errors);
}

/* From a row on, those of the same interval. Returns the first row behind them. */
static size_t add_point(struct stats *s, size_t i)
{
	static const unsigned int p99 = 9900;
	struct stats_point *point = &s->points[s->nr_points++];
	struct distribution latencies = { .nr = 0 };

	*point = (struct stats_point){ .interval = s->rows[i].interval };
	for (; i < s->nr && s->rows[i].interval == point->interval; i++) {
		point->count += s->rows[i].count;
		point->bytes += s->rows[i].bytes;
		distribution_merge(&latencies, &s->rows[i].latencies);
	}
	distribution_percentiles(&latencies, &p99, 1, &point->p99);
	distribution_free(&latencies);
	return i;
}

/* The rows are sorted. */
static void make_points(struct stats *s)
{
	size_t i = 0;

	s->points = xreallocarray(NULL, s->nr, sizeof(*s->points));
	while (i < s->nr)
		i = add_point(s, i);
}

void stats_finish(struct stats *s)
{
	size_t i;

	if (!s->nr)
		return;
	rank(s);
	qsort_r(s->rows, s->nr, sizeof(*s->rows), compare_rows, s);
	if (s->top)
		fold_rest(s);
	if (s->with_points)
		make_points(s);
	for (i = 0; i < s->nr; i++)
		finish_row(s, &s->rows[i]);
}

void stats_free(struct stats *s)
{
	size_t i;

	for (i = 0; i < s->nr; i++)
		free_row(&s->rows[i]);
	free(s->rows);
	free(s->totals);
	free(s->points);
	key_table_close(&s->table);
	page_set_free(&s->pages);
	busy_free(&s->busy);
	intern_free(&s->cells);
}
