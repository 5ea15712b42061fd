// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bar.h"
#include "base/cli.h"
#include "base/scaled.h"
#include "base/terminal.h"
#include "base/xalloc.h"
#include "picture/panel.h"
#include "trace/stats_report.h"
#include "trace/stats_series.h"

#define BEFORE		24	/* columns of text before a line's picture */
#define WIDEST		256	/* columns of a picture at most */
#define STEPS		(1U << 20)	/* heights that a column is given as */
#define HEIGHT		120	/* px */
#define DOT		5	/* px */

enum value { IOPS, MIB, P99, VALUES };

static const struct {
	const char *name, *title;	/* in text, in a picture */
	const char *data;		/* attribute of a mark */
} values[VALUES] = {
	{ "IOPS", "operations per second", "iops" },
	{ "MiB/s", "MiB per second", "mib-per-s" },
	{ "P99", "99th percentile of latencies", "latency-p99-ns" },
};

/* --- values --------------------------------------------------------------------- */

static double value_of(const struct stats_report *r, const struct stats_point *point, enum value value)
{
	double seconds = stats_interval_seconds(r, point->interval);

	if (value == P99)
		return point->p99;
	return (value == IOPS ? point->count : point->bytes / STATS_MIB) / seconds;
}

/* An interval outside the time has no rate. */
static bool is_shown(const struct stats_report *r, const struct stats_point *point)
{
	__s64 first, last;

	stats_intervals(r, &first, &last);
	return point->interval >= first && point->interval <= last &&
	       stats_interval_seconds(r, point->interval) > 0;
}

/* When the last interval ends, in seconds since the trace began: the time may end before it does. */
static double until(const struct stats_report *r)
{
	const struct stats *s = r->stats;
	__s64 first, last;
	double end;

	stats_intervals(r, &first, &last);
	end = stats_interval_since(s, last) + stats_interval_seconds(r, last);
	return r->begin <= s->origin && end > stats_interval_since(s, last) ? end : stats_interval_since(s, last + 1);
}

/* The range of a value; of a rate, intervals without events are 0. */
struct range {
	double least, most;
};

static struct range range_of(const struct stats_report *r, enum value value)
{
	const struct stats *s = r->stats;
	struct range range = { .least = INFINITY };
	__s64 first, last, nr = 0;
	size_t i;

	for (i = 0; i < s->nr_points; i++) {
		double v = value_of(r, &s->points[i], value);

		if (!is_shown(r, &s->points[i]))
			continue;
		nr++;
		range.least = v < range.least ? v : range.least;
		range.most = v > range.most ? v : range.most;
	}
	stats_intervals(r, &first, &last);
	if (!nr || (value != P99 && nr <= last - first))
		range.least = 0;
	return range;
}

/* Whether there is anything to see: moments have no latency, and other events move no bytes. */
static bool has(const struct stats_report *r, enum value value)
{
	return value == IOPS || range_of(r, value).most > 0;
}

/* --- text ----------------------------------------------------------------------- */

static char *put_number(char *out, enum value value, double n)
{
	return value == P99 ? scaled_time(out, n) : scaled_number(out, n);
}

/* @each: intervals of a column, which shows the largest. */
static void put_line(const struct stats_report *r, enum value value, unsigned int columns, __u64 each)
{
	const struct stats *s = r->stats;
	struct range range = range_of(r, value);
	char least[SCALED], most[SCALED], spark[3 * WIDEST + 1];
	__u64 heights[WIDEST] = { 0 };
	__s64 first, last;
	size_t i;

	stats_intervals(r, &first, &last);
	for (i = 0; i < s->nr_points; i++) {
		const struct stats_point *point = &s->points[i];
		__u64 height, *at;

		if (!is_shown(r, point) || !range.most)
			continue;
		height = ceil(value_of(r, point, value) / range.most * STEPS);
		at = &heights[(point->interval - first) / each];
		*at = height > *at ? height : *at;
	}
	printf("%-6s%8s%8s  %s\n", values[value].name, put_number(least, value, range.least),
	       put_number(most, value, range.most), bar_spark(spark, heights, columns));
}

