// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/csv.h"
#include "base/json.h"
#include "base/scaled.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "trace/stats_report.h"

#define WIDTH		80
#define NAME_WIDTH	17	/* of the first column; a longer name has a line of its own */
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

/* "READ", "+1.5s 8:1 READ", "3 others"; the caller frees it. */
static char *label_of(const struct stats *s, const struct stats_row *row)
{
	char *label = s->interval ? xasprintf("%+.10gs", since(s, row)) : NULL;
	char *others;
	size_t i;

	if (row->key == STATS_OTHERS) {
		others = xasprintf(row->folded == 1 ? "1 other" : "%u others", row->folded);
		label = text_append(label, " ", others);
		free(others);
		return label;
	}
	for (i = 0; i < s->keys->nr; i++) {
		const char *text = stats_row_key(s, row, i);

		label = text_append(label, " ", *text ? text : "(none)");
	}
	if (s->with_command)
		label = text_append(label, " ", s->totals[row->key].command);
	return label;
}

static void put_label(const struct stats *s, const struct stats_row *row)
{
	char *label = label_of(s, row);
	size_t width = text_width(label);

	if (width < NAME_WIDTH)
		printf("%s%*s", label, (int)(NAME_WIDTH - width), "");
	else if (width <= WIDTH)
		printf("%s\n%*s", label, NAME_WIDTH, "");
	else
		/* The end of a path says most. */
		printf("...%s\n%*s", text_end(label, WIDTH - 3), NAME_WIDTH, "");
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
		if (line && NAME_WIDTH + strlen(line) + strlen(word) + 3 > WIDTH) {
			printf("%s,\n%*s", line, NAME_WIDTH, "");
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
	char *name = s->interval ? xstrdup("TIME") : NULL;
	size_t i;

	for (i = 0; i < s->keys->nr; i++) {
		char *upper = xstrdup(stats_key_name(&s->keys->at[i])), *at;

		for (at = upper; *at; at++)
			*at -= 'a' - 'A';
		name = text_append(name, " ", upper);
		free(upper);
	}
	if (strlen(name) < NAME_WIDTH)
		printf("\n%s%-*s%s%s\n", CLI_BOLD, NAME_WIDTH, name, columns, CLI_PLAIN);
	else
		printf("\n%s%s\n%*s%s%s\n", CLI_BOLD, name, NAME_WIDTH, "", columns, CLI_PLAIN);
	free(name);
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

/* The keys of a row; null for those of others. */
static void json_keys(json_t *object, const struct stats *s, const struct stats_row *row)
{
	bool others = row->key == STATS_OTHERS;
	size_t i;

	if (s->interval)
		json_put(object, "since_s", json_real(since(s, row)));
	for (i = 0; i < s->keys->nr; i++)
		json_put(object, stats_key_name(&s->keys->at[i]),
			 others ? json_null() : json_string(stats_row_key(s, row, i)));
	if (s->with_command)
		json_put(object, "command",
			 others ? json_null() : json_string(s->totals[row->key].command));
	json_put(object, "others", json_integer(row->folded));
}

static json_t *json_row(const struct stats_report *r, const struct stats_row *row)
{
	double seconds = seconds_of(r, row);
	json_t *object = json_object();

	json_keys(object, r->stats, row);
	json_put(object, "count", json_integer(row->count));
	json_put(object, "errors", json_integer(row->failed));
	json_put(object, "errors_by_name", json_errors(row));
	json_put(object, "bytes", json_integer(row->bytes));
	json_put(object, "size_bytes", json_size(row));
	json_put(object, "latency_ns", json_latency(row));
	json_put(object, "iops", json_number(seconds, seconds ? row->count / seconds : 0));
	json_put(object, "mib_per_s",
		 json_number(seconds, seconds ? row->bytes / MIB / seconds : 0));
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
	for (i = 0; i < s->nr; i++)
		json_add(rows, json_row(r, &s->rows[i]));
	json_put(object, "rows", rows);
	return object;
}

/* --- CSV ------------------------------------------------------------------------ */

void stats_report_csv_header(const struct stats *s)
{
	size_t i;

	fputs("category,", stdout);
	if (s->interval)
		fputs("since_s,", stdout);
	for (i = 0; i < s->keys->nr; i++)
		printf("%s,", stats_key_name(&s->keys->at[i]));
	if (stats_keys_have_command(s->keys))
		fputs("command,", stdout);
	fputs("others,count,errors,bytes,size_avg_bytes,size_min_bytes,size_max_bytes,latency_total_ns,latency_avg_ns,latency_min_ns,",
	      stdout);
	for (i = 0; i < STATS_PERCENTILES; i++)
		printf("latency_%s_ns,", stats_part_names[i]);
	puts("latency_max_ns,iops,mib_per_s," BASIS_CSV_HEADER);
}

static void put_text(const char *text)
{
	size_t length = strlen(text);
	char *field = xreallocarray(NULL, 4 * length + 2, 1);

	printf("%.*s,", (int)(csv_put(field, text, length) - field), field);
	free(field);
}

static void csv_keys(const struct stats *s, const struct stats_row *row)
{
	bool others = row->key == STATS_OTHERS;
	size_t i;

	if (s->interval)
		printf("%.9f,", since(s, row));
	for (i = 0; i < s->keys->nr; i++)
		put_text(others ? "" : stats_row_key(s, row, i));
	if (s->with_command)
		put_text(others ? "" : s->totals[row->key].command);
	printf("%u,", row->folded);
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

static void csv_row(const struct stats_report *r, const struct stats_row *row)
{
	double seconds = seconds_of(r, row);

	printf("%s,", r->category);
	csv_keys(r->stats, row);
	put_number(row->count);
	put_number(row->failed);
	put_number(row->bytes);
	csv_sizes(row);
	csv_latencies(row);
	if (seconds)
		printf("%.3f,%.3f,", row->count / seconds, row->bytes / MIB / seconds);
	else
		fputs(",,", stdout);
	basis_csv(&r->basis);
	putchar('\n');
}

void stats_report_csv(const struct stats_report *r)
{
	size_t i;

	for (i = 0; i < r->stats->nr; i++)
		csv_row(r, &r->stats->rows[i]);
}
