// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/scaled.h"
#include "base/xalloc.h"
#include "top/column.h"

_Static_assert(TOP_CELL >= SCALED, "a scaled number is a cell");

enum { OPS, READ, WRITE, P50, P99, MISSES, DEVICE };

const struct top_column top_columns[TOP_COLUMNS] = {
	[OPS] = { TOP_BY_OPS, 7 },
	[READ] = { TOP_BY_READ, 9 },
	[WRITE] = { TOP_BY_WRITE, 9 },
	[P50] = { TOP_BY_P50, 7 },
	[P99] = { TOP_BY_P99, 7 },
	[MISSES] = { TOP_BY_MISSES, 7 },
	[DEVICE] = { TOP_BY_DEVICE, 6 },
};

int top_columns_width(void)
{
	int width = 0;
	size_t i;

	for (i = 0; i < TOP_COLUMNS; i++)
		width += top_columns[i].width;
	return width;
}

const char *top_column_heading(const struct top_view *view, size_t column)
{
	static const char *const names[] = { "OPS/s", "READ/s", "WRITE/s", "P50", "P99", "MISS/s", "DEV%" };

	if (view == &top_views[TOP_CONNECTIONS] && column == READ)
		return "RECV/s";
	if (view == &top_views[TOP_CONNECTIONS] && column == WRITE)
		return "SEND/s";
	if (view == &top_views[TOP_DEVICES] && column == DEVICE)
		return "BUSY%";
	return names[column];
}

double top_device_percent(const struct top_window *w, const struct top_row *row)
{
	__u64 all = w->sums.total.device_time, interval = w->end > w->begin ? w->end - w->begin : 0;

	if (w->sums.view == &top_views[TOP_DEVICES])
		return interval ? 100.0 * (row->busy < interval ? row->busy : interval) / interval : 0;
	return all ? 100.0 * row->device_time / all : 0;
}

char *top_cell(char *out, const struct top_window *w, const struct top_row *row, size_t column)
{
	const struct top_sums *s = &w->sums;
	const double seconds = top_window_seconds(w);

	strcpy(out, "-");
	if (column == P50 || column == P99)
		return row->count ? scaled_time(out, column == P50 ? row->p50 : row->p99) : out;
	if (column == DEVICE) {
		if (s->has_device)
			snprintf(out, TOP_CELL, "%.1f", top_device_percent(w, row));
		return out;
	}
	if (!seconds || (column == MISSES ? !s->has_misses : !s->main))
		return out;
	if (column == OPS || column == MISSES)
		return scaled_number(out, (column == OPS ? row->count : row->misses) / seconds);
	return scaled_size(out, (column == READ ? row->read : row->written) / seconds);
}

char *top_label(const struct top_window *w, size_t row)
{
	const char *key = top_sums_key(&w->sums, row), *note = w->sums.rows[row].note;

	if (!*key)
		key = "-";
	/* a path of a cgroup says more than its number; a drive is part of the key */
	if (w->sums.view == &top_views[TOP_CGROUPS] && note)
		return xstrdup(note);
	if (w->sums.view == &top_views[TOP_VMS] || !note)
		return xstrdup(key);
	return xasprintf("%s %s", key, note);
}

char *top_summary(const struct top_window *w)
{
	const struct top_sums *s = &w->sums;
	const time_t second = w->end / 1000000000;
	char cells[3][SCALED], length[SCALED], at[16];
	double seconds = top_window_seconds(w);
	struct tm tm;

	strftime(at, sizeof(at), "%H:%M:%SZ", gmtime_r(&second, &tm));
	if (!s->main || !seconds)
		return xasprintf("%s at %s: nothing is traced that has them", s->view->title, at);
	return xasprintf("%s of %s until %s, %s: %s/s, %s %s/s, %s %s/s", s->view->title, s->main->name, at,
			 scaled_time(length, w->end - w->begin),
			 scaled_number(cells[0], s->total.count / seconds),
			 s->view == &top_views[TOP_CONNECTIONS] ? "recv" : "read",
			 scaled_size(cells[1], s->total.read / seconds),
			 s->view == &top_views[TOP_CONNECTIONS] ? "send" : "write",
			 scaled_size(cells[2], s->total.written / seconds));
}
