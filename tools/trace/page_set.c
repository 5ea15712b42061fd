// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "trace/page_set.h"

#define PAGE_SHIFT	12
#define RANGE_SHIFT	6	/* pages: a bit each */
#define RANGE_PAGES	(1U << RANGE_SHIFT)
#define SIZE_LEAST	64
#define INDEX_BITS	32

struct page_set_range {
	__u64 key;		/* number of the file << 32 | index of the range */
	__u64 pages;		/* 0: the slot is free */
};

/* A file's part of 2^32 ranges. */
struct part {
	struct page_set_file file;
	__u64 number;
};

/* The seed is random: a program chooses its offsets, but not which of them meet in the table. */
static struct page_set_range *find(const struct page_set *s, __u64 key)
{
	__uint128_t product = (__uint128_t)(key ^ s->files.seed) * (0x9e3779b97f4a7c15ULL ^ s->files.seed);
	size_t i = ((__u64)product ^ (__u64)(product >> 64)) & (s->size - 1);

	while (s->ranges[i].pages && s->ranges[i].key != key)
		i = (i + 1) & (s->size - 1);
	return &s->ranges[i];
}

static void grow(struct page_set *s)
{
	struct page_set old = *s;
	size_t i;

	s->size = old.size ? 2 * old.size : SIZE_LEAST;
	s->ranges = xreallocarray(NULL, s->size, sizeof(*s->ranges));
	memset(s->ranges, 0, s->size * sizeof(*s->ranges));
	for (i = 0; i < old.size; i++)
		if (old.ranges[i].pages)
			*find(s, old.ranges[i].key) = old.ranges[i];
	free(old.ranges);
}

/* Adds pages of one range; returns how many of them are new. */
static unsigned int add(struct page_set *s, __u64 key, __u64 pages)
{
	struct page_set_range *range;
	__u64 fresh;

	/* Three quarters full at most, so that a search ends soon. */
	if (s->nr >= s->size / 4 * 3 && s->nr < PAGE_SET_MOST)
		grow(s);
	range = find(s, key);
	if (!range->pages && s->nr == PAGE_SET_MOST) {
		s->full = true;
		return 0;
	}
	if (!range->pages) {
		range->key = key;
		s->nr++;
	}
	fresh = pages & ~range->pages;
	range->pages |= pages;
	return __builtin_popcountll(fresh);
}

/* The bits of the pages from @first to @last that are in the range of @first. */
static __u64 bits_of(__u64 first, __u64 last)
{
	unsigned int low = first % RANGE_PAGES;
	unsigned int high = last >> RANGE_SHIFT == first >> RANGE_SHIFT ? last % RANGE_PAGES :
									 RANGE_PAGES - 1;

	return (~0ULL << low) & (~0ULL >> (RANGE_PAGES - 1 - high));
}

/* The last page that an access touches. */
static __u64 last_of(__u64 start, __u64 bytes)
{
	__u64 last = start + (bytes > PAGE_SET_BYTES ? PAGE_SET_BYTES : bytes) - 1;

	return (last < start ? ~0ULL : last) >> PAGE_SHIFT;
}

__u64 page_set_pages(__u64 start, __u64 bytes)
{
	return bytes ? last_of(start, bytes) - (start >> PAGE_SHIFT) + 1 : 0;
}

__u64 page_set_add(struct page_set *s, const struct page_set_file *file, __u64 start, __u64 bytes)
{
	struct part part = { .file = *file, .number = ~0ULL };
	__u64 page = start >> PAGE_SHIFT, last, range, fresh = 0;
	__u32 number = 0;

	if (!bytes)
		return 0;
	for (last = last_of(start, bytes); page <= last; page = (range + 1) << RANGE_SHIFT) {
		range = page >> RANGE_SHIFT;
		if (range >> INDEX_BITS != part.number) {
			part.number = range >> INDEX_BITS;
			number = intern_add(&s->files, &part, sizeof(part));
		}
		fresh += add(s, (__u64)number << INDEX_BITS | (__u32)range, bits_of(page, last));
	}
	return fresh;
}

void page_set_free(struct page_set *s)
{
	free(s->ranges);
	intern_free(&s->files);
}
