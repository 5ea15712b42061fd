// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "trace/page_cache.h"
#include "trace/record.h"
#include "uapi/iotracer.h"

#define BYTES_OF_PAGE (sizeof(struct page_state) + 19)

const char *const page_cache_removals[PAGE_CACHE_REMOVALS] = {
	"RECLAIM", "INVALIDATE", "EVICT", "DROP",
};

/* The place of an operation in page_cache_removals, or -1. */
static int removal_of(__u64 op)
{
	switch (op) {
	case IOT_CACHE_RECLAIM:
		return 0;
	case IOT_CACHE_INVALIDATE:
		return 1;
	case IOT_CACHE_EVICT:
		return 2;
	case IOT_CACHE_DROP:
		return 3;
	default:
		return -1;
	}
}

static enum page_cache_way way_of(__u32 flags)
{
	return flags & IOT_CACHE_FAULT ? PAGE_CACHE_FAULT :
	       flags & IOT_CACHE_WRITE ? PAGE_CACHE_WRITE : PAGE_CACHE_READ;
}

/* The state of a page, or NULL if there are too many pages to follow it. */
static struct page_state *state_of(struct page_cache *c, __u64 key)
{
	__u32 number;
	size_t room;

	if (c->pages.nr * BYTES_OF_PAGE >= c->memory && !page_is_known(&c->pages, key))
		return NULL;
	number = page_number(&c->pages, key);
	if (c->pages.nr > c->room) {
		room = 2 * c->room + 1024;
		c->states = xreallocarray(c->states, room, sizeof(*c->states));
		memset(c->states + c->room, 0, (room - c->room) * sizeof(*c->states));
		c->room = room;
	}
	return &c->states[number];
}

static void count_reclaimed(struct page_cache *c, __u32 by, __u32 of)
{
	__u32 numbers[] = { by, of }, pair = intern_add(&c->pairs, numbers, sizeof(numbers));

	if (c->pairs.nr > c->room_pairs) {
		c->room_pairs = 2 * c->room_pairs + 64;
		c->reclaimed = xreallocarray(c->reclaimed, c->room_pairs, sizeof(*c->reclaimed));
	}
	if (pair == c->pairs.nr - 1 && c->pairs.nr > c->nr_pairs) {
		c->nr_pairs = c->pairs.nr;
		c->reclaimed[pair] = 0;
	}
	c->reclaimed[pair]++;
}

static void look_up(struct page_cache *c, struct page_state *page, __u32 by, bool missed)
{
	if (!missed && page->ahead)
		c->ahead_used++;
	/* If it was read ahead and is missed, it was removed unseen. */
	if (missed && page->ahead)
		c->ahead_removed++;
	*page = (struct page_state){ .owner = by, .missed = missed };
}

static void read_page(struct page_cache *c, struct page_state *page, __u32 by)
{
	if (page->missed) {
		c->asked++;
	} else if (!page->ahead) {
		c->ahead++;
		page->ahead = true;
		page->owner = by;
	}
	page->missed = false;
}

static void remove_page(struct page_cache *c, struct page_state *page, __u32 by, __u64 op)
{
	if (page->ahead)
		c->ahead_removed++;
	if (op == IOT_CACHE_RECLAIM)
		count_reclaimed(c, by, page->owner);
	*page = (struct page_state){ .owner = 0 };
}

static void do_page(struct page_cache *c, __u64 key, __u32 by, __u64 op)
{
	struct page_state *page = state_of(c, key);

	if (!page) {
		c->unfollowed++;
		return;
	}
	switch (op) {
	case IOT_CACHE_HIT:
	case IOT_CACHE_MISS:
		look_up(c, page, by, op == IOT_CACHE_MISS);
		break;
	case IOT_CACHE_READAHEAD:
		read_page(c, page, by);
		break;
	default:
		remove_page(c, page, by, op);
	}
}

/* Counts the pages of a record. False if it does not change what is known of them. */
static bool count(struct page_cache *c, __u64 op, __u32 flags, __u64 pages)
{
	enum page_cache_way way = way_of(flags);
	int removal = removal_of(op);

	if (op == IOT_CACHE_HIT)
		c->lookups[way].hits += pages;
	else if (op == IOT_CACHE_MISS)
		c->lookups[way].misses += pages;
	else if (removal >= 0)
		c->removed[removal] += pages;
	else
		return op == IOT_CACHE_READAHEAD;
	return true;
}

void page_cache_add(struct page_cache *c, const struct page_access_fields *f,
		    const struct iot_schema_field *comm, const void *record, const struct measure *m,
		    const struct source *source)
{
	const char *name = (const char *)record + comm->offset;
	__u64 op = record_scalar(record, f->op->offset, f->op->size);
	__u32 flags = record_scalar(record, f->flags->offset, f->flags->size), by;
	__u64 pages = m->bytes >> PAGE_SHIFT;
	struct page_access access;
	struct page_place at;

	if (!page_access_of(f, record, m, source, &access) || !count(c, op, flags, pages * m->weight))
		return;
	by = intern_add(&c->commands, name, strnlen(name, comm->size)) + 1;
	at = (struct page_place){
		.name = access.name, .length = access.length, .index = access.offset >> PAGE_SHIFT,
	};
	for (page_place_find(&c->pages, &at); pages; pages--) {
		do_page(c, at.key, by, op);
		page_place_next(&c->pages, &at);
	}
}

void page_cache_free(struct page_cache *c)
{
	page_numbers_free(&c->pages);
	intern_free(&c->commands);
	intern_free(&c->pairs);
	free(c->states);
	free(c->reclaimed);
}

static int compare(const void *a, const void *b)
{
	const struct page_cache_pair *x = a, *y = b;

	if (x->pages != y->pages)
		return x->pages < y->pages ? 1 : -1;
	if (x->by != y->by)
		return x->by < y->by ? -1 : 1;
	return (x->of > y->of) - (x->of < y->of);
}

struct page_cache_pair *page_cache_pairs(const struct page_cache *c, size_t *nr)
{
	struct page_cache_pair *pairs = xreallocarray(NULL, c->pairs.nr, sizeof(*pairs));
	size_t i, length;

	for (i = 0; i < c->pairs.nr; i++) {
		__u32 numbers[2];

		memcpy(numbers, intern_bytes(&c->pairs, i, &length), sizeof(numbers));
		pairs[i] = (struct page_cache_pair){ numbers[0], numbers[1], c->reclaimed[i] };
	}
	if (c->pairs.nr)
		qsort(pairs, c->pairs.nr, sizeof(*pairs), compare);
	*nr = c->pairs.nr;
	return pairs;
}

char *page_cache_command(const struct page_cache *c, __u32 number)
{
	size_t length;
	const char *name;

	if (!number)
		return xstrdup("(not known)");
	name = intern_bytes(&c->commands, number - 1, &length);
	return text_show(name, length);
}
