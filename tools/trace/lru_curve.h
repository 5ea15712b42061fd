/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hits that LRU has with a cache of any size.
 *
 * The stack distance of an access is the number of different pages since the last access to its
 * page, that page included (Mattson et al., 1970). It is a hit if the cache has as many pages. A
 * bit for each access says whether it is the last one to its page so far; the distance is the
 * number of bits that are set from the last access on, which a Fenwick tree over words of these
 * bits counts.
 */
#ifndef TOOL_TRACE_LRU_CURVE_H
#define TOOL_TRACE_LRU_CURVE_H

#include <stddef.h>
#include <linux/types.h>

#include "trace/page_accesses.h"

/* Accesses that are reads, and reads and writes together. */
struct hits {
	__u32 reads, all;
};

static inline void hits_add(struct hits *h, __u32 access)
{
	h->reads += !ACCESS_IS_WRITE(access);
	h->all++;
}

struct lru_curve {
	struct hits *hits;	/* by size of the cache in pages, from 0 to @nr */
	size_t nr;		/* different pages */
	struct hits seen;	/* accesses */
};

/*
 * @next, unless it is NULL, gets for each access the position of the next one to its page,
 * ACCESS_NEVER for none.
 */
#define ACCESS_NEVER (~0U)
void lru_curve_make(struct lru_curve *c, const struct page_accesses *a, __u32 *next);

/*
 * The pages are divided into groups by a hash. The curve of the accesses to one of these: of
 * sampled pages, each group is a smaller sample of its own.
 */
#define LRU_GROUPS 16
void lru_curve_make_group(struct lru_curve *c, const struct page_accesses *a, unsigned int group);
void lru_curve_free(struct lru_curve *c);

/* The hits with a cache of so many pages. */
static inline struct hits lru_curve_hits(const struct lru_curve *c, __u64 pages)
{
	return c->hits[pages < c->nr ? pages : c->nr];
}

#endif /* TOOL_TRACE_LRU_CURVE_H */
