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

#define PAGE		4096
#define MIB		(1024.0 * 1024)
#define NS_PER_S	1e9

/* --- numbers -------------------------------------------------------------------- */

static double mean(__u64 sum, __u64 nr)
{
	return nr ? (double)sum / nr : 0;
}

/* The seconds that a row's rates are of: those of its interval that the whole time has. */
static double seconds_of(const struct stats_report *r, const struct stats_row *row)
{
	const struct stats *s = r->stats;
	double begin = r->begin, end = r->end, from;

	if (s->interval) {
		from = (double)s->origin + (double)row->interval * s->interval;
		begin = from > begin ? from : begin;
		end = from + s->interval < end ? from + s->interval : end;
	}
	return end > begin ? (end - begin) / NS_PER_S : 0;
}

/* Where an interval begins, in seconds from the beginning of the trace. */
static double since(const struct stats *s, const struct stats_row *row)
{
	return (double)row->interval * s->interval / NS_PER_S;
}

/* The name of an error, or its number if it has none. The caller frees it. */
static char *error_name(unsigned int error)
{
	const char *name = strerrorname_np(error);

	return name ? xstrdup(name) : xasprintf("%u", error);
}

/* --- text ----------------------------------------------------------------------- */

static struct key_text keys_of(const struct stats *s, const struct stats_row *row)
{
	bool others = row->key == STATS_OTHERS;

	return (struct key_text){
		.table = &s->table, .key = row->key, .folded = row->folded,
		.command = !s->with_command ? NULL : others ? "" : s->totals[row->key].command,
	};
}

/* "READ", "+1.5s 8:1 READ", "3 others" */
static void put_label(const struct stats *s, const struct stats_row *row)
{
	const struct key_text k = keys_of(s, row);
	char *keys = key_text(&k);
	char *label = s->interval ? xasprintf("%+.10gs %s", since(s, row), keys) : xstrdup(keys);

	key_text_put_first(label);
	free(keys);
	free(label);
}

static const char *cell_size(char *out, const struct stats_row *row, double bytes)
{
	return row->sized ? scaled_size(out, bytes) : "-";
}

static void row_of_sizes(const struct stats_report *r, const struct stats_row *row)
{
	char cells[8][SCALED];
	double seconds = seconds_of(r, row);

	put_label(r->stats, row);
	printf("%8s%7s%8s%8s%8s%8s%8s%8s\n", scaled_number(cells[0], row->count),
	       scaled_number(cells[1], row->failed), cell_size(cells[2], row, row->bytes),
	       cell_size(cells[3], row, mean(row->bytes, row->sized)),
	       cell_size(cells[4], row, row->size.least), cell_size(cells[5], row, row->size.most),
	       seconds ? scaled_number(cells[6], row->count / seconds) : "-",
	       seconds && row->sized ? scaled_number(cells[7], row->bytes / MIB / seconds) : "-");
}

static void row_of_latencies(const struct stats_report *r, const struct stats_row *row)
{
	char cell[SCALED];
	size_t i;

	put_label(r->stats, row);
	printf("%7s", scaled_time(cell, row->latency.total));
	printf("%7s", scaled_time(cell, mean(row->latency.total, row->count)));
	printf("%7s", scaled_time(cell, row->latency.least));
	for (i = 0; i < STATS_PERCENTILES; i++)
		printf("%7s", scaled_time(cell, row->percentiles[i]));
	printf("%7s\n", scaled_time(cell, row->latency.most));
}

/* "READ             EIO 3, EAGAIN 12", in as many lines as it needs. */
static void row_of_errors(const struct stats_report *r, const struct stats_row *row)
{
	char *line = NULL, *name, *word;
	size_t i;

	put_label(r->stats, row);
	for (i = 0; i < row->nr_errors; i++) {
		name = error_name(row->errors[i].error);
		word = xasprintf("%s %llu", name, (unsigned long long)row->errors[i].count);
		if (line && KEY_TEXT_FIRST + strlen(line) + strlen(word) + 3 > KEY_TEXT_WIDTH) {
			printf("%s,\n%*s", line, KEY_TEXT_FIRST, "");
			free(line);
			line = NULL;
		}
		line = text_append(line, ", ", word);
		free(word);
		free(name);
	}
	puts(line);
	free(line);
}

