/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the page cache of the kernel did, from the events of category cache: which pages that were
 * read ahead were used, and who made the kernel reclaim whose pages.
 *
 * A page belongs to the command that last looked it up or had it read.
 */
#ifndef TOOL_TRACE_PAGE_CACHE_H
#define TOOL_TRACE_PAGE_CACHE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "trace/page_access.h"
#include "trace/intern.h"

enum page_cache_way { PAGE_CACHE_READ, PAGE_CACHE_WRITE, PAGE_CACHE_FAULT, PAGE_CACHE_WAYS };

/* Why pages were removed: RECLAIM, INVALIDATE, EVICT, DROP. */
#define PAGE_CACHE_REMOVALS 4

/* Set before the first record: @memory. */
struct page_cache {
	__u64 memory;			/* bytes: further pages are not followed */

	struct page_numbers pages;
	struct page_state {
		__u32 owner;		/* number of its command + 1; 0: nobody known */
		bool missed;		/* it was looked up last, and not found */
		bool ahead;		/* it was read ahead, and not used so far */
	} *states;
	size_t room;
	struct intern commands;
	struct intern pairs;		/* of numbers: who reclaimed, and the owner + 1 */
	__u64 *reclaimed;		/* pages, by pair */
	size_t nr_pairs, room_pairs;

	/* Pages */
	struct {
		__u64 hits, misses;
	} lookups[PAGE_CACHE_WAYS];
	__u64 asked;			/* read, after a lookup that missed them */
	__u64 ahead;			/* read for nobody so far */
	__u64 ahead_used;		/* of these: looked up later */
	__u64 ahead_removed;		/* never looked up until they were removed */
	__u64 removed[PAGE_CACHE_REMOVALS];
	__u64 unfollowed;		/* too many to be followed */
};

extern const char *const page_cache_removals[PAGE_CACHE_REMOVALS];

/* @f: of the event cache. @comm: the record's field. */
void page_cache_add(struct page_cache *c, const struct page_access_fields *f,
		    const struct iot_schema_field *comm, const void *record, const struct measure *m,
		    const struct source *source);
void page_cache_free(struct page_cache *c);

/* Who reclaimed whose pages, most pages first. The caller frees it. */
struct page_cache_pair {
	__u32 by, of;			/* numbers of commands + 1; 0: nobody known */
	__u64 pages;
};

struct page_cache_pair *page_cache_pairs(const struct page_cache *c, size_t *nr);

/* A command by its number + 1, as it is shown. The caller frees it. */
char *page_cache_command(const struct page_cache *c, __u32 number);

#endif /* TOOL_TRACE_PAGE_CACHE_H */
