// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "top/sums.h"
#include "trace/categories.h"
#include "trace/record.h"
#include "uapi/iotracer.h"

static const unsigned int parts[] = { 5000, 9900 };	/* in 10000 */

/* --- rows ----------------------------------------------------------------------- */

static bool has(const struct category *category, const struct category *const *categories, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (categories[i] == category)
			return true;
	return false;
}

void top_sums_begin(struct top_sums *s, const struct top_view *view, struct top_names *names,
		    const struct category *const *categories, size_t nr)
{
	size_t i;

	*s = (struct top_sums){ .view = view, .names = names };
	for (i = 0; view->main[i] && !s->main; i++)
		if (has(view->main[i], categories, nr))
			s->main = view->main[i];
}

const char *top_sums_key(const struct top_sums *s, size_t row)
{
	size_t length;

	return intern_bytes(&s->keys, row, &length);
}

static __u32 add_row(struct top_sums *s, const char *key, const char *note)
{
	__u32 row = intern_find(&s->keys, key, strlen(key) + 1);

	if (row != INTERN_NONE)
		return row;
	if (s->keys.nr >= TOP_ROWS)
		return TOP_REST;
	row = intern_add(&s->keys, key, strlen(key) + 1);
	if (row >= s->room) {
		s->room = 2 * s->room + 64;
		s->rows = xreallocarray(s->rows, s->room, sizeof(*s->rows));
	}
	s->rows[row] = (struct top_row){ .note = note ? xstrdup(note) : NULL };
	return row;
}

static void set_busy(struct top_sums *s)
{
	size_t i, j;

	for (i = 0; i < busy_devices(&s->busy); i++) {
		const struct busy_device *d = &s->busy.devices[i];
		char name[32];

		snprintf(name, sizeof(name), "%u:%u", d->device >> 20, d->device & 0xfffff);
		for (j = 0; j < s->keys.nr; j++)
			if (!strcmp(top_sums_key(s, j), name))
				s->rows[j].busy = busy_time(d);
	}
}

static void end_row(struct top_row *row)
{
	__u64 values[2];

	if (row->count) {
		distribution_percentiles(&row->latencies, parts, 2, values);
		row->p50 = values[0];
		row->p99 = values[1];
	}
	distribution_free(&row->latencies);
}

void top_sums_end(struct top_sums *s)
{
	size_t i;

	for (i = 0; i < s->keys.nr; i++)
		end_row(&s->rows[i]);
	end_row(&s->rest);
	set_busy(s);
}

void top_sums_free(struct top_sums *s)
{
	size_t i;

	for (i = 0; i < s->keys.nr; i++) {
		distribution_free(&s->rows[i].latencies);
		free(s->rows[i].note);
	}
	free(s->rows);
	distribution_free(&s->rest.latencies);
	intern_free(&s->keys);
	busy_free(&s->busy);
}

/* --- records -------------------------------------------------------------------- */

bool top_is_write(unsigned int event, __u64 op)
{
	switch (event) {
	case IOT_EVENT_ID_FS:
		return op == IOT_FS_WRITE || op == IOT_FS_DIO_WRITE || op == IOT_FS_BLOCK_WRITE;
	case IOT_EVENT_ID_BLOCK:
		return op == IOT_BLOCK_WRITE || op == IOT_BLOCK_ZONE_APPEND || op == IOT_BLOCK_DRV_OUT;
	case IOT_EVENT_ID_NET:
		return op == IOT_NET_SEND;
	default:
		return false;
	}
}

static bool open_keys(struct top_feed *f, const struct top_view *view, const struct paths *paths)
{
	size_t i;

	for (i = 0; i < STATS_KEYS && view->keys[i]; i++)
		free(stats_keys_add(&f->keys, view->keys[i]));
	return !stats_keys_open(&f->keys, category_event(f->category), paths);
}

void top_feed_open(struct top_feed *f, struct top_sums *s, const struct category *category,
		   const struct paths *paths)
{
	const struct iot_schema_event *event = category_event(category);

	*f = (struct top_feed){
		.category = category, .is_main = category == s->main,
		.is_cache = category == &category_cache, .is_block = category == &category_block,
	};
	measurer_open(&f->measurer, event);
	if (!(f->is_main || f->is_cache || f->is_block) || !open_keys(f, s->view, paths))
		return;
	f->sums = s;
	key_table_open(&f->table, &f->keys);
	f->op = record_field(event, "op");
	if (f->is_block) {
		f->device = record_field(event, "device");
		f->device_latency = record_field(event, "device_latency");
	}
	s->has_misses |= f->is_cache;
	s->has_device |= f->is_block;
}

void top_feed_close(struct top_feed *f)
{
	if (!f->sums)
		return;
	key_table_close(&f->table);
	stats_keys_close(&f->keys);
	free(f->rows);
	f->sums = NULL;
}

