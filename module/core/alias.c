// SPDX-License-Identifier: GPL-2.0
/*
 * A second key by which the objects of a table are found.
 *
 * The hash of an alias selects a line of IOT_ALIAS_WIDTH words. A word is 0, or it holds a part
 * of the hash and the index of an object. It is only a hint: the slot at that index may hold
 * another object by now, so the caller checks what it finds. That is why words are added and
 * removed without a lock, and why a word may be overwritten. A word of the same alias is
 * overwritten first: a program that gives all its requests one alias displaces only its own.
 */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include "core/alias.h"

static atomic_t turn;

/* Do two words have the same part of a hash, and so probably the same alias? */
static bool is_same(u32 word, u32 other)
{
	return word && !((word ^ other) >> IOT_ALIAS_INDEX_BITS);
}

/** iot_alias_add_slow() - do iot_alias_add() if the first word is in use */
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

/** iot_alias_remove_slow() - do iot_alias_remove() if the word is not the first */
void iot_alias_remove_slow(u32 *line, u32 word)
{
	unsigned int i;

	for (i = 1; i < IOT_ALIAS_WIDTH; i++)
		if (READ_ONCE(line[i]) == word && cmpxchg(&line[i], word, 0) == word)
			return;
}

/**
 * iot_alias_find() - find the objects that an alias may lead to
 * @numbers:	where to store their indices
 *
 * Context: any. Return: number of indices stored.
 */
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
 * iot_aliases_begin() - start without aliases
 *
 * Context: task, may sleep; no probe is running. Return: 0 or -ENOMEM.
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

/** iot_aliases_free() - free the lines. Context: unload, no probe is left */
void iot_aliases_free(struct iot_aliases *a)
{
	vfree(a->lines);
	a->lines = NULL;
}
