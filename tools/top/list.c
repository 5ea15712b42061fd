// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "top/list.h"

#define NAMES_MOST 65536	/* keys that are remembered */

/* --- order ---------------------------------------------------------------------- */

struct order {
	const struct top_list *list;
	const struct top_sums *sums;
};

static __u64 value_of(const struct top_row *row, enum top_sort sort)
{
	switch (sort) {
	case TOP_BY_OPS:
		return row->count;
	case TOP_BY_READ:
		return row->read;
	case TOP_BY_WRITE:
		return row->written;
	case TOP_BY_P50:
		return row->p50;
	case TOP_BY_P99:
		return row->p99;
	case TOP_BY_MISSES:
		return row->misses;
	case TOP_BY_DEVICE:
		return row->busy ? row->busy : row->device_time;
	default:
		return row->read + row->written;
	}
}

/* What is equal is sorted by operations, then by device time, and then by name. */
static int compare(const void *a, const void *b, void *data)
{
	const struct order *o = data;
	const size_t x = *(const size_t *)a, y = *(const size_t *)b;
	const enum top_sort sorts[] = { o->list->sort, TOP_BY_OPS, TOP_BY_DEVICE };
	size_t i;

	for (i = 0; i < 3 && o->list->sort != TOP_BY_NAME; i++) {
		__u64 p = value_of(&o->sums->rows[x], sorts[i]), q = value_of(&o->sums->rows[y], sorts[i]);

		if (p != q)
			return (p < q) != o->list->is_reversed ? 1 : -1;
	}
	return strcmp(top_sums_key(o->sums, x), top_sums_key(o->sums, y)) *
	       (o->list->is_reversed ? -1 : 1);
}

static bool is_shown(const struct top_list *l, const struct top_sums *s, size_t row)
{
	const char *note = s->rows[row].note;

	return !*l->filter || strstr(top_sums_key(s, row), l->filter) || (note && strstr(note, l->filter));
}

void top_list_make(struct top_list *l, const struct top_window *w)
{
	const struct top_sums *s = &w->sums;
	struct order order = { l, s };
	size_t i;

	l->nr = 0;
	l->rows = xreallocarray(l->rows, top_sums_rows(s), sizeof(*l->rows));
	for (i = 0; i < top_sums_rows(s); i++)
		if (is_shown(l, s, i))
			l->rows[l->nr++] = i;
	if (l->nr)
		qsort_r(l->rows, l->nr, sizeof(*l->rows), compare, &order);
}

/* --- the past ------------------------------------------------------------------- */

/* NULL: it had no operations lately. */
static struct top_past *find(const struct top_list *l, const char *key)
{
	__u32 number = intern_find(&l->names, key, strlen(key) + 1);

	return number == INTERN_NONE ? NULL : &l->past[number];
}

struct top_past top_list_past(const struct top_list *l, const char *key)
{
	const struct top_past *past = find(l, key);

	return past ? *past : (struct top_past){ { 0 } };
}

static void add(struct top_list *to, const char *key, const struct top_past *past)
{
	__u32 number;

	if (to->names.nr >= NAMES_MOST)
		return;
	number = intern_add(&to->names, key, strlen(key) + 1);
	if (number >= to->room) {
		to->room = 2 * to->room + 64;
		to->past = xreallocarray(to->past, to->room, sizeof(*to->past));
	}
	to->past[number] = *past;
}

static bool is_empty(const struct top_past *past)
{
	size_t i;

	for (i = 0; i < TOP_PAST; i++)
		if (past->at[i])
			return false;
	return true;
}

void top_list_remember(struct top_list *l, const struct top_window *w)
{
	const struct top_sums *s = &w->sums;
	struct top_list next = { .nr = 0 };
	struct top_past past;
	const char *key;
	size_t i, length;

	for (i = 0; i < top_sums_rows(s); i++) {
		key = top_sums_key(s, i);
		past = top_list_past(l, key);
		memmove(past.at, past.at + 1, sizeof(past.at) - sizeof(*past.at));
		past.at[TOP_PAST - 1] = s->rows[i].count;
		add(&next, key, &past);
	}
	for (i = 0; i < l->names.nr; i++) {
		key = intern_bytes(&l->names, i, &length);
		past = l->past[i];
		memmove(past.at, past.at + 1, sizeof(past.at) - sizeof(*past.at));
		past.at[TOP_PAST - 1] = 0;
		if (!is_empty(&past) && !find(&next, key))
			add(&next, key, &past);
	}
	top_list_forget(l);
	l->names = next.names;
	l->past = next.past;
	l->room = next.room;
}

void top_list_forget(struct top_list *l)
{
	intern_free(&l->names);
	free(l->past);
	l->names = (struct intern){ .nr = 0 };
	l->past = NULL;
	l->room = 0;
}

void top_list_free(struct top_list *l)
{
	top_list_forget(l);
	free(l->rows);
}
