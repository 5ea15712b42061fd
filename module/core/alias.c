// SPDX-License-Identifier: GPL-2.0
/*
 * A second key by which the things of a table are found.
 *
 * An alias leads to a line of IOT_ALIAS_WIDTH words, each of which is 0 or has a part of
 * the alias's hash and the number of a thing. A word is a hint: the thing that it leads to
 * may be another one by now, and has to be looked at. So words come and go without a
 * lock, and one may be written over: of the same alias first, so that a program that
 * gives all that it does one name displaces its own only.
 */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include "core/alias.h"

static atomic_t turn;

/* Do two words belong to the same alias, as far as they tell? */
static bool is_same(u32 word, u32 other)
{
	return word && !((word ^ other) >> IOT_ALIAS_INDEX_BITS);
}

/** iot_alias_add_slow() - iot_alias_add() where the first word is taken */
bool iot_alias_add_slow(u32 *line, u32 word)
{
	unsigned int i, at;
	u32 old;

	for (i = 0; i < IOT_ALIAS_WIDTH; i++)
		if (!READ_ONCE(line[i]) && !cmpxchg(&line[i], 0, word))
			return true;
	at = (unsigned int)atomic_inc_return_relaxed(&turn);
	for (i = 0; i < IOT_ALIAS_WIDTH; i++, at++)
		if (is_same(READ_ONCE(line[at % IOT_ALIAS_WIDTH]), word))
			break;
	old = xchg(&line[at % IOT_ALIAS_WIDTH], word);
	return !old || is_same(old, word);
}

/** iot_alias_remove_slow() - iot_alias_remove() of what is not the first word */
void iot_alias_remove_slow(u32 *line, u32 word)
{
	unsigned int i;

	for (i = 1; i < IOT_ALIAS_WIDTH; i++)
		if (READ_ONCE(line[i]) == word && cmpxchg(&line[i], word, 0) == word)
			return;
}

/** iot_alias_find() - what an alias may lead to. Context: any. Return: how many */
unsigned int iot_alias_find(const struct iot_aliases *a, u64 hash,
			    u32 numbers[IOT_ALIAS_WIDTH])
{
	const u32 *line = iot_alias_line(a, hash);
	u32 tag = iot_alias_word(hash, 0);
	unsigned int i, n = 0;

	for (i = 0; i < IOT_ALIAS_WIDTH; i++) {
		u32 word = READ_ONCE(line[i]);

		if (is_same(word, tag))
			numbers[n++] = (word & (BIT(IOT_ALIAS_INDEX_BITS) - 1)) - 1;
	}
	return n;
}

/**
 * iot_aliases_begin() - none. No probe is at work
 *
 * Context: may sleep. Return: 0 or -ENOMEM.
 */
int iot_aliases_begin(struct iot_aliases *a)
{
	size_t bytes = BIT(IOT_ALIAS_LINE_BITS) * sizeof(*a->lines);

	if (a->lines)
		memset(a->lines, 0, bytes);
	else
		a->lines = vzalloc(bytes);
	return a->lines ? 0 : -ENOMEM;
}

/** iot_aliases_free() - at unload, when no probe is left */
void iot_aliases_free(struct iot_aliases *a)
{
	vfree(a->lines);
	a->lines = NULL;
}
