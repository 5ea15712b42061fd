// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/scaled.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "trace/key_text.h"
#include "trace/stats_report.h"

/* --- numbers -------------------------------------------------------------------- */

double stats_interval_seconds(const struct stats_report *r, __s64 interval)
{
	const struct stats *s = r->stats;
	double begin = r->begin, end = r->end, from;

	if (s->interval) {
		from = (double)s->origin + (double)interval * s->interval;
		begin = from > begin ? from : begin;
		end = from + s->interval < end ? from + s->interval : end;
	}
	return end > begin ? (end - begin) / STATS_NS_PER_S : 0;
}

double stats_row_seconds(const struct stats_report *r, const struct stats_row *row)
{
	return stats_interval_seconds(r, row->interval);
}

void stats_intervals(const struct stats_report *r, __s64 *first, __s64 *last)
{
	const struct stats *s = r->stats;

	*first = r->begin > s->origin ? (r->begin - s->origin) / s->interval : 0;
	*last = r->end > s->origin ? (r->end - 1 - s->origin) / s->interval : 0;
	*last = *last < *first ? *first : *last;
}

double stats_interval_since(const struct stats *s, __s64 interval)
{
	return (double)interval * s->interval / STATS_NS_PER_S;
}

double stats_row_since(const struct stats *s, const struct stats_row *row)
{
	return stats_interval_since(s, row->interval);
}

char *stats_error_name(unsigned int error)
{
	const char *name = strerrorname_np(error);

	return name ? xstrdup(name) : xasprintf("%u", error);
}

struct key_text stats_row_keys(const struct stats *s, const struct stats_row *row)
{
	bool others = row->key == STATS_OTHERS;

	return (struct key_text){
		.table = &s->table, .key = row->key, .folded = row->folded,
		.command = !s->with_command ? NULL : others ? "" : s->totals[row->key].command,
	};
}

bool stats_row_has_pages(const struct stats *s, const struct stats_row *row)
{
	return s->with_pages && row->key != STATS_OTHERS;
}

double stats_row_invalidation(const struct stats_row *row)
{
	return (double)row->writes / row->written;
}

/* --- JSON ----------------------------------------------------------------------- */

static json_t *json_number(bool known, double n)
{
	return known ? json_real(n) : json_null();
}

static json_t *json_range(json_t *low, json_t *high)
{
	json_t *range = json_array();

	json_add(range, low);
	json_add(range, high);
	return range;
}

/* [low, high]; null is no bound. */
static json_t *json_bounds(const struct stats_report *r, const struct stats_row *row)
{
	json_t *bounds = json_object(), *latency = json_object();
	bool known = stats_is_bounded(r), open;
	size_t i;

	open = !known || r->stats->missing > ~row->count;
	json_put(bounds, "count", json_range(json_unsigned(stats_row_least(r, row)),
					     open ? json_null() : json_unsigned(row->count + r->stats->missing)));
	for (i = 0; i < STATS_PERCENTILES; i++) {
		open = !known || row->high[i] == DISTRIBUTION_NONE;
		json_put(latency, stats_part_names[i],
			 json_range(known ? json_unsigned(row->low[i]) : json_null(),
				    open ? json_null() : json_unsigned(row->high[i])));
	}
	json_put(bounds, "latency_ns", latency);
	return bounds;
}

static json_t *json_size(const struct stats_row *row)
{
	json_t *size = json_object();
	size_t i;

	if (!row->sized) {
		json_decref(size);
		return json_null();
	}
	json_put(size, "count", json_integer(row->sized));
	json_put(size, "avg", json_real(stats_mean(row->bytes, row->sized)));
	json_put(size, "min", json_integer(row->size.least));
	json_put(size, "max", json_integer(row->size.most));
	for (i = 0; i < STATS_PERCENTILES; i++)
		json_put(size, stats_part_names[i], json_integer(row->size_percentiles[i]));
	return size;
}

static json_t *json_latency(const struct stats_row *row)
{
	json_t *latency = json_object();
	size_t i;

	json_put(latency, "total", json_integer(row->latency.total));
	json_put(latency, "avg", json_real(stats_mean(row->latency.total, row->count)));
	json_put(latency, "min", json_integer(row->latency.least));
	for (i = 0; i < STATS_PERCENTILES; i++)
		json_put(latency, stats_part_names[i], json_integer(row->percentiles[i]));
	json_put(latency, "max", json_integer(row->latency.most));
	return latency;
}

static json_t *json_errors(const struct stats_row *row)
{
	json_t *errors = json_object();
	size_t i;

	for (i = 0; i < row->nr_errors; i++) {
		char *name = stats_error_name(row->errors[i].error);

		json_put(errors, name, json_integer(row->errors[i].count));
		free(name);
	}
	return errors;
}

