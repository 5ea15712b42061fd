// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "base/xalloc.h"
#include "trace/page_accesses.h"

#define BYTES_OF_ACCESS	8
#define BYTES_OF_PAGE	18
#define PAGE_ACCESSES_MOST	0xfffffff0ULL		/* their positions have 32 bits */
#define PAGES_MOST	0x7ffffff0ULL		/* their numbers have 31 bits */
#define CALL_MOST	(1ULL << 32)		/* no call or request moves more bytes */

static bool is_kept(const struct page_accesses *a, __u64 key)
{
	return page_hash(key) < a->threshold;
}

static bool is_full(const struct page_accesses *a)
{
	return a->nr > PAGE_ACCESSES_MOST || a->pages.nr > PAGES_MOST ||
	       a->nr * BYTES_OF_ACCESS + a->pages.nr * BYTES_OF_PAGE > a->memory;
}

/* Drops the pages above the threshold, and their accesses. The others get new numbers. */
static void thin_out(struct page_accesses *a)
{
	__u64 *keys = a->pages.keys;
	size_t i, kept = 0;

	a->pages.keys = NULL;
	page_numbers_clear(&a->pages);
	for (i = 0; i < a->nr; i++) {
		__u64 key = keys[ACCESS_PAGE(a->at[i])];

		if (is_kept(a, key))
			a->at[kept++] = page_number(&a->pages, key) << 1 | ACCESS_IS_WRITE(a->at[i]);
	}
	a->nr = kept;
	free(keys);
}

static void add_page(struct page_accesses *a, __u64 key, bool write)
{
	if (!is_kept(a, key))
		return;
	if (a->nr == a->room) {
		a->room = 2 * a->room + 1024;
		a->at = xreallocarray(a->at, a->room, sizeof(*a->at));
	}
	a->at[a->nr++] = page_number(&a->pages, key) << 1 | write;
	while (is_full(a) && a->threshold > 1) {
		a->threshold /= 2;
		thin_out(a);
	}
}

void page_accesses_add(struct page_accesses *a, const struct page_access *access)
{
	struct page_place at = {
		.name = access->name, .length = access->length,
		.index = access->offset >> PAGE_SHIFT,
	};
	__u64 bytes = access->bytes, nr;

	if (bytes > CALL_MOST)
		bytes = CALL_MOST;
	/* A file has no byte behind the last one that 64 bits can count. */
	if (bytes > ~access->offset)
		bytes = ~access->offset;
	if (!bytes)
		return;
	nr = ((access->offset + bytes - 1) >> PAGE_SHIFT) - at.index + 1;
	a->calls++;
	a->seen += nr;
	if (!access->write)
		a->seen_reads += nr;
	for (page_place_find(&a->pages, &at); nr; nr--) {
		add_page(a, at.key, access->write);
		page_place_next(&a->pages, &at);
	}
}

void page_accesses_end(struct page_accesses *a)
{
	a->nr_pages = a->pages.nr;
	page_numbers_free(&a->pages);
}

void page_accesses_free(struct page_accesses *a)
{
	page_numbers_free(&a->pages);
	free(a->at);
}
