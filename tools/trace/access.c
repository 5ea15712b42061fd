// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "trace/access.h"

/* What is known of an owner's last access. */
struct last {
	__u64 time;		/* when it began; of a run: when its first access did */
	__u64 end;
	__u64 bytes;		/* of the run so far */
	bool known;
};

void accesses_add(struct accesses *all, const struct access *a)
{
	if (all->nr == all->room) {
		all->room = 2 * all->room + 4096;
		all->at = xreallocarray(all->at, all->room, sizeof(*all->at));
	}
	all->at[all->nr++] = (struct access_kept){
		.time = a->time, .start = a->start, .length = a->length,
		.owner = intern_add(&all->owners, &a->owner, sizeof(a->owner)),
	};
}

void accesses_free(struct accesses *all)
{
	free(all->at);
	intern_free(&all->owners);
	*all = (struct accesses){ .nr = 0 };
}

static bool is_before(const struct access_kept *a, const struct access_kept *b)
{
	return a->time != b->time ? a->time < b->time : a->start < b->start;
}

/* The k-th of Sedgewick's gaps: with them no order takes more than about nr^(4/3) steps. */
static size_t gap_of(unsigned int k)
{
	return k ? ((size_t)1 << 2 * k) + 3 * ((size_t)1 << (k - 1)) + 1 : 1;
}

/*
 * A Shell sort: it needs no memory, as qsort(3) would, and is quick where most accesses are near their
 * places.
 */
static void sort(struct accesses *all)
{
	unsigned int k = 0;
	size_t gap, i, j;

	while (gap_of(k + 1) < all->nr)
		k++;
	for (;; k--) {
		gap = gap_of(k);
		for (i = gap; i < all->nr; i++) {
			struct access_kept moved = all->at[i];

			for (j = i; j >= gap && is_before(&moved, &all->at[j - gap]); j -= gap)
				all->at[j] = all->at[j - gap];
			all->at[j] = moved;
		}
		if (!k)
			break;
	}
}

static __u32 key_of(const struct accesses *all, __u32 owner)
{
	struct access_owner o;
	size_t length;

	memcpy(&o, intern_bytes(&all->owners, owner, &length), sizeof(o));
	return o.key;
}

static struct last *new_lasts(const struct accesses *all)
{
	struct last *lasts = xreallocarray(NULL, all->owners.nr, sizeof(*lasts));

	memset(lasts, 0, all->owners.nr * sizeof(*lasts));
	return lasts;
}

void accesses_gaps(struct accesses *all, access_take take, void *data)
{
	struct last *lasts = new_lasts(all);
	size_t i;

	sort(all);
	for (i = 0; i < all->nr; i++) {
		const struct access_kept *a = &all->at[i];
		struct last *last = &lasts[a->owner];

		if (last->known)
			take(data, key_of(all, a->owner), a->time - last->time, a->time);
		*last = (struct last){ .time = a->time, .known = true };
	}
	free(lasts);
}

void accesses_runs(struct accesses *all, access_take take, void *data)
{
	struct last *lasts = new_lasts(all);
	size_t i;

	sort(all);
	for (i = 0; i < all->nr; i++) {
		const struct access_kept *a = &all->at[i];
		struct last *last = &lasts[a->owner];

		if (last->known && last->end == a->start) {
			last->bytes += a->length;
			last->end += a->length;
			continue;
		}
		if (last->known)
			take(data, key_of(all, a->owner), last->bytes, last->time);
		*last = (struct last){
			.time = a->time, .end = a->start + a->length, .bytes = a->length, .known = true,
		};
	}
	for (i = 0; i < all->owners.nr; i++)
		take(data, key_of(all, i), lasts[i].bytes, lasts[i].time);
	free(lasts);
}
