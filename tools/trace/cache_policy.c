// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "trace/cache_policy.h"

/* --- FIFO ----------------------------------------------------------------------- */

struct hits cache_fifo(const struct page_accesses *a, __u64 pages)
{
	/* By page: how many pages had been brought in with it; 0: it never was. */
	__u32 *turn = xchecked(calloc(a->nr_pages + 1, sizeof(*turn)));
	struct hits hits = { 0 };
	__u32 turns = 0;
	size_t i;

	for (i = 0; i < a->nr; i++) {
		__u32 *its = &turn[ACCESS_PAGE(a->at[i])];

		if (*its && turns - *its < pages)
			hits_add(&hits, a->at[i]);
		else
			*its = ++turns;
	}
	free(turn);
	return hits;
}

/* --- ARC ------------------------------------------------------------------------ */

enum { T1, T2, B1, B2, LISTS, NONE };

struct arc {
	struct links {
		__u32 prev, next;
	} *links;		/* by page; behind these the heads of the lists: most recent first */
	unsigned char *list;	/* by page */
	__u32 heads;		/* the first head: number of pages */
	__u64 length[LISTS];
	__u64 pages;		/* size of the cache */
	double target;		/* of T1's length */
};

static void leave(struct arc *c, __u32 page)
{
	struct links *l = &c->links[page];

	c->links[l->prev].next = l->next;
	c->links[l->next].prev = l->prev;
	c->length[c->list[page]]--;
}

static void enter(struct arc *c, __u32 page, unsigned char list)
{
	__u32 head = c->heads + list, first = c->links[head].next;

	c->links[page] = (struct links){ .prev = head, .next = first };
	c->links[first].prev = page;
	c->links[head].next = page;
	c->list[page] = list;
	c->length[list]++;
}

static __u32 oldest(const struct arc *c, unsigned char list)
{
	return c->links[c->heads + list].prev;
}

static void move(struct arc *c, __u32 page, unsigned char list)
{
	leave(c, page);
	enter(c, page, list);
}

static void forget(struct arc *c, __u32 page)
{
	leave(c, page);
	c->list[page] = NONE;
}

/* Evicts the oldest page of T1 or T2, and keeps its name. */
static void replace(struct arc *c, bool was_in_b2)
{
	if (c->length[T1] && (c->length[T1] > c->target ||
			      (was_in_b2 && c->length[T1] == c->target)))
		move(c, oldest(c, T1), B1);
	else
		move(c, oldest(c, T2), B2);
}

/* A page whose name was kept is accessed: its list should have been longer. */
static void learn(struct arc *c, unsigned char list)
{
	double b1 = c->length[B1], b2 = c->length[B2];

	if (list == B1) {
		c->target += b1 >= b2 ? 1 : b2 / b1;
		if (c->target > c->pages)
			c->target = c->pages;
	} else {
		c->target -= b2 >= b1 ? 1 : b1 / b2;
		if (c->target < 0)
			c->target = 0;
	}
}

/* Makes room for a page whose name is not known. */
static void make_room(struct arc *c)
{
	__u64 recent = c->length[T1] + c->length[B1];
	__u64 total = recent + c->length[T2] + c->length[B2];

	if (recent == c->pages && !c->length[B1]) {
		forget(c, oldest(c, T1));
	} else if (recent == c->pages) {
		forget(c, oldest(c, B1));
		replace(c, false);
	} else if (total >= c->pages) {
		if (total == 2 * c->pages)
			forget(c, oldest(c, B2));
		replace(c, false);
	}
}

/* Whether it is a hit. */
static bool arc_access(struct arc *c, __u32 page)
{
	unsigned char list = c->list[page];

	switch (list) {
	case T1:
	case T2:
		move(c, page, T2);
		return true;
	case B1:
	case B2:
		learn(c, list);
		replace(c, list == B2);
		move(c, page, T2);
		return false;
	default:
		make_room(c);
		enter(c, page, T1);
		return false;
	}
}

struct hits cache_arc(const struct page_accesses *a, __u64 pages)
{
	struct arc c = { .heads = a->nr_pages, .pages = pages };
	struct hits hits = { 0 };
	size_t i;

	c.links = xreallocarray(NULL, a->nr_pages + LISTS, sizeof(*c.links));
	c.list = xreallocarray(NULL, a->nr_pages, sizeof(*c.list));
	memset(c.list, NONE, a->nr_pages);
	for (i = c.heads; i < c.heads + LISTS; i++)
		c.links[i] = (struct links){ .prev = i, .next = i };
	for (i = 0; i < a->nr; i++)
		if (arc_access(&c, ACCESS_PAGE(a->at[i])))
			hits_add(&hits, a->at[i]);
	free(c.links);
	free(c.list);
	return hits;
}

/* --- MIN ------------------------------------------------------------------------ */

#define WORD	64
#define LEVELS	6	/* 64^6 > 2^32 */

/* A set of positions below a bound: a bit for each, and above that for each word that is not 0. */
struct positions {
	__u64 *words[LEVELS];
	unsigned int levels;
};

static void positions_open(struct positions *s, size_t bound)
{
	s->levels = 0;
	do {
		bound = (bound + WORD - 1) / WORD;
		s->words[s->levels++] = xchecked(calloc(bound + 1, sizeof(__u64)));
	} while (bound > 1);
}

static void positions_close(struct positions *s)
{
	while (s->levels)
		free(s->words[--s->levels]);
}

static bool has(const struct positions *s, size_t at)
{
	return s->words[0][at / WORD] >> at % WORD & 1;
}

static void insert(struct positions *s, size_t at)
{
	unsigned int i;

	for (i = 0; i < s->levels; i++, at /= WORD)
		s->words[i][at / WORD] |= 1ULL << at % WORD;
}

static void withdraw(struct positions *s, size_t at)
{
	unsigned int i;

	for (i = 0; i < s->levels; i++, at /= WORD) {
		s->words[i][at / WORD] &= ~(1ULL << at % WORD);
		if (s->words[i][at / WORD])
			break;
	}
}

/* The last position of a set that is not empty. */
static size_t last_of(const struct positions *s)
{
	unsigned int i = s->levels;
	size_t at = 0;

	while (i--)
		at = at * WORD + WORD - 1 - __builtin_clzll(s->words[i][at]);
	return at;
}

struct hits cache_min(const struct page_accesses *a, const __u32 *next, __u64 pages)
{
	/* The pages in the cache, by their next access; how many of them have one, and have none. */
	struct positions live;
	__u64 nr_live = 0, nr_dead = 0;
	struct hits hits = { 0 };
	size_t i;

	positions_open(&live, a->nr);
	for (i = 0; i < a->nr; i++) {
		if (has(&live, i)) {
			hits_add(&hits, a->at[i]);
			withdraw(&live, i);
			nr_live--;
		} else if (nr_dead && nr_live + nr_dead == pages) {
			nr_dead--;
		} else if (nr_live == pages) {
			withdraw(&live, last_of(&live));
			nr_live--;
		}
		if (next[i] == ACCESS_NEVER) {
			nr_dead++;
		} else {
			insert(&live, next[i]);
			nr_live++;
		}
	}
	positions_close(&live);
	return hits;
}
