// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "trace/distribution.h"

#define SIZE_LEAST	8
#define NARROW_MOST	0xffffffffULL
#define WHOLE		10000	/* the parts of all values */

static __u64 value_of(__u64 word)
{
	return word >> 32;
}

static __u64 weight_of(__u64 word)
{
	return word & NARROW_MOST;
}

/* The slot of a value, or the free one where it belongs. */
static __u64 *find(const struct distribution *d, __u64 value)
{
	size_t i = (value * 0x9e3779b97f4a7c15ULL >> 32) & (d->size - 1);

	while (d->narrow[i] && value_of(d->narrow[i]) != value)
		i = (i + 1) & (d->size - 1);
	return &d->narrow[i];
}

static void grow(struct distribution *d)
{
	struct distribution old = *d;
	size_t i;

	d->size = old.size ? 2 * old.size : SIZE_LEAST;
	d->narrow = xreallocarray(NULL, d->size, sizeof(*d->narrow));
	memset(d->narrow, 0, d->size * sizeof(*d->narrow));
	for (i = 0; i < old.size; i++)
		if (old.narrow[i])
			*find(d, value_of(old.narrow[i])) = old.narrow[i];
	free(old.narrow);
}

static void add_wide(struct distribution *d, __u64 value, __u64 weight)
{
	if (d->nr_wide == d->room_wide) {
		d->room_wide = 2 * d->room_wide + 16;
		d->wide = xreallocarray(d->wide, d->room_wide, sizeof(*d->wide));
	}
	d->wide[d->nr_wide++] = (struct distribution_wide){ value, weight };
}

void distribution_add(struct distribution *d, __u64 value, __u64 weight)
{
	__u64 *slot;

	if (value > NARROW_MOST || weight > NARROW_MOST) {
		add_wide(d, value, weight);
		return;
	}
	/* Three quarters full at most, so that a search ends soon. */
	if (d->nr >= d->size / 4 * 3)
		grow(d);
	slot = find(d, value);
	if (!*slot) {
		*slot = value << 32 | weight;
		d->nr++;
	} else if (weight_of(*slot) + weight <= NARROW_MOST) {
		*slot += weight;
	} else {
		add_wide(d, value, weight);
	}
}

void distribution_merge(struct distribution *to, const struct distribution *from)
{
	size_t i;

	for (i = 0; i < from->size; i++)
		if (from->narrow[i])
			distribution_add(to, value_of(from->narrow[i]), weight_of(from->narrow[i]));
	for (i = 0; i < from->nr_wide; i++)
		distribution_add(to, from->wide[i].value, from->wide[i].weight);
}

__u64 distribution_above(const struct distribution *d, __u64 value)
{
	__u64 above = 0;
	size_t i;

	for (i = 0; i < d->size; i++)
		if (value_of(d->narrow[i]) > value)
			above += weight_of(d->narrow[i]);
	for (i = 0; i < d->nr_wide; i++)
		if (d->wide[i].value > value)
			above += d->wide[i].weight;
	return above;
}

static int compare_words(const void *a, const void *b)
{
	__u64 x = *(const __u64 *)a, y = *(const __u64 *)b;

	return (x > y) - (x < y);
}

static int compare_wide(const void *a, const void *b)
{
	const struct distribution_wide *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

/* Sorts both parts, and returns how many values there are, repeated ones included. */
static __u64 sort(struct distribution *d)
{
	__u64 total = 0;
	size_t i, nr = 0;

	for (i = 0; i < d->size; i++) {
		total += weight_of(d->narrow[i]);
		if (d->narrow[i])
			d->narrow[nr++] = d->narrow[i];
	}
	/* So that it can be sorted again. */
	for (i = nr; i < d->size; i++)
		d->narrow[i] = 0;
	for (i = 0; i < d->nr_wide; i++)
		total += d->wide[i].weight;
	if (nr)
		qsort(d->narrow, nr, sizeof(*d->narrow), compare_words);
	if (d->nr_wide)
		qsort(d->wide, d->nr_wide, sizeof(*d->wide), compare_wide);
	return total;
}

/* The next of both sorted parts: a value of the hash table with a large weight may be in both. */
static struct distribution_wide next(const struct distribution *d, size_t *narrow, size_t *wide)
{
	__u64 word = *narrow < d->nr ? d->narrow[*narrow] : 0;

	if (*wide < d->nr_wide && (!word || d->wide[*wide].value < value_of(word)))
		return d->wide[(*wide)++];
	++*narrow;
	return (struct distribution_wide){ value_of(word), weight_of(word) };
}

/*
 * The values of these ranks, which rise: 0 for rank 0, DISTRIBUTION_NONE behind the last one. It is
 * sorted, and has @total values.
 */
static void values_of(const struct distribution *d, __u64 total, const __u64 *ranks, size_t nr, __u64 *values)
{
	__u64 seen = 0, value = 0;
	size_t narrow = 0, wide = 0, i;

	for (i = 0; i < nr; i++) {
		while (seen < ranks[i] && seen < total) {
			struct distribution_wide w = next(d, &narrow, &wide);

			value = w.value;
			seen += w.weight;
		}
		values[i] = ranks[i] > total ? DISTRIBUTION_NONE : value;
	}
}

static __u64 rank_of(__u64 total, unsigned int part)
{
	return ((__uint128_t)total * part + WHOLE - 1) / WHOLE;
}

void distribution_percentiles(struct distribution *d, const unsigned int *parts, size_t nr,
			      __u64 *values)
{
	__u64 ranks[DISTRIBUTION_PARTS], total = sort(d);
	size_t i;

	for (i = 0; i < nr; i++)
		ranks[i] = rank_of(total, parts[i]);
	values_of(d, total, ranks, nr, values);
}

/*
 * If @missing are all smaller, the value at a rank is the one that is as many ranks lower; if all
 * are larger, it is the one at the rank. If fewer are missing, it is between these.
 */
void distribution_bounds(struct distribution *d, const unsigned int *parts, size_t nr, __u64 missing,
			 __u64 *low, __u64 *high)
{
	__u64 lower[DISTRIBUTION_PARTS], upper[DISTRIBUTION_PARTS], total = sort(d), all;
	size_t i;

	if (__builtin_add_overflow(total, missing, &all))
		all = ~0ULL;
	for (i = 0; i < nr; i++) {
		upper[i] = rank_of(all, parts[i]);
		lower[i] = upper[i] > missing ? upper[i] - missing : 0;
	}
	values_of(d, total, lower, nr, low);
	values_of(d, total, upper, nr, high);
}

__u64 distribution_mode(struct distribution *d, __u64 *count)
{
	__u64 total = sort(d), seen = 0, value = 0, weight = 0, mode = 0;
	size_t narrow = 0, wide = 0;

	*count = 0;
	while (seen < total) {
		struct distribution_wide w = next(d, &narrow, &wide);

		seen += w.weight;
		weight = seen > w.weight && w.value == value ? weight + w.weight : w.weight;
		value = w.value;
		if (weight > *count) {
			*count = weight;
			mode = value;
		}
	}
	return mode;
}

void distribution_free(struct distribution *d)
{
	free(d->narrow);
	free(d->wide);
	*d = (struct distribution){ .nr = 0 };
}
