// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bar.h"
#include "base/cli.h"
#include "base/json.h"
#include "base/scaled.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "trace/key_text.h"
#include "trace/stats_report.h"
#include "trace/stats_series.h"

#define SHARES_BAR 36	/* columns */

/* --- text ----------------------------------------------------------------------- */

/* "READ", "+1.5s 8:1 READ", "3 others" */
static void put_label(const struct stats *s, const struct stats_row *row)
{
	const struct key_text k = stats_row_keys(s, row);
	char *keys = key_text(&k);
	char *label = s->interval ? xasprintf("%+.10gs %s", stats_row_since(s, row), keys) : xstrdup(keys);

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
	double seconds = stats_row_seconds(r, row);

	put_label(r->stats, row);
	printf("%8s%7s%8s%8s%8s%8s%8s%8s\n", scaled_number(cells[0], row->count),
	       scaled_number(cells[1], row->failed), cell_size(cells[2], row, row->bytes),
	       cell_size(cells[3], row, stats_mean(row->bytes, row->sized)),
	       cell_size(cells[4], row, row->size.least), cell_size(cells[5], row, row->size.most),
	       seconds ? scaled_number(cells[6], row->count / seconds) : "-",
	       seconds && row->sized ? scaled_number(cells[7], row->bytes / STATS_MIB / seconds) : "-");
}

static void row_of_latencies(const struct stats_report *r, const struct stats_row *row)
{
	char cell[SCALED];
	size_t i;

	put_label(r->stats, row);
	printf("%7s", scaled_time(cell, row->latency.total));
	printf("%7s", scaled_time(cell, stats_mean(row->latency.total, row->count)));
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
		name = stats_error_name(row->errors[i].error);
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

/* What rows are sorted by, which a bar shows; of those that moved no bytes, and by name, the events. */
static double sorted_by(const struct stats *s, double count, double bytes, double latency)
{
	if (s->sort == STATS_BY_LATENCY)
		return latency;
	return s->sort == STATS_BY_BYTES && s->bytes ? bytes : count;
}

static double bar_value(const struct stats *s, const struct stats_row *row)
{
	return sorted_by(s, row->count, row->bytes, row->latency.total);
}

static void put_share(double part, double all)
{
	if (all > 0)
		printf("%7.1f%%", 100 * part / all);
	else
		printf("%8s", "-");
}

static void row_of_shares(const struct stats *s, const struct stats_row *row, double latency, double most)
{
	char text[BAR];
	__u64 part = most > 0 ? SHARES_BAR * 8 * bar_value(s, row) / most + 0.5 : 0;

	put_label(s, row);
	put_share(row->count, s->count);
	put_share(row->bytes, row->sized ? s->bytes : 0);
	put_share(row->latency.total, latency);
	bar(text, part, SHARES_BAR * 8, SHARES_BAR, NULL);
	printf("%s%s\n", *text ? "  " : "", text);
}

/* Of all rows together, which are all events that are wanted. The longest bar is that of the largest row. */
static void put_shares(const struct stats *s)
{
	double latency = 0, most = 0;
	size_t i;

	for (i = 0; i < s->nr; i++) {
		latency += s->rows[i].latency.total;
		if (bar_value(s, &s->rows[i]) > most)
			most = bar_value(s, &s->rows[i]);
	}
	heading(s, "  EVENTS   BYTES LATENCY");
	for (i = 0; i < s->nr; i++)
		row_of_shares(s, &s->rows[i], latency, most);
}

static void row_of_work(const struct stats_report *r, const struct stats_row *row)
{
	const struct stats *s = r->stats;
	bool pages = stats_row_has_pages(s, row);
	char cell[SCALED];

	put_label(s, row);
	if (s->device_latency)
		printf("%8s%8.1f%%", scaled_time(cell, row->device_time),
		       s->device_time ? 100.0 * row->device_time / s->device_time : 0);
	if (s->with_pages) {
		printf("%10s", pages ? scaled_size(cell, (double)row->touched * STATS_PAGE) : "-");
		printf("%10s", pages ? scaled_size(cell, (double)row->written * STATS_PAGE) : "-");
		printf("%10s", pages && row->written ?
		       scaled_number(cell, stats_row_invalidation(row)) : "-");
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
	double seconds = r->end > r->begin ? (r->end - r->begin) / STATS_NS_PER_S : 0;
	char rate[SCALED], size[SCALED], time[SCALED];

	printf("%s%s%s: %llu events in %s", CLI_BOLD, r->category, CLI_PLAIN,
	       (unsigned long long)s->count, scaled_time(time, seconds * STATS_NS_PER_S));
	if (seconds)
		printf(", %s IOPS", scaled_number(rate, s->count / seconds));
	if (s->bytes)
		printf(", %s", scaled_size(size, s->bytes));
	if (s->bytes && seconds)
		printf(", %s/s", scaled_size(size, s->bytes / seconds));
	putchar('\n');
}

/* "1.23us..4.56us", "1.23us..": nothing is known of the end */
static void put_bounds(const struct stats_row *row, size_t i)
{
	char low[SCALED], high[SCALED], cell[2 * SCALED + 2];

	snprintf(cell, sizeof(cell), "%s..%s", scaled_time(low, row->low[i]),
		 row->high[i] == DISTRIBUTION_NONE ? "" : scaled_time(high, row->high[i]));
	printf("%17s", cell);
}

static void row_of_bounds(const struct stats_report *r, const struct stats_row *row)
{
	char cell[SCALED];

	put_label(r->stats, row);
	printf("%12s", scaled_number(cell, (double)row->count + r->stats->missing));
	put_bounds(row, 0);
	put_bounds(row, 1);
	put_bounds(row, 2);
	putchar('\n');
}

/*
 * Counts and sums of the other tables are lower bounds. These are what the missing events could
 * change.
 */
static void put_all_bounds(const struct stats_report *r)
{
	const struct stats *s = r->stats;
	size_t i;

	heading(s, "     AT MOST    BOUNDS OF P50           OF P90           OF P99");
	for (i = 0; i < s->nr; i++)
		row_of_bounds(r, &s->rows[i]);
}

void stats_report_text(const struct stats_report *r)
{
	const struct stats *s = r->stats;
	bool latencies = false, errors = r->with_errors && s->failed;
	size_t i;

	put_title(r);
	if (s->with_points)
		stats_series_text(r);
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
	if (s->nr > 1)
		put_shares(s);
	if (s->nr && (s->device_latency || s->with_pages))
		put_work(r);
	if (errors)
		heading(s, "ERRORS");
	for (i = 0; errors && i < s->nr; i++)
		if (s->rows[i].failed)
			row_of_errors(r, &s->rows[i]);
	if (s->nr && s->missing && stats_is_bounded(r))
		put_all_bounds(r);
	basis_text(&r->basis);
}
