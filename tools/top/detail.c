// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/scaled.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "core/names.h"
#include "top/detail.h"
#include "trace/paths.h"
#include "trace/record.h"

void top_detail_open(struct top_detail *d, const char *key)
{
	top_detail_close(d);
	d->key = xstrdup(key);
}

void top_detail_close(struct top_detail *d)
{
	size_t i;

	for (i = 0; i < d->nr; i++)
		free(d->lines[i]);
	free(d->key);
	*d = (struct top_detail){ .nr = 0 };
}

const struct top_row *top_detail_row(const struct top_detail *d, const struct top_window *w)
{
	__u32 row = intern_find(&w->sums.keys, d->key, strlen(d->key) + 1);

	return row == INTERN_NONE ? NULL : &w->sums.rows[row];
}

/* --- an event ------------------------------------------------------------------- */

struct found {
	const struct top_part *part;
	const void *record;
	__u64 end;
};

struct all_found {
	struct found *at;
	size_t nr, room;
};

static void find(void *data, const struct top_part *part, const void *record)
{
	const struct iot_schema_event *event = category_event(part->category);
	struct all_found *all = data;

	if (all->nr == all->room) {
		all->room = 2 * all->room + 64;
		all->at = xreallocarray(all->at, all->room, sizeof(*all->at));
	}
	all->at[all->nr++] = (struct found){
		part, record, record_time(event, record) + record_latency(event, record),
	};
}

static int compare(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return (x->end > y->end) - (x->end < y->end);
}

static __u64 field(const struct iot_schema_event *event, const char *name, const void *record)
{
	const struct iot_schema_field *f = record_field(event, name);

	return f ? record_scalar(record, f->offset, f->size) : 0;
}

/* The path, "?" if it is not known, "" if the event has none. */
static const char *path_of(const struct found *f)
{
	__u64 id = field(category_event(f->part->category), "path", f->record);
	const struct name *name = id ? names_find(f->part->paths, id) : NULL;

	return name ? name->text : id ? "?" : "";
}

static char *comm_of(const struct found *f)
{
	const struct iot_schema_field *comm = record_field(category_event(f->part->category), "comm");
	const char *text = (const char *)f->record + comm->offset;

	return text_show(text, strnlen(text, comm->size));
}

static const char *error_name(unsigned int error)
{
	const char *name = strerrorname_np(error);

	return name ? name : "error";
}

/* "15:20:01.123456 fs:READ  4.00KiB  12.3us fio/123 /srv/db" */
static char *line_of(const struct top_source *s, const struct found *f)
{
	const struct iot_schema_event *event = category_event(f->part->category);
	const __u64 op = field(event, "op", f->record), at = s->wall(s, f->end);
	const char *name = iot_names_op_name(event->id, op);
	char size[SCALED] = "", latency[SCALED], clock[16], *comm, *line;
	const time_t second = at / 1000000000;
	struct measurer measurer;
	struct measure m;
	struct tm tm;

	measurer_open(&measurer, event);
	measure(&measurer, f->record, &m);
	if (m.error)
		snprintf(size, sizeof(size), "%s", error_name(m.error));
	else if (m.has_bytes)
		scaled_size(size, m.bytes);
	strftime(clock, sizeof(clock), "%H:%M:%S", gmtime_r(&second, &tm));
	comm = comm_of(f);
	line = xasprintf("%s.%06llu %-5s %-10s %8s %7s %s/%llu %s", clock,
			 (unsigned long long)(at % 1000000000 / 1000), f->part->category->name,
			 name ? name : "?", size, scaled_time(latency, m.latency), comm,
			 (unsigned long long)field(event, "pid", f->record), path_of(f));
	free(comm);
	return text_mask(line);
}

static void append(struct top_detail *d, char *line)
{
	if (d->nr == TOP_LINES) {
		free(d->lines[0]);
		memmove(d->lines, d->lines + 1, --d->nr * sizeof(*d->lines));
	}
	d->lines[d->nr++] = line;
}

void top_detail_add(struct top_detail *d, const struct top_source *s, struct top_window *w)
{
	struct all_found all = { .nr = 0 };
	size_t i;

	top_window_each(w, d->key, s->parts, find, &all);
	if (all.nr)
		qsort(all.at, all.nr, sizeof(*all.at), compare);
	for (i = all.nr > TOP_LINES ? all.nr - TOP_LINES : 0; i < all.nr; i++)
		append(d, line_of(s, &all.at[i]));
	free(all.at);
}
