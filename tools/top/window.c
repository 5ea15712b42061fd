// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "top/window.h"

static size_t size_of(const struct top_part *part)
{
	return category_event(part->category)->size;
}

static void open_sums(struct top_window *w, struct top_sums *s, struct top_feed *feeds,
		      const struct top_view *view, struct top_names *names, const struct top_part *parts)
{
	const struct category *categories[TOP_PARTS];
	size_t i;

	for (i = 0; i < w->nr; i++)
		categories[i] = parts[i].category;
	top_sums_begin(s, view, names, categories, w->nr);
	for (i = 0; i < w->nr; i++)
		top_feed_open(&feeds[i], s, parts[i].category, parts[i].paths);
}

static void close_feeds(struct top_window *w, struct top_feed *feeds)
{
	size_t i;

	for (i = 0; i < w->nr; i++)
		top_feed_close(&feeds[i]);
}

void top_window_begin(struct top_window *w, const struct top_view *view, struct top_names *names,
		      const struct top_part *parts, size_t nr)
{
	size_t i;

	if (w->is_open)
		close_feeds(w, w->feeds);
	top_sums_free(&w->sums);
	for (i = 0; i < TOP_PARTS; i++) {
		w->kept[i].nr = 0;
		w->basis[i] = (struct basis){ .records = 0 };
	}
	w->nr = nr;
	w->is_open = true;
	w->is_partial = false;
	open_sums(w, &w->sums, w->feeds, view, names, parts);
}

void top_window_add_part(struct top_window *w, const struct top_part *parts, size_t nr)
{
	top_window_begin(w, w->sums.view, w->sums.names, parts, nr);
}

/* Keeps the last of them. */
static void keep(struct top_kept *k, const char *records, size_t nr, size_t size)
{
	size_t at, some;

	if (nr > TOP_KEPT) {
		k->nr += nr - TOP_KEPT;
		records += (nr - TOP_KEPT) * size;
		nr = TOP_KEPT;
	}
	if (k->room < TOP_KEPT && k->nr + nr > k->room) {
		k->room = 2 * k->room + nr < TOP_KEPT ? 2 * k->room + nr : TOP_KEPT;
		k->data = xreallocarray(k->data, k->room, size);
	}
	for (; nr; nr -= some, records += some * size, k->nr += some) {
		at = k->nr % TOP_KEPT;
		some = nr < TOP_KEPT - at ? nr : TOP_KEPT - at;
		memcpy(k->data + at * size, records, some * size);
	}
}

void top_window_take(struct top_window *w, size_t i, const void *records, size_t nr)
{
	const size_t size = category_event(w->feeds[i].category)->size;
	const char *record = records;
	size_t j;

	for (j = 0; j < nr; j++, record += size)
		basis_add(&w->basis[i], top_feed_add(&w->feeds[i], record));
	keep(&w->kept[i], records, nr, size);
}

void top_window_end(struct top_window *w, __u64 end)
{
	w->end = end;
	close_feeds(w, w->feeds);
	top_sums_end(&w->sums);
	w->is_open = false;
}

/* How many records are kept, and which is the n-th of them. */
static size_t nr_kept(const struct top_kept *k)
{
	return k->nr < TOP_KEPT ? k->nr : TOP_KEPT;
}

static const void *kept_at(const struct top_kept *k, size_t n, size_t size)
{
	return k->data + (k->nr - nr_kept(k) + n) % TOP_KEPT * size;
}

void top_window_show(struct top_window *w, const struct top_view *view, struct top_names *names,
		     const struct top_part *parts)
{
	struct top_feed feeds[TOP_PARTS];
	size_t i, n;

	top_sums_free(&w->sums);
	w->is_partial = false;
	for (i = 0; i < w->nr; i++)
		w->is_partial |= w->kept[i].nr > TOP_KEPT;
	open_sums(w, &w->sums, feeds, view, names, parts);
	for (i = 0; i < w->nr && !w->is_partial; i++)
		for (n = 0; n < nr_kept(&w->kept[i]); n++)
			top_feed_add(&feeds[i], kept_at(&w->kept[i], n, size_of(&parts[i])));
	close_feeds(w, feeds);
	top_sums_end(&w->sums);
}

void top_window_free(struct top_window *w)
{
	size_t i;

	if (w->is_open)
		close_feeds(w, w->feeds);
	top_sums_free(&w->sums);
	for (i = 0; i < TOP_PARTS; i++)
		free(w->kept[i].data);
	*w = (struct top_window){ .nr = 0 };
}

struct basis top_window_basis(const struct top_window *w)
{
	struct basis all = { .records = 0 };
	size_t i;

	for (i = 0; i < w->nr; i++)
		basis_sum(&all, &w->basis[i]);
	return all;
}

void top_window_each(struct top_window *w, const char *key, const struct top_part *parts,
		     void (*each)(void *data, const struct top_part *part, const void *record), void *data)
{
	struct top_feed feeds[TOP_PARTS];
	struct top_sums s;
	const void *record;
	size_t i, n;
	__u32 row;

	open_sums(w, &s, feeds, w->sums.view, w->sums.names, parts);
	for (i = 0; i < w->nr; i++)
		for (n = 0; feeds[i].sums && n < nr_kept(&w->kept[i]); n++) {
			record = kept_at(&w->kept[i], n, size_of(&parts[i]));
			row = top_feed_row(&feeds[i], record);
			if (row < TOP_REST && !strcmp(top_sums_key(&s, row), key))
				each(data, &parts[i], record);
		}
	close_feeds(w, feeds);
	top_sums_free(&s);
}