/* A row of its own for each drive of a VM, and one for all other files of the VM. */
static __u32 add_vm(struct top_sums *s, const char *pid, const char *file)
{
	const char *vm, *drive;
	char *key;
	__u32 row;

	if (!s->names || !top_names_vm(s->names, pid, file, &vm, &drive))
		return TOP_NO_ROW;
	key = *drive ? xasprintf("%s %s", vm, drive) : xstrdup(vm);
	row = add_row(s, key, drive);
	free(key);
	return row;
}

/* The row of a key that the category had not had before. */
static __u32 row_of_key(struct top_feed *f, __u32 number, const void *record)
{
	const char *key = key_table_text(&f->table, number, 0);
	struct top_sums *s = f->sums;
	char command[STATS_COMM], *disk;
	__u32 row;

	switch (s->view - top_views) {
	case TOP_VMS:
		return add_vm(s, key, key_table_text(&f->table, number, 1));
	case TOP_PROCESSES:
		stats_keys_command(&f->keys, command, record);
		return add_row(s, key, command);
	case TOP_CGROUPS:
		return add_row(s, key, s->names ? top_names_cgroup(s->names, key) : NULL);
	case TOP_DEVICES:
		disk = s->names ? top_names_disk(key) : NULL;
		row = add_row(s, key, disk);
		free(disk);
		return row;
	default:
		return add_row(s, key, NULL);
	}
}

/* There are as many keys as are kept, and the record has another one: its texts are in the table. */
static __u32 row_of_other(struct top_feed *f)
{
	const char *pid = f->table.text;

	/* the others may all be of processes that are no VMs */
	if (f->sums->view == &top_views[TOP_VMS])
		return add_vm(f->sums, pid, pid + strlen(pid) + 1);
	return TOP_REST;
}

__u32 top_feed_row(struct top_feed *f, const void *record)
{
	bool is_full = f->table.names.nr >= TOP_ROWS;
	__u32 number = is_full ? key_table_find(&f->table, record) : key_table_add(&f->table, record);

	if (number == KEY_TABLE_NONE)
		return row_of_other(f);
	if (number < f->nr)
		return f->rows[number];
	if (number >= f->room) {
		f->room = 2 * f->room + 64;
		f->rows = xreallocarray(f->rows, f->room, sizeof(*f->rows));
	}
	f->nr = number + 1;
	f->rows[number] = row_of_key(f, number, record);
	return f->rows[number];
}

/* In which bucket a latency is: 0 for 0, 1 for 1, 2 for 2 and 3. */
static unsigned int bucket_of(__u64 ns)
{
	unsigned int bucket = ns ? 64 - __builtin_clzll(ns) : 0;

	return bucket < TOP_BUCKETS ? bucket : TOP_BUCKETS - 1;
}

static void add_main(struct top_feed *f, struct top_row *row, const struct measure *m, __u64 op)
{
	struct top_row *total = &f->sums->total;
	__u64 bytes = m->weight * m->bytes;

	row->count += m->weight;
	total->count += m->weight;
	if (m->error) {
		row->failed += m->weight;
		total->failed += m->weight;
	}
	if (top_is_write(f->category->event_id, op)) {
		row->written += bytes;
		total->written += bytes;
	} else {
		row->read += bytes;
		total->read += bytes;
	}
	row->buckets[bucket_of(m->latency)] += m->weight;
	distribution_add(&row->latencies, m->latency, m->weight);
}

/* A request was with driver and device for the last part of its latency. */
static void add_block(struct top_feed *f, struct top_row *row, const void *record, const struct measure *m)
{
	__u64 time = record_scalar(record, f->device_latency->offset, f->device_latency->size);
	__u64 end = m->time + m->latency;

	if (time > m->latency)
		time = m->latency;
	row->device_time += m->weight * time;
	f->sums->total.device_time += m->weight * time;
	if (f->sums->view == &top_views[TOP_DEVICES])
		busy_add(&f->sums->busy, record_scalar(record, f->device->offset, f->device->size), 0,
			 end - time, end, m->weight);
}

__u64 top_feed_add(struct top_feed *f, const void *record)
{
	struct measure m;
	struct top_row *row;
	__u32 number;
	__u64 op;

	measure(&f->measurer, record, &m);
	if (!f->sums)
		return m.weight;
	op = record_scalar(record, f->op->offset, f->op->size);
	if (f->is_cache && !f->is_main && op != IOT_CACHE_MISS)
		return m.weight;
	number = top_feed_row(f, record);
	if (number == TOP_NO_ROW)
		return m.weight;
	f->sums->has_rest |= number == TOP_REST;
	row = number == TOP_REST ? &f->sums->rest : &f->sums->rows[number];
	if (f->is_main)
		add_main(f, row, &m, op);
	if (f->is_block)
		add_block(f, row, record, &m);
	if (f->is_cache) {
		row->misses += m.weight * (m.bytes / 4096);
		f->sums->total.misses += m.weight * (m.bytes / 4096);
	}
	return m.weight;
}
