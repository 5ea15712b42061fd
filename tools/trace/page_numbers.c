// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "trace/page_numbers.h"

#define SLOTS_LEAST	1024
#define LOWER_BITS	32

void page_place_find(struct page_numbers *p, struct page_place *at)
{
	__u32 upper = at->index >> LOWER_BITS;
	char region[PAGE_NAME + sizeof(upper)];

	memcpy(region, &upper, sizeof(upper));
	memcpy(region + sizeof(upper), at->name, at->length);
	at->key = (__u64)intern_add(&p->regions, region, sizeof(upper) + at->length) << LOWER_BITS |
		  (__u32)at->index;
}

void page_place_next(struct page_numbers *p, struct page_place *at)
{
	at->key++;
	at->index++;
	if (!(__u32)at->index)
		page_place_find(p, at);
}

/* The finalizer of splitmix64: each bit of the key changes half of the bits of the result. */
static __u64 mix(__u64 n)
{
	n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9ULL;
	n = (n ^ n >> 27) * 0x94d049bb133111ebULL;
	return n ^ n >> 31;
}

__u32 page_hash(__u64 key)
{
	return mix(key + 0x9e3779b97f4a7c15ULL) >> 32;
}

/*
 * A traced program chooses which pages it reads. So the slot depends on the seed of the names,
 * which is random, and nobody can choose pages that all have the same slot.
 */
static __u32 *slot_of(const struct page_numbers *p, __u64 key)
{
	size_t i = mix(key ^ p->regions.seed) & (p->nr_slots - 1);

	while (p->slots[i] && p->keys[p->slots[i] - 1] != key)
		i = (i + 1) & (p->nr_slots - 1);
	return &p->slots[i];
}

static void grow(struct page_numbers *p)
{
	size_t i;

	p->nr_slots = p->nr_slots ? 2 * p->nr_slots : SLOTS_LEAST;
	free(p->slots);
	p->slots = xreallocarray(NULL, p->nr_slots, sizeof(*p->slots));
	memset(p->slots, 0, p->nr_slots * sizeof(*p->slots));
	for (i = 0; i < p->nr; i++)
		*slot_of(p, p->keys[i]) = i + 1;
}

__u32 page_number(struct page_numbers *p, __u64 key)
{
	__u32 *slot;

	/* Three quarters full at most, so that a search ends soon. */
	if (p->nr >= p->nr_slots / 4 * 3)
		grow(p);
	slot = slot_of(p, key);
	if (*slot)
		return *slot - 1;
	if (p->nr == p->room) {
		p->room = 2 * p->room + SLOTS_LEAST;
		p->keys = xreallocarray(p->keys, p->room, sizeof(*p->keys));
	}
	p->keys[p->nr] = key;
	*slot = ++p->nr;
	return p->nr - 1;
}

__u32 page_name_end(const struct page_numbers *p, __u32 number)
{
	size_t length;
	const char *region = intern_bytes(&p->regions, p->keys[number] >> LOWER_BITS, &length);
	__u32 end;

	memcpy(&end, region + length - sizeof(end), sizeof(end));
	return end;
}

bool page_is_known(const struct page_numbers *p, __u64 key)
{
	return p->nr && *slot_of(p, key);
}

void page_numbers_clear(struct page_numbers *p)
{
	free(p->keys);
	free(p->slots);
	p->keys = NULL;
	p->slots = NULL;
	p->nr = 0;
	p->room = 0;
	p->nr_slots = 0;
}

void page_numbers_free(struct page_numbers *p)
{
	page_numbers_clear(p);
	intern_free(&p->regions);
}
