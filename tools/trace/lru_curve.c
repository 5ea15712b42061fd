// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "trace/lru_curve.h"

#define WORD 64

/* The accesses that are the last ones to their pages so far. */
struct marks {
	__u64 *bits;
	__u32 *tree;		/* Fenwick tree of the bits that are set in each word, from 1 on */
	size_t nr_words;
	size_t nr;		/* bits that are set: pages */
};

static void marks_open(struct marks *m, size_t nr)
{
	*m = (struct marks){ .nr_words = (nr + WORD - 1) / WORD };
	m->bits = xchecked(calloc(m->nr_words + 1, sizeof(*m->bits)));
	m->tree = xchecked(calloc(m->nr_words + 1, sizeof(*m->tree)));
}

static void marks_close(struct marks *m)
{
	free(m->bits);
	free(m->tree);
}

static void add(struct marks *m, size_t at, __u32 n)
{
	size_t i;

	m->bits[at / WORD] ^= 1ULL << at % WORD;
	for (i = at / WORD + 1; i <= m->nr_words; i += i & -i)
		m->tree[i] += n;
	m->nr += (int)n;
}

/* Bits that are set at @at and before it. */
static size_t count_to(const struct marks *m, size_t at)
{
	size_t sum = __builtin_popcountll(m->bits[at / WORD] & ~0ULL >> (WORD - 1 - at % WORD));
	size_t i;

	for (i = at / WORD; i; i &= i - 1)
		sum += m->tree[i];
	return sum;
}

/* Notes an access at @now to a page, whose last one was at @last. Returns its distance; 0: none. */
static size_t access_at(struct marks *m, size_t now, __u32 last)
{
	size_t distance = 0;

	if (last != ACCESS_NEVER) {
		distance = m->nr - count_to(m, last) + 1;
		add(m, last, -1);
	}
	add(m, now, 1);
	return distance;
}

/* From the hits with each distance to those with it or a smaller one. */
static void sum_up(struct lru_curve *c)
{
	size_t i;

	for (i = 1; i <= c->nr; i++) {
		c->hits[i].reads += c->hits[i - 1].reads;
		c->hits[i].all += c->hits[i - 1].all;
	}
}

/* By page: where its last access was. */
static __u32 *no_accesses(const struct page_accesses *a)
{
	__u32 *last = xreallocarray(NULL, a->nr_pages, sizeof(*last));

	return memset(last, 0xff, a->nr_pages * sizeof(*last));
}

void lru_curve_make(struct lru_curve *c, const struct page_accesses *a, __u32 *next)
{
	__u32 *last = no_accesses(a);
	struct marks marks;
	size_t i, distance;

	*c = (struct lru_curve){ .nr = a->nr_pages };
	c->hits = xchecked(calloc(c->nr + 1, sizeof(*c->hits)));
	marks_open(&marks, a->nr);
	for (i = 0; i < a->nr; i++) {
		__u32 *its = &last[ACCESS_PAGE(a->at[i])];

		hits_add(&c->seen, a->at[i]);
		distance = access_at(&marks, i, *its);
		if (distance) {
			hits_add(&c->hits[distance], a->at[i]);
			if (next)
				next[*its] = i;
		}
		if (next)
			next[i] = ACCESS_NEVER;
		*its = i;
	}
	marks_close(&marks);
	sum_up(c);
	free(last);
}

/* Pages are numbered in the order of their first access, so the numbers are hashed. */
static bool is_of(const struct page_accesses *a, size_t i, unsigned int group)
{
	return page_hash(ACCESS_PAGE(a->at[i])) % LRU_GROUPS == group;
}

void lru_curve_make_group(struct lru_curve *c, const struct page_accesses *a, unsigned int group)
{
	__u32 *last = no_accesses(a), now = 0;
	struct marks marks;
	size_t i, distance;

	*c = (struct lru_curve){ .nr = 0 };
	for (i = 0; i < a->nr; i++)
		if (is_of(a, i, group))
			hits_add(&c->seen, a->at[i]);
	for (i = 0; i < a->nr_pages; i++)
		c->nr += page_hash(i) % LRU_GROUPS == group;
	c->hits = xchecked(calloc(c->nr + 1, sizeof(*c->hits)));
	marks_open(&marks, c->seen.all);
	for (i = 0; i < a->nr; i++) {
		__u32 *its = &last[ACCESS_PAGE(a->at[i])];

		if (!is_of(a, i, group))
			continue;
		distance = access_at(&marks, now, *its);
		if (distance)
			hits_add(&c->hits[distance], a->at[i]);
		*its = now++;
	}
	marks_close(&marks);
	sum_up(c);
	free(last);
}

void lru_curve_free(struct lru_curve *c)
{
	free(c->hits);
	*c = (struct lru_curve){ .nr = 0 };
}