static void heading(const struct stats *s, const char *columns)
{
	char *keys = key_text_heading(s->keys);
	char *name = s->interval ? xasprintf("TIME %s", keys) : xstrdup(keys);

	if (strlen(name) < KEY_TEXT_FIRST)
		printf("\n%s%-*s%s%s\n", CLI_BOLD, KEY_TEXT_FIRST, name, columns, CLI_PLAIN);
	else
		printf("\n%s%s\n%*s%s%s\n", CLI_BOLD, name, KEY_TEXT_FIRST, "", columns, CLI_PLAIN);
	free(keys);
	free(name);
}

/* The part of the rows that others are of is not known: they may have touched the same pages. */
static bool has_pages(const struct stats *s, const struct stats_row *row)
{
	return s->with_pages && row->key != STATS_OTHERS;
}

static double invalidation_of(const struct stats_row *row)
{
	return (double)row->writes / row->written;
}

static void row_of_work(const struct stats_report *r, const struct stats_row *row)
{
	const struct stats *s = r->stats;
	bool pages = has_pages(s, row);
	char cell[SCALED];

	put_label(s, row);
	if (s->device_latency)
		printf("%8s%8.1f%%", scaled_time(cell, row->device_time),
		       s->device_time ? 100.0 * row->device_time / s->device_time : 0);
	if (s->with_pages) {
		printf("%10s", pages ? scaled_size(cell, (double)row->touched * PAGE) : "-");
		printf("%10s", pages ? scaled_size(cell, (double)row->written * PAGE) : "-");
		printf("%10s", pages && row->written ?
		       scaled_number(cell, invalidation_of(row)) : "-");
	}
	putchar('\n');
}

/* "8:0 was busy for 3.21s of 10.0s, with 1.4 requests on average" */
static void put_busy(const struct stats_report *r)
{
	const struct stats *s = r->stats;
	char busy[SCALED], all[SCALED];
	size_t i;

	putchar('\n');
	for (i = 0; i < busy_devices(&s->busy); i++) {
		const struct busy_device *d = &s->busy.devices[i];
		__u64 time = busy_time(d);

		printf("%u:%u was busy for %s of %s", d->device >> 20, d->device & 0xfffff,
		       scaled_time(busy, time),
		       scaled_time(all, r->end > r->begin ? r->end - r->begin : 0));
		if (time)
			printf(", with %.2f requests on average", (double)d->time / time);
		putchar('\n');
	}
}

static void put_work(const struct stats_report *r)
{
	const struct stats *s = r->stats;
	char *columns = xasprintf("%s%s", s->device_latency ? "  DEVICE    SHARE" : "",
				  s->with_pages ? "   TOUCHED   WRITTEN       WIF" : "");
	size_t i;

	heading(s, columns);
	free(columns);
	for (i = 0; i < s->nr; i++)
		row_of_work(r, &s->rows[i]);
	if (s->device_latency)
		put_busy(r);
	if (s->pages.full)
		printf("%smore than %u ranges of 256 KiB: TOUCHED and WRITTEN are lower bounds%s\n",
		       CLI_YELLOW, PAGE_SET_MOST, CLI_PLAIN);
}

static void put_title(const struct stats_report *r)
{
	const struct stats *s = r->stats;
	double seconds = r->end > r->begin ? (r->end - r->begin) / NS_PER_S : 0;
	char rate[SCALED], size[SCALED], time[SCALED];

	printf("%s%s%s: %llu events in %s", CLI_BOLD, r->category, CLI_PLAIN,
	       (unsigned long long)s->count, scaled_time(time, seconds * NS_PER_S));
	if (seconds)
		printf(", %s IOPS", scaled_number(rate, s->count / seconds));
	if (s->bytes)
		printf(", %s", scaled_size(size, s->bytes));
	if (s->bytes && seconds)
		printf(", %s/s", scaled_size(size, s->bytes / seconds));
	putchar('\n');
}

void stats_report_text(const struct stats_report *r)
{
	const struct stats *s = r->stats;
	bool latencies = false, errors = r->with_errors && s->failed;
	size_t i;

	put_title(r);
	if (s->nr)
		heading(s, "   COUNT ERRORS   BYTES     AVG     MIN     MAX    IOPS   MiB/s");
	for (i = 0; i < s->nr; i++) {
		row_of_sizes(r, &s->rows[i]);
		latencies |= s->rows[i].latency.most > 0;
	}
	/* Events that are moments have no latency. */
	if (latencies)
		heading(s, "  TOTAL    AVG    MIN    P50    P90    P99  P99.9 P99.99    MAX");
	for (i = 0; latencies && i < s->nr; i++)
		row_of_latencies(r, &s->rows[i]);
	if (s->nr && (s->device_latency || s->with_pages))
		put_work(r);
	if (errors)
		heading(s, "ERRORS");
	for (i = 0; errors && i < s->nr; i++)
		if (s->rows[i].failed)
			row_of_errors(r, &s->rows[i]);
	basis_text(&r->basis);
}

