// SPDX-License-Identifier: GPL-2.0
/*
 * A second key by which the objects of a table are found.
 *
 * The hash of a second key selects a line of IOT_SECOND_KEY_WIDTH words. A word is 0, or it holds
 * a part of the hash and the index of an object. It is only a hint: the slot at that index may hold
 * another object by now, so the caller checks what it finds. That is why words are added and
 * removed without a lock, and why a word may be overwritten. A word of the same second key is
 * overwritten first: a program that gives all its requests one second key displaces only its own.
 */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include "core/second_key.h"

static atomic_t turn;

/* Do two words have the same part of a hash, and so probably the same second key? */
static bool is_same(u32 word, u32 other)
{
	return word && !((word ^ other) >> IOT_SECOND_KEY_INDEX_BITS);
}

/** iot_second_key_add_slow() - do iot_second_key_add() if the first word is in use */
bool iot_second_key_add_slow(u32 *line, u32 word)
{
	unsigned int i, at;
	u32 old;

	for (i = 0; i < IOT_SECOND_KEY_WIDTH; i++)
		if (!READ_ONCE(line[i]) && !cmpxchg(&line[i], 0, word))
			return true;
	at = (unsigned int)atomic_inc_return_relaxed(&turn);
	for (i = 0; i < IOT_SECOND_KEY_WIDTH; i++, at++)
		if (is_same(READ_ONCE(line[at % IOT_SECOND_KEY_WIDTH]), word))
			break;
	old = xchg(&line[at % IOT_SECOND_KEY_WIDTH], word);
	return !old || is_same(old, word);
}

/** iot_second_key_remove_slow() - do iot_second_key_remove() if the word is not the first */
void iot_second_key_remove_slow(u32 *line, u32 word)
{
	unsigned int i;

	for (i = 1; i < IOT_SECOND_KEY_WIDTH; i++)
		if (READ_ONCE(line[i]) == word && cmpxchg(&line[i], word, 0) == word)
			return;
}

/**
 * iot_second_key_find() - find the objects that a second key may lead to
 * @numbers:	where to store their indices
 *
 * Context: any. Return: number of indices stored.
 */
unsigned int iot_second_key_find(const struct iot_second_keys *keys, u64 hash,
				 u32 numbers[IOT_SECOND_KEY_WIDTH])
{
	const u32 *line = iot_second_key_line(keys, hash);
	u32 tag = iot_second_key_word(hash, 0);
	unsigned int i, n = 0;

	for (i = 0; i < IOT_SECOND_KEY_WIDTH; i++) {
		u32 word = READ_ONCE(line[i]);

		if (is_same(word, tag))
			numbers[n++] = (word & (BIT(IOT_SECOND_KEY_INDEX_BITS) - 1)) - 1;
	}
	return n;
}

/**
 * iot_second_keys_begin() - start without keys
 *
 * Context: task, may sleep; no probe is running. Return: 0 or -ENOMEM.
 */
int iot_second_keys_begin(struct iot_second_keys *keys)
{
	size_t bytes = BIT(IOT_SECOND_KEY_LINE_BITS) * sizeof(*keys->lines);

	if (keys->lines)
		memset(keys->lines, 0, bytes);
	else
		keys->lines = vzalloc(bytes);
	return keys->lines ? 0 : -ENOMEM;
}

/** iot_second_keys_free() - free the lines. Context: unload, no probe is left */
void iot_second_keys_free(struct iot_second_keys *keys)
{
	vfree(keys->lines);
	keys->lines = NULL;
}
