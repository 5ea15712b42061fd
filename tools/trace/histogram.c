// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "trace/histogram.h"

#define NS_PER_S 1e9

/* What identifies a cell. It has no padding. */
struct place {
	__u64 bucket;
	__s64 interval;
	__u32 key, part;
};

void histogram_begin(struct histogram *h, struct stats_keys *keys)
{
	key_table_open(&h->table, keys);
	h->size = h->scale.size ? h->scale.size : 1;
}

void histogram_free(struct histogram *h)
{
	key_table_close(&h->table);
	intern_free(&h->cells);
	free(h->commands);
	free(h->counts);
	free(h->all);
	free(h->sorted);
}

/* --- keys ----------------------------------------------------------------------- */

__u32 histogram_key(struct histogram *h, const void *record)
{
	size_t before = h->table.names.nr;
	__u32 key = key_table_add(&h->table, record);

	if (h->table.names.nr == before || !stats_keys_have_command(h->table.keys))
		return key;
	if (key >= h->room_commands) {
		h->room_commands = 2 * h->room_commands + 64;
		h->commands = xreallocarray(h->commands, h->room_commands, sizeof(*h->commands));
	}
	stats_keys_command(h->table.keys, h->commands[key], record);
	return key;
}

struct key_text histogram_key_text(const struct histogram *h, const struct histogram_one *one)
{
	struct key_text text = { .table = &h->table, .key = one->key, .folded = one->folded };

	if (h->commands)
		text.command = one->key == KEY_TEXT_OTHERS ? "" : h->commands[one->key];
	return text;
}

/* --- values --------------------------------------------------------------------- */

static void count(struct histogram *h, const struct place *place, __u64 weight)
{
	size_t before = h->cells.nr;
	__u32 cell = intern_add(&h->cells, place, sizeof(*place));

	if (cell >= h->room) {
		h->room = 2 * h->room + 64;
		h->counts = xreallocarray(h->counts, h->room, sizeof(*h->counts));
	}
	if (cell == before)
		h->counts[cell] = 0;
	h->counts[cell] += weight;
}

static struct place place_of(const struct intern *cells, __u32 cell)
{
	struct place place;
	size_t length;

	memcpy(&place, intern_bytes(cells, cell, &length), sizeof(place));
	return place;
}

/* Makes one of each two buckets, or of each two intervals. */
static void halve(struct histogram *h, bool buckets, bool intervals)
{
	struct intern old = h->cells;
	__u64 *counts = h->counts;
	size_t i;

	h->cells = (struct intern){ .nr = 0 };
	h->counts = NULL;
	h->room = 0;
	for (i = 0; i < old.nr; i++) {
		struct place place = place_of(&old, i);

		if (buckets && place.part == HISTOGRAM_WITHIN)
			place.bucket /= 2;
		if (intervals && place.interval != HISTOGRAM_BEFORE)
			place.interval /= 2;
		count(h, &place, counts[i]);
	}
	intern_free(&old);
	free(counts);
}

static __u64 log_bucket(__u64 value)
{
	return value ? 64 - __builtin_clzll(value) : 0;
}

static __u64 linear_bucket(struct histogram *h, __u64 value)
{
	value -= h->scale.first;
	while (!h->scale.size && value / h->size >= HISTOGRAM_ROWS) {
		h->size *= 2;
		halve(h, true, false);
	}
	return value / h->size;
}

static __s64 interval_of(struct histogram *h, __u64 time)
{
	if (!h->interval)
		return 0;
	if (time < h->origin)
		return HISTOGRAM_BEFORE;
	time -= h->origin;
	while (h->interval_grows && time / h->interval >= h->columns) {
		h->interval *= 2;
		halve(h, false, true);
	}
	/* An interval of 1 ns of a time that is damaged may not be one that is before. */
	return time / h->interval & ~0ULL >> 1;
}

bool histogram_add(struct histogram *h, __u32 key, __u64 value, __u64 weight, __u64 time)
{
	struct place place = { .key = key, .part = HISTOGRAM_WITHIN, .interval = interval_of(h, time) };

	if (value < h->scale.first)
		place.part = HISTOGRAM_BELOW;
	else if (value > h->scale.last)
		place.part = HISTOGRAM_ABOVE;
	else
		place.bucket = h->scale.log ? log_bucket(value) : linear_bucket(h, value);
	count(h, &place, weight);
	h->count += weight;
	return h->cells.nr <= HISTOGRAM_CELLS;
}

/* --- results -------------------------------------------------------------------- */

