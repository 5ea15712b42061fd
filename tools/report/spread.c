// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "report/spread.h"
#include "trace/record.h"

#define NO_ROW (~0U)

unsigned int spread_scale(__u64 value)
{
	unsigned int octave;

	if (value < 8)
		return value;
	octave = 63 - __builtin_clzll(value);
	return (octave - 2) * 8 + ((value >> (octave - 3)) & 7);
}

static void *zeroes(size_t nr, size_t size)
{
	/* Pages that are never written take no memory. */
	return xchecked(calloc(nr ? nr : 1, size));
}

/* Keys without a row of their own are in the row of others, the last. */
static void find_rows(struct spread *s)
{
	const struct stats *stats = s->stats;
	__u32 others = NO_ROW;
	size_t i;

	s->nr = stats->nr;
	s->nr_keys = stats->table.names.nr;
	s->row_of = xreallocarray(NULL, s->nr_keys + 1, sizeof(*s->row_of));
	if (s->nr && stats->rows[s->nr - 1].key == STATS_OTHERS)
		others = s->nr - 1;
	for (i = 0; i < s->nr_keys; i++)
		s->row_of[i] = others;
	for (i = 0; i < s->nr; i++)
		if (stats->rows[i].key != STATS_OTHERS)
			s->row_of[stats->rows[i].key] = i;
}

static void open_files(struct spread *s)
{
	const struct iot_schema_event *event = s->stats->keys->printer.event;

	if (!positions_has(event)) {
		s->parts &= ~SPREAD_POSITIONS;
		return;
	}
	positions_open(&s->positions, event);
	s->files = zeroes(s->nr, sizeof(*s->files));
}

void spread_open(struct spread *s)
{
	size_t nr;

	find_rows(s);
	nr = s->nr * s->grid->nr;
	s->cells = zeroes(nr, sizeof(*s->cells));
	if (s->parts & (SPREAD_HISTOGRAMS | SPREAD_LATENCIES))
		s->latencies = zeroes(nr, SPREAD_SCALES * sizeof(*s->latencies));
	if (s->parts & SPREAD_HISTOGRAMS)
		s->sizes = zeroes(nr, SPREAD_SCALES * sizeof(*s->sizes));
	if (!s->stats->device_latency)
		s->parts &= ~SPREAD_DEPTH;
	if (s->parts & SPREAD_DEPTH) {
		s->inside = zeroes(nr, sizeof(*s->inside));
		s->disk = record_field(s->stats->keys->printer.event, "disk");
		s->disks = zeroes(s->nr, sizeof(*s->disks));
	}
	if (s->parts & SPREAD_POSITIONS)
		open_files(s);
}

void spread_close(struct spread *s)
{
	size_t i;

	for (i = 0; s->files && i < s->nr; i++)
		places_free(&s->files[i]);
	free(s->files);
	free(s->disks);
	free(s->inside);
	free(s->sizes);
	free(s->latencies);
	free(s->cells);
	free(s->row_of);
}

/* --- records -------------------------------------------------------------------- */

static void add_position(struct spread *s, struct places *f, const void *record,
			 const struct measure *m, size_t bucket)
{
	struct position at;

	position_of(&s->positions, record, m, &at);
	if (at.kind > POSITION_WRITE || !at.bytes)
		return;
	places_add(f, s->grid, bucket, at.kind == POSITION_WRITE, at.start, at.bytes, m->weight);
}

/* Requests in the device, and the name of its disk. */
static void add_inside(struct spread *s, size_t row, const void *record, __u64 from, __u64 to, __u64 weight)
{
	size_t length = s->disk->size < SPREAD_DISK ? s->disk->size : SPREAD_DISK;

	grid_overlap(s->grid, s->inside + row * s->grid->nr, from, to, weight);
	if (!*s->disks[row])
		memcpy(s->disks[row], (const char *)record + s->disk->offset, length);
}

static __u64 device_time(const struct spread *s, const void *record, const struct measure *m)
{
	const struct iot_schema_field *f = s->stats->device_latency;
	__u64 time = f ? record_scalar(record, f->offset, f->size) : 0;

	return time < m->latency ? time : m->latency;
}

