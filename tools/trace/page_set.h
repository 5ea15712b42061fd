/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sets of pages of 4096 bytes, of several owners.
 *
 * The pages of 256 KiB share 16 bytes: 21 to 43 bytes with the free slots of the hash table, and half as much
 * more while it grows. PAGE_SET_MOST ranges of 256 KiB are kept; pages of others are not counted then, and
 * the set is full.
 */
#ifndef TOOL_TRACE_PAGE_SET_H
#define TOOL_TRACE_PAGE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "trace/intern.h"

#define PAGE_SET_MOST	(6U << 20)
#define PAGE_SET_BYTES	(1ULL << 31)	/* most that one access touches: the kernel moves no more */

struct page_set_range;

/* Start from a zeroed struct. */
struct page_set {
	struct intern files;	/* by owner; one that is large has several numbers */
	struct page_set_range *ranges;	/* a hash table */
	size_t nr, size;	/* size: a power of two */
	bool full;
};

/* What the pages are of: compared as bytes, so set reserved to 0. */
struct page_set_file {
	__u64 owner, source, inode;
	__u32 device, reserved;
};

/* The pages that an access touches, of PAGE_SET_BYTES at most. */
__u64 page_set_pages(__u64 start, __u64 bytes);

/* Adds them; returns how many of them were not in the set. */
__u64 page_set_add(struct page_set *s, const struct page_set_file *file, __u64 start, __u64 bytes);
void page_set_free(struct page_set *s);

#endif /* TOOL_TRACE_PAGE_SET_H */