void histogram_bounds(const struct histogram *h, const struct histogram_cell *cell, __u64 *from, __u64 *to)
{
	const struct histogram_scale *s = &h->scale;
	__u64 first, last;

	switch (cell->part) {
	case HISTOGRAM_BELOW:
		first = 0;
		last = s->first - 1;
		break;
	case HISTOGRAM_ABOVE:
		first = s->last + 1;
		last = ~0ULL;
		break;
	default:
		if (s->log) {
			first = cell->bucket ? 1ULL << (cell->bucket - 1) : 0;
			last = first ? first + (first - 1) : 0;
		} else {
			first = s->first + cell->bucket * h->size;
			if (__builtin_add_overflow(first, h->size - 1, &last))
				last = ~0ULL;
		}
		first = first > s->first ? first : s->first;
		last = last < s->last ? last : s->last;
	}
	*from = first;
	*to = last + 1;
}

__u64 histogram_most(const struct histogram *h)
{
	__u64 most = 1;
	size_t i, j;

	for (i = 0; i < h->nr; i++)
		for (j = 0; j < h->all[i].nr; j++)
			if (h->all[i].cells[j].count > most)
				most = h->all[i].cells[j].count;
	return most;
}

double histogram_since(const struct histogram *h, __s64 interval)
{
	return (h->since + (double)interval * h->interval) / NS_PER_S;
}

struct ranked {
	__u32 key;
	__u64 count;
};

static int compare_ranked(const void *a, const void *b, void *data)
{
	const struct histogram *h = data;
	const struct ranked *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return key_table_compare(&h->table, x->key, y->key);
}

/* The number of each key's histogram, by key. Makes @h->all; the caller frees the ranks. */
static __u32 *rank(struct histogram *h)
{
	size_t nr = h->table.names.nr, i;
	struct ranked *order = xreallocarray(NULL, nr, sizeof(*order));
	__u32 *ranks = xreallocarray(NULL, nr, sizeof(*ranks)), rank;

	for (i = 0; i < nr; i++)
		order[i] = (struct ranked){ .key = i };
	for (i = 0; i < h->cells.nr; i++)
		order[place_of(&h->cells, i).key].count += h->counts[i];
	qsort_r(order, nr, sizeof(*order), compare_ranked, h);
	h->all = xreallocarray(NULL, nr, sizeof(*h->all));
	for (i = 0; i < nr && order[i].count; i++) {
		bool folded = h->top && i >= h->top;

		rank = folded ? h->top : i;
		if (rank == h->nr)
			h->all[h->nr++] = (struct histogram_one){
				.key = folded ? KEY_TEXT_OTHERS : order[i].key,
			};
		h->all[rank].count += order[i].count;
		h->all[rank].folded += folded;
		ranks[order[i].key] = rank;
	}
	free(order);
	return ranks;
}

static int compare(__u64 x, __u64 y)
{
	return (x > y) - (x < y);
}

static int compare_cells(const void *a, const void *b)
{
	const struct histogram_cell *x = a, *y = b;
	int order = compare(x->key, y->key);

	order = order ? order : compare(x->part, y->part);
	order = order ? order : compare(x->bucket, y->bucket);
	/* HISTOGRAM_BEFORE is the first. */
	return order ? order : compare(x->interval + 1, y->interval + 1);
}

/* Adds up sorted cells that are the same, as those of keys that are folded may be. Returns how many stay. */
static size_t unite(struct histogram_cell *cells, size_t nr)
{
	size_t from, to = 0;

	for (from = 0; from < nr; from++)
		if (to && !compare_cells(&cells[to - 1], &cells[from]))
			cells[to - 1].count += cells[from].count;
		else
			cells[to++] = cells[from];
	return to;
}

void histogram_finish(struct histogram *h)
{
	__u32 *ranks = rank(h);
	size_t i, nr = h->cells.nr;

	/* In place of its key, a cell has the number of its histogram until all are sorted. */
	h->sorted = xreallocarray(NULL, nr, sizeof(*h->sorted));
	for (i = 0; i < nr; i++) {
		struct place place = place_of(&h->cells, i);

		h->sorted[i] = (struct histogram_cell){
			.key = ranks[place.key], .interval = place.interval, .part = place.part,
			.bucket = place.bucket, .count = h->counts[i],
		};
	}
	free(ranks);
	if (nr)
		qsort(h->sorted, nr, sizeof(*h->sorted), compare_cells);
	nr = unite(h->sorted, nr);
	for (i = 0; i < nr; i++) {
		struct histogram_one *one = &h->all[h->sorted[i].key];

		if (!one->nr++)
			one->cells = &h->sorted[i];
		h->sorted[i].key = one->key;
	}
}
