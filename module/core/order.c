// SPDX-License-Identifier: GPL-2.0
/*
 * Sorts elements that are nearly in order.
 *
 * Blocks of a few elements are sorted by insertion, then pairs of blocks are merged, and so on.
 * Only the overlapping part of two neighbours is merged; a search finds its start. So elements in
 * order take one comparison per element and per pair of blocks, and n elements in any order take
 * about n * log2(n) at most. The sort is stable.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include "core/order.h"

#define BLOCK	16	/* things that are sorted by insertion */
#define STEPS	4096	/* things that are merged before is_enough() is called again */

static size_t lesser(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void insert(const struct iot_order *o, u32 *things, size_t nr)
{
	size_t i, j;

	for (i = 1; i < nr; i++) {
		u32 thing = things[i];

		for (j = i; j && o->is_after(o->data, things[j - 1], thing); j--)
			things[j] = things[j - 1];
		things[j] = thing;
	}
}

/* Count the things, of @nr that are in order, that do not belong behind @thing. */
static size_t count_before(const struct iot_order *o, const u32 *things, size_t nr, u32 thing)
{
	size_t from = 0;

	while (from < nr) {
		size_t middle = from + (nr - from) / 2;

		if (o->is_after(o->data, things[middle], thing))
			nr = middle;
		else
			from = middle + 1;
	}
	return from;
}

/* Merge the first @left things, which are copied to @spare, with the @right that follow. */
static bool merge(const struct iot_order *o, u32 *things, size_t left, size_t right, u32 *spare)
{
	const u32 *a = spare, *b = things + left;
	size_t steps = 0;

	memcpy(spare, things, left * sizeof(*things));
	while (left && right) {
		if (o->is_after(o->data, *a, *b)) {
			*things++ = *b++;
			right--;
		} else {
			*things++ = *a++;
			left--;
		}
		if (++steps % STEPS == 0 && o->is_enough(o->data))
			return false;
	}
	memcpy(things, a, left * sizeof(*things)); /* what is left of @right is in its place */
	return true;
}

/* Merge two neighbours, each in order, as far as they overlap. */
static bool join(const struct iot_order *o, u32 *things, size_t left, size_t right, u32 *spare)
{
	size_t first;

	if (!o->is_after(o->data, things[left - 1], things[left]))
		return true;
	first = count_before(o, things, left, things[left]);
	return merge(o, things + first, left - first, right, spare);
}

/**
 * iot_order_sort() - sort things
 * @things:	@nr numbers of things, to be put in order
 * @spare:	memory for as many
 *
 * Context: that of @o's functions. Return: false if it gave up, and @things are useless.
 */
bool iot_order_sort(const struct iot_order *o, u32 *things, size_t nr, u32 *spare)
{
	size_t at, size;

	for (at = 0; at < nr; at += BLOCK) {
		insert(o, things + at, lesser(nr - at, BLOCK));
		if (at % STEPS == 0 && o->is_enough(o->data))
			return false;
	}
	for (size = BLOCK; size < nr; size *= 2) {
		for (at = 0; at + size < nr; at += 2 * size) {
			if (!join(o, things + at, size, lesser(nr - at - size, size), spare))
				return false;
			if (at % STEPS == 0 && o->is_enough(o->data))
				return false;
		}
	}
	return true;
}
