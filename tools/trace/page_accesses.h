/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Accesses to pages, in their order, for a simulation of caches.
 *
 * An access takes 4 bytes while the trace is read, and 4 more in the simulation; a page takes up to
 * 19 bytes while the trace is read. Where this is more than the bound, the pages are sampled
 * (SHARDS, Waldspurger et al., FAST '15): a page is kept if a hash of it is below a threshold, with
 * all accesses to it. The threshold is halved until the accesses fit. What was kept before is then
 * thinned out, so the result is the same as if the last threshold had been the first.
 */
#ifndef TOOL_TRACE_PAGE_ACCESSES_H
#define TOOL_TRACE_PAGE_ACCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "trace/page_numbers.h"

#define PAGE_ACCESSES_ALL (1ULL << 32)	/* the threshold that keeps every page */
#define PAGE_ACCESSES_MEMORY (256ULL << 20)	/* bytes: the bound by default */

/* Set before the first access: @threshold, @memory. */
struct page_accesses {
	__u64 threshold;	/* of a hash of 32 bits */
	__u64 memory;		/* bytes: the bound */

	struct page_numbers pages;	/* empty from page_accesses_end() on */
	__u32 *at;		/* of those kept: page << 1 | whether it is a write */
	size_t nr, room;
	size_t nr_pages;	/* from page_accesses_end() on */
	__u64 calls;		/* that had bytes */
	__u64 seen, seen_reads;	/* accesses, kept or not */
};

#define ACCESS_PAGE(word)	((word) >> 1)
#define ACCESS_IS_WRITE(word)	((word) & 1)

/* A call or request that accesses bytes of a file or disk. */
struct page_access {
	char name[PAGE_NAME];	/* of the file or disk: any bytes */
	size_t length;		/* of the name */
	__u64 offset, bytes;
	bool write;
};

/* Adds an access to each page of the range. */
void page_accesses_add(struct page_accesses *a, const struct page_access *access);

/* No access follows. */
void page_accesses_end(struct page_accesses *a);
void page_accesses_free(struct page_accesses *a);

/* The share of the pages that were kept. */
static inline double page_accesses_rate(const struct page_accesses *a)
{
	return (double)a->threshold / PAGE_ACCESSES_ALL;
}

#endif /* TOOL_TRACE_PAGE_ACCESSES_H */
