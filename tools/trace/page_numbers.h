/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages of files and disks as numbers: the first page is 0, each new one is the next number.
 *
 * A page takes 8 bytes, and 5 to 11 of a hash table. Names of files are kept once, for 16 TiB of
 * each.
 */
#ifndef TOOL_TRACE_PAGE_NUMBERS_H
#define TOOL_TRACE_PAGE_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "trace/intern.h"

#define PAGE_SHIFT	12		/* pages of 4096 bytes, on all machines that iotracer runs on */
#define PAGE_BYTES	(1ULL << PAGE_SHIFT)
#define PAGE_NAME	64		/* most bytes of a file's name */

/* Start from a zeroed struct. */
struct page_numbers {
	struct intern regions;		/* a file's name, and the upper bits of the index of a page */
	__u64 *keys;			/* by number: region << 32 | lower bits of the index */
	size_t nr, room;
	__u32 *slots;			/* numbers + 1, by hash; 0: free */
	size_t nr_slots;		/* a power of two */
};

/* A file, and a page in it. */
struct page_place {
	const void *name;		/* PAGE_NAME bytes at most */
	size_t length;
	__u64 index;
	__u64 key;			/* of that page */
};

/* Finds the key of the page; moves on to the next page of the file. */
void page_place_find(struct page_numbers *p, struct page_place *at);
void page_place_next(struct page_numbers *p, struct page_place *at);

/* A hash of a key that is the same in every run. */
__u32 page_hash(__u64 key);

/* The number of a page, which is p->nr - 1 if it is new. */
__u32 page_number(struct page_numbers *p, __u64 key);

/* The last four bytes of the name of a page's file, as a number. */
__u32 page_name_end(const struct page_numbers *p, __u32 number);

bool page_is_known(const struct page_numbers *p, __u64 key);

/* Forgets the pages, not the files. */
void page_numbers_clear(struct page_numbers *p);
void page_numbers_free(struct page_numbers *p);

#endif /* TOOL_TRACE_PAGE_NUMBERS_H */