static json_t *json_device_share(const struct stats *s, const struct stats_row *row)
{
	return json_number(s->device_time,
			   s->device_time ? 100.0 * row->device_time / s->device_time : 0);
}

static void json_pages(json_t *object, const struct stats *s, const struct stats_row *row)
{
	bool pages = stats_row_has_pages(s, row);

	json_put(object, "working_set_bytes", pages ? json_integer(row->touched * STATS_PAGE) : json_null());
	json_put(object, "written_set_bytes", pages ? json_integer(row->written * STATS_PAGE) : json_null());
	json_put(object, "write_invalidation_factor",
		 json_number(pages && row->written, row->written ? stats_row_invalidation(row) : 0));
}

static json_t *json_devices(const struct stats_report *r)
{
	const struct busy *b = &r->stats->busy;
	json_t *devices = json_array();
	size_t i;

	for (i = 0; i < busy_devices(b); i++) {
		const struct busy_device *d = &b->devices[i];
		char *name = xasprintf("%u:%u", d->device >> 20, d->device & 0xfffff);
		json_t *object = json_object();
		__u64 time = busy_time(d);

		json_put(object, "device", json_string(name));
		json_put(object, "busy_ns", json_integer(time));
		json_put(object, "device_time_ns", json_integer(d->time));
		json_put(object, "requests_while_busy",
			 json_number(time, time ? (double)d->time / time : 0));
		json_add(devices, object);
		free(name);
	}
	return devices;
}

static json_t *json_row(const struct stats_report *r, const struct stats_row *row)
{
	const struct key_text k = stats_row_keys(r->stats, row);
	double seconds = stats_row_seconds(r, row);
	json_t *object = json_object();

	if (r->stats->interval)
		json_put(object, "since_s", json_real(stats_row_since(r->stats, row)));
	key_text_json(object, &k);
	json_put(object, "count", json_integer(row->count));
	json_put(object, "errors", json_integer(row->failed));
	json_put(object, "errors_by_name", json_errors(row));
	json_put(object, "bytes", json_integer(row->bytes));
	json_put(object, "size_bytes", json_size(row));
	json_put(object, "latency_ns", json_latency(row));
	json_put(object, "bounds", json_bounds(r, row));
	json_put(object, "iops", json_number(seconds, seconds ? row->count / seconds : 0));
	json_put(object, "mib_per_s",
		 json_number(seconds, seconds ? row->bytes / STATS_MIB / seconds : 0));
	if (r->stats->device_latency) {
		json_put(object, "device_time_ns", json_integer(row->device_time));
		json_put(object, "device_time_percent", json_device_share(r->stats, row));
	}
	if (r->stats->with_pages)
		json_pages(object, r->stats, row);
	return object;
}

static json_t *json_point(const struct stats_report *r, const struct stats_point *point)
{
	double seconds = stats_interval_seconds(r, point->interval);
	json_t *object = json_object();

	json_put(object, "since_s", json_real(stats_interval_since(r->stats, point->interval)));
	json_put(object, "count", json_unsigned(point->count));
	json_put(object, "bytes", json_unsigned(point->bytes));
	json_put(object, "iops", json_number(seconds, seconds ? point->count / seconds : 0));
	json_put(object, "mib_per_s", json_number(seconds, seconds ? point->bytes / STATS_MIB / seconds : 0));
	json_put(object, "latency_p99_ns", json_unsigned(point->p99));
	return object;
}

static json_t *json_points(const struct stats_report *r)
{
	json_t *points = json_array();
	size_t i;

	for (i = 0; i < r->stats->nr_points; i++)
		json_add(points, json_point(r, &r->stats->points[i]));
	return points;
}

json_t *stats_report_json(const struct stats_report *r)
{
	const struct stats *s = r->stats;
	json_t *object = json_object(), *rows = json_array();
	size_t i;

	json_put(object, "category", json_string(r->category));
	json_put(object, "duration_s",
		 json_real(r->end > r->begin ? (r->end - r->begin) / STATS_NS_PER_S : 0));
	json_put(object, "count", json_integer(s->count));
	json_put(object, "errors", json_integer(s->failed));
	json_put(object, "bytes", json_integer(s->bytes));
	basis_json(object, &r->basis);
	if (s->device_latency)
		json_put(object, "devices", json_devices(r));
	if (s->with_pages)
		json_put(object, "working_sets_are_complete", json_boolean(!s->pages.full));
	for (i = 0; i < s->nr; i++)
		json_add(rows, json_row(r, &s->rows[i]));
	json_put(object, "rows", rows);
	if (s->with_points)
		json_put(object, "intervals", json_points(r));
	return object;
}