void spread_add(struct spread *s, const void *record, const struct measure *m, __u64 time)
{
	__u32 key = key_table_add(&s->stats->table, record);
	__u32 row = key < s->nr_keys ? s->row_of[key] : NO_ROW; /* one that came since is in no row */
	size_t bucket = grid_bucket(s->grid, time), at = (size_t)row * s->grid->nr + bucket;
	__u64 device, end = time + m->latency;
	struct spread_cell *cell;

	if (row == NO_ROW)
		return;
	cell = &s->cells[at];
	device = device_time(s, record, m);
	cell->count += m->weight;
	cell->bytes += m->weight * m->bytes;
	cell->failed += m->error ? m->weight : 0;
	cell->latency += m->weight * m->latency;
	cell->device += m->weight * device;
	if (m->latency > cell->most)
		cell->most = m->latency;
	if (s->latencies)
		s->latencies[at * SPREAD_SCALES + spread_scale(m->latency)] += m->weight;
	if (s->sizes && m->has_bytes)
		s->sizes[at * SPREAD_SCALES + spread_scale(m->bytes)] += m->weight;
	if (s->inside)
		add_inside(s, row, record, end - device, end, m->weight);
	if (s->files)
		add_position(s, &s->files[row], record, m, bucket);
}

/* --- JSON ----------------------------------------------------------------------- */

static void put(json_t *array, __u64 n)
{
	json_add(array, json_unsigned(n));
}

static json_t *json_cells(const struct spread *s, size_t row)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < s->grid->nr; i++) {
		const struct spread_cell *c = &s->cells[row * s->grid->nr + i];

		if (!c->count)
			continue;
		put(array, i);
		put(array, c->count);
		put(array, c->bytes);
		put(array, c->failed);
		put(array, c->latency);
		put(array, c->most);
		put(array, c->device);
	}
	return array;
}

static json_t *json_times(const struct spread *s, size_t row)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < s->grid->nr; i++) {
		const struct spread_cell *c = &s->cells[row * s->grid->nr + i];
		__u64 time = s->stats->device_latency ? c->device : c->latency;

		if (!time)
			continue;
		put(array, i);
		put(array, time);
	}
	return array;
}

static json_t *json_scales(const struct spread *s, const __u64 *counts, size_t row)
{
	json_t *array = json_array();
	size_t i, scale;

	for (i = 0; i < s->grid->nr; i++)
		for (scale = 0; scale < SPREAD_SCALES; scale++) {
			__u64 n = counts[(row * s->grid->nr + i) * SPREAD_SCALES + scale];

			if (!n)
				continue;
			put(array, i);
			put(array, scale);
			put(array, n);
		}
	return array;
}

/* --- packed latencies ----------------------------------------------------------- */

/* The counts of a row's bucket in scales of 1 << @pack. Returns how many are not 0. */
static unsigned int pack_counts(const struct spread *s, size_t row, size_t bucket, unsigned int pack,
				__u64 packed[SPREAD_SCALES])
{
	const __u64 *counts = s->latencies + (row * s->grid->nr + bucket) * SPREAD_SCALES;
	unsigned int scale, nr = 0;

	memset(packed, 0, SPREAD_SCALES * sizeof(*packed));
	/* Most have none, and need not be looked at. */
	if (!s->cells[row * s->grid->nr + bucket].count)
		return 0;
	for (scale = 0; scale < SPREAD_SCALES; scale++) {
		if (!counts[scale])
			continue;
		nr += !packed[scale >> pack];
		packed[scale >> pack] += counts[scale];
	}
	return nr;
}

static __u64 count_packed(const struct spread *s, unsigned int pack)
{
	__u64 packed[SPREAD_SCALES], sum = 0;
	size_t row, bucket;

	for (row = 0; row < s->nr; row++)
		for (bucket = 0; bucket < s->grid->nr; bucket++)
			sum += pack_counts(s, row, bucket, pack, packed);
	return sum;
}