/* --- JSON ----------------------------------------------------------------------- */

static json_t *json_number(bool known, double n)
{
	return known ? json_real(n) : json_null();
}

static json_t *json_size(const struct stats_row *row)
{
	json_t *size = json_object();

	if (!row->sized) {
		json_decref(size);
		return json_null();
	}
	json_put(size, "count", json_integer(row->sized));
	json_put(size, "avg", json_real(mean(row->bytes, row->sized)));
	json_put(size, "min", json_integer(row->size.least));
	json_put(size, "max", json_integer(row->size.most));
	return size;
}

static json_t *json_latency(const struct stats_row *row)
{
	json_t *latency = json_object();
	size_t i;

	json_put(latency, "total", json_integer(row->latency.total));
	json_put(latency, "avg", json_real(mean(row->latency.total, row->count)));
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
		char *name = error_name(row->errors[i].error);

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
	bool pages = has_pages(s, row);

	json_put(object, "working_set_bytes", pages ? json_integer(row->touched * PAGE) : json_null());
	json_put(object, "written_set_bytes", pages ? json_integer(row->written * PAGE) : json_null());
	json_put(object, "write_invalidation_factor",
		 json_number(pages && row->written, row->written ? invalidation_of(row) : 0));
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
	const struct key_text k = keys_of(r->stats, row);
	double seconds = seconds_of(r, row);
	json_t *object = json_object();

	if (r->stats->interval)
		json_put(object, "since_s", json_real(since(r->stats, row)));
	key_text_json(object, &k);
	json_put(object, "count", json_integer(row->count));
	json_put(object, "errors", json_integer(row->failed));
	json_put(object, "errors_by_name", json_errors(row));
	json_put(object, "bytes", json_integer(row->bytes));
	json_put(object, "size_bytes", json_size(row));
	json_put(object, "latency_ns", json_latency(row));
	json_put(object, "iops", json_number(seconds, seconds ? row->count / seconds : 0));
	json_put(object, "mib_per_s",
		 json_number(seconds, seconds ? row->bytes / MIB / seconds : 0));
	if (r->stats->device_latency) {
		json_put(object, "device_time_ns", json_integer(row->device_time));
		json_put(object, "device_time_percent", json_device_share(r->stats, row));
	}
	if (r->stats->with_pages)
		json_pages(object, r->stats, row);
	return object;
}

json_t *stats_report_json(const struct stats_report *r)
{
	const struct stats *s = r->stats;
	json_t *object = json_object(), *rows = json_array();
	size_t i;

	json_put(object, "category", json_string(r->category));
	json_put(object, "duration_s",
		 json_real(r->end > r->begin ? (r->end - r->begin) / NS_PER_S : 0));
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
	printf("%.3f,", mean(row->bytes, row->sized));
	put_number(row->size.least);
	put_number(row->size.most);
}

static void csv_latencies(const struct stats_row *row)
{
	size_t i;

	put_number(row->latency.total);
	printf("%.3f,", mean(row->latency.total, row->count));
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
	if (!has_pages(s, row)) {
		fputs(",,,", stdout);
		return;
	}
	put_number(row->touched * PAGE);
	put_number(row->written * PAGE);
	if (row->written)
		printf("%.3f", invalidation_of(row));
	putchar(',');
}

static void csv_row(const struct stats_report *r, const struct stats_row *row)
{
	const struct key_text k = keys_of(r->stats, row);
	double seconds = seconds_of(r, row);

	printf("%s,", r->category);
	if (r->stats->interval)
		printf("%.9f,", since(r->stats, row));
	key_text_csv(&k);
	put_number(row->count);
	put_number(row->failed);
	put_number(row->bytes);
	csv_sizes(row);
	csv_latencies(row);
	if (seconds)
		printf("%.3f,%.3f,", row->count / seconds, row->bytes / MIB / seconds);
	else
		fputs(",,", stdout);
	csv_work(r, row);
	basis_csv(&r->basis);
	putchar('\n');
}

void stats_report_csv(const struct stats_report *r)
{
	size_t i;

	for (i = 0; i < r->stats->nr; i++)
		csv_row(r, &r->stats->rows[i]);
}