/* --- CSV ------------------------------------------------------------------------ */

void stats_report_csv_header(const struct stats *s, bool with_pages)
{
	size_t i;

	fputs("category,", stdout);
	if (s->interval)
		fputs("since_s,", stdout);
	key_text_csv_header(s->keys);
	fputs("count,errors,bytes,size_avg_bytes,size_min_bytes,size_max_bytes,latency_total_ns,latency_avg_ns,latency_min_ns,",
	      stdout);
	for (i = 0; i < STATS_PERCENTILES; i++)
		printf("latency_%s_ns,", stats_part_names[i]);
	fputs("latency_max_ns,iops,mib_per_s,device_time_ns,device_time_percent,", stdout);
	if (with_pages)
		fputs("working_set_bytes,written_set_bytes,write_invalidation_factor,", stdout);
	for (i = 0; i < STATS_PERCENTILES; i++)
		printf("size_%s_bytes,", stats_part_names[i]);
	fputs("count_low,count_high,", stdout);
	for (i = 0; i < STATS_PERCENTILES; i++)
		printf("latency_%s_low_ns,latency_%s_high_ns,", stats_part_names[i], stats_part_names[i]);
	puts(BASIS_CSV_HEADER);
}

static void put_number(__u64 n)
{
	printf("%llu,", (unsigned long long)n);
}

static void csv_sizes(const struct stats_row *row)
{
	if (!row->sized) {
		fputs(",,,", stdout);
		return;
	}
	printf("%.3f,", stats_mean(row->bytes, row->sized));
	put_number(row->size.least);
	put_number(row->size.most);
}

static void csv_latencies(const struct stats_row *row)
{
	size_t i;

	put_number(row->latency.total);
	printf("%.3f,", stats_mean(row->latency.total, row->count));
	put_number(row->latency.least);
	for (i = 0; i < STATS_PERCENTILES; i++)
		put_number(row->percentiles[i]);
	put_number(row->latency.most);
}

static void csv_work(const struct stats_report *r, const struct stats_row *row)
{
	const struct stats *s = r->stats;

	if (s->device_latency)
		put_number(row->device_time);
	else
		putchar(',');
	if (s->device_time)
		printf("%.3f", 100.0 * row->device_time / s->device_time);
	putchar(',');
	if (!r->with_pages)
		return;
	if (!stats_row_has_pages(s, row)) {
		fputs(",,,", stdout);
		return;
	}
	put_number(row->touched * STATS_PAGE);
	put_number(row->written * STATS_PAGE);
	if (row->written)
		printf("%.3f", stats_row_invalidation(row));
	putchar(',');
}

static void csv_size_percentiles(const struct stats_row *row)
{
	size_t i;

	for (i = 0; i < STATS_PERCENTILES; i++)
		if (row->sized)
			put_number(row->size_percentiles[i]);
		else
			putchar(',');
}

static void put_bound(bool known, __u64 n)
{
	if (known)
		put_number(n);
	else
		putchar(',');
}

/* What has no bound is empty. */
static void csv_bounds(const struct stats_report *r, const struct stats_row *row)
{
	bool known = stats_is_bounded(r);
	size_t i;

	put_number(stats_row_least(r, row));
	put_bound(known && r->stats->missing <= ~row->count, row->count + r->stats->missing);
	for (i = 0; i < STATS_PERCENTILES; i++) {
		put_bound(known, row->low[i]);
		put_bound(known && row->high[i] != DISTRIBUTION_NONE, row->high[i]);
	}
}

static void csv_row(const struct stats_report *r, const struct stats_row *row)
{
	const struct key_text k = stats_row_keys(r->stats, row);
	double seconds = stats_row_seconds(r, row);

	printf("%s,", r->category);
	if (r->stats->interval)
		printf("%.9f,", stats_row_since(r->stats, row));
	key_text_csv(&k);
	put_number(row->count);
	put_number(row->failed);
	put_number(row->bytes);
	csv_sizes(row);
	csv_latencies(row);
	if (seconds)
		printf("%.3f,%.3f,", row->count / seconds, row->bytes / STATS_MIB / seconds);
	else
		fputs(",,", stdout);
	csv_work(r, row);
	csv_size_percentiles(row);
	csv_bounds(r, row);
	basis_csv(&r->basis);
	putchar('\n');
}

void stats_report_csv(const struct stats_report *r)
{
	size_t i;

	for (i = 0; i < r->stats->nr; i++)
		csv_row(r, &r->stats->rows[i]);
}