static json_t *json_packed(const struct spread *s, size_t row, unsigned int pack)
{
	__u64 packed[SPREAD_SCALES];
	json_t *array = json_array();
	unsigned int scale, before, nr;
	size_t bucket;

	for (bucket = 0; bucket < s->grid->nr; bucket++) {
		nr = pack_counts(s, row, bucket, pack, packed);
		if (!nr)
			continue;
		put(array, bucket);
		put(array, nr);
		for (scale = 0, before = 0; scale < SPREAD_SCALES; scale++) {
			if (!packed[scale])
				continue;
			put(array, scale - before);
			put(array, packed[scale]);
			before = scale;
		}
	}
	return array;
}

static void put_packed(const struct spread *s, json_t *object)
{
	json_t *rows;
	unsigned int pack = 0;
	size_t row;

	/* Eight scales are an octave: with one for each, a value may be twice too large. */
	while (pack < 4 && count_packed(s, pack) > SPREAD_PACKED)
		pack++;
	if (pack == 4)
		return;
	rows = json_array();
	for (row = 0; row < s->nr; row++)
		json_add(rows, json_packed(s, row, pack));
	json_put(object, "pack", json_integer(pack));
	json_put(object, "packed", rows);
}

/* --- all members ---------------------------------------------------------------- */

static json_t *json_inside(const struct spread *s, size_t row)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < s->grid->nr; i++) {
		if (!s->inside[row * s->grid->nr + i])
			continue;
		put(array, i);
		put(array, s->inside[row * s->grid->nr + i]);
	}
	return array;
}

static json_t *json_disk(const struct spread *s, size_t row)
{
	char *shown = text_show(s->disks[row], strnlen(s->disks[row], SPREAD_DISK));
	json_t *disk = json_string(shown);

	free(shown);
	return disk;
}

static json_t *json_positions(const struct spread *s, size_t row)
{
	json_t *object = json_object();

	json_put(object, "row", json_integer(row));
	places_json(&s->files[row], s->grid, object);
	return object;
}

/* The row with most accesses that is not among those that are @shown; NO_ROW if there is none. */
static __u32 next_file(const struct spread *s, const bool *shown)
{
	__u32 best = NO_ROW;
	size_t i;

	for (i = 0; i < s->nr; i++)
		if (!shown[i] && s->files[i].at && s->stats->rows[i].key != STATS_OTHERS &&
		    (best == NO_ROW || s->files[i].accesses > s->files[best].accesses))
			best = i;
	return best;
}

static json_t *json_files(const struct spread *s)
{
	bool *shown = zeroes(s->nr + 1, sizeof(*shown));
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < SPREAD_FILES; i++) {
		__u32 row = next_file(s, shown);

		if (row == NO_ROW)
			break;
		shown[row] = true;
		json_add(array, json_positions(s, row));
	}
	free(shown);
	return array;
}

static void put_rows(const struct spread *s, json_t *object, const char *name, const __u64 *counts)
{
	json_t *array = json_array();
	size_t row;

	for (row = 0; row < s->nr; row++)
		json_add(array, json_scales(s, counts, row));
	json_put(object, name, array);
}

void spread_json(const struct spread *s, json_t *object)
{
	bool times = s->parts & SPREAD_TIMES;
	json_t *cells = json_array(), *inside = json_array(), *disks = json_array();
	size_t row;

	for (row = 0; row < s->nr; row++) {
		json_add(cells, times ? json_times(s, row) : json_cells(s, row));
		if (!s->inside)
			continue;
		json_add(inside, json_inside(s, row));
		json_add(disks, json_disk(s, row));
	}
	json_put(object, times ? "times" : "cells", cells);
	json_put(object, "inside", inside);
	json_put(object, "disks", disks);
	if (s->sizes) {
		put_rows(s, object, "latencies", s->latencies);
		put_rows(s, object, "sizes", s->sizes);
	} else if (s->latencies) {
		put_packed(s, object);
	}
	if (s->files)
		json_put(object, "positions", json_files(s));
}