void stats_series_text(const struct stats_report *r)
{
	const struct stats *s = r->stats;
	unsigned int room = terminal_columns() - BEFORE, columns, value;
	char from[32], to[32], interval[SCALED];
	__s64 first, last;
	__u64 all, each;

	if (!s->nr_points)
		return;
	room = room < WIDEST ? room : WIDEST;
	stats_intervals(r, &first, &last);
	all = last - first + 1;
	each = (all + room - 1) / room;
	columns = (all + each - 1) / each;
	snprintf(from, sizeof(from), "%+.6gs", stats_interval_since(s, first));
	snprintf(to, sizeof(to), "%+.6gs", until(r));
	printf("\n%s%6s%8s%8s  %s to %s%s\n", CLI_BOLD, "", "MIN", "MAX", from, to, CLI_PLAIN);
	for (value = 0; value < VALUES; value++)
		if (has(r, value))
			put_line(r, value, columns, each);
	printf("%*sa column is %s", BEFORE, "", scaled_time(interval, s->interval));
	if (each > 1)
		printf(", the largest of %llu", (unsigned long long)each);
	putchar('\n');
}

/* --- SVG ------------------------------------------------------------------------ */

/* Latencies on a logarithmic axis, from one power of ten to another. */
static struct axis axis_of(const struct stats_report *r, enum value value)
{
	struct range range = range_of(r, value);
	struct axis axis = { .title = values[value].name, .to = range.most };

	if (value != P99)
		return axis;
	axis.unit = AXIS_NS;
	axis.log = true;
	axis.title = "p99";
	axis.from = pow(10, floor(log10(range.least < 1 ? 1 : range.least)));
	axis.to = pow(10, ceil(log10(range.most)));
	return axis;
}

/* A bar for a rate; a dot for a latency. */
static void put_mark(const struct stats_report *r, struct panel *p, const struct stats_point *point, enum value value)
{
	double since = stats_interval_since(r->stats, point->interval), v = value_of(r, point, value);
	double begin = axis_at(&p->x, since), end = axis_at(&p->x, stats_interval_since(r->stats, point->interval + 1));
	char number[SCALED], *title = xasprintf("%+.10gs: %s", since, put_number(number, value, v));
	char *data = xasprintf("data-since-s=\"%.9f\" data-%s=\"%.*f\"", since, values[value].data, value == P99 ? 0 : 6, v);
	struct svg_mark mark = {
		.x = begin, .y = axis_at(&p->y, v), .width = end - begin - (end - begin > 4), .color = SVG_BLUE,
		.opacity = 1, .data = data, .title = title,
	};

	mark.height = p->y.begin - mark.y;
	if (value == P99) {
		mark.x = (begin + end - DOT) / 2;
		mark.y -= DOT / 2.0;
		mark.width = DOT;
		mark.height = DOT;
		mark.color = SVG_ORANGE;
	}
	svg_mark(p->svg, &mark);
	free(data);
	free(title);
}

static void put_panel(const struct stats_report *r, struct svg *svg, enum value value)
{
	const struct stats *s = r->stats;
	struct range range = range_of(r, value);
	char least[SCALED], most[SCALED], *subtitle;
	struct panel p = { .title = values[value].title, .height = HEIGHT, .grid = true, .y = axis_of(r, value) };
	__s64 first, last;
	size_t i;

	stats_intervals(r, &first, &last);
	subtitle = xasprintf("from %s to %s", put_number(least, value, range.least), put_number(most, value, range.most));
	p.subtitle = subtitle;
	p.x = (struct axis){
		.unit = AXIS_SECONDS, .title = "time since the start of the trace",
		.from = stats_interval_since(s, first), .to = until(r),
	};
	panel_begin(&p, svg);
	for (i = 0; i < s->nr_points; i++)
		if (is_shown(r, &s->points[i]))
			put_mark(r, &p, &s->points[i], value);
	panel_end(&p);
	free(subtitle);
}

void stats_series_svg(const struct stats_report *r, struct svg *svg)
{
	char interval[SCALED], *basis = basis_line(&r->basis);
	char *title = xasprintf("%s: %llu events over time", r->category, (unsigned long long)r->stats->count);
	char *subtitle = xasprintf("intervals of %s%s%s", scaled_time(interval, r->stats->interval), basis ? "; " : "",
				   basis ? basis : "");
	unsigned int value;

	panel_heading(svg, title, subtitle);
	for (value = 0; r->stats->nr_points && value < VALUES; value++)
		if (has(r, value))
			put_panel(r, svg, value);
	free(subtitle);
	free(title);
	free(basis);
}
