/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A second key by which the objects of a table are found. Several objects may share one. Functions
 * take the hash of a second key: iot_table_mix(), as these keys may be consecutive numbers.
 */
#ifndef IOT_SECOND_KEY_H
#define IOT_SECOND_KEY_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/types.h>

#define IOT_SECOND_KEY_WIDTH		8	/* objects that a second key can lead to */
#define IOT_SECOND_KEY_INDEX_BITS	18	/* bits of an index, see iot_table_index() */

/**
 * struct iot_second_keys - the second keys of a table; static
 * @lines:	allocated by the first iot_second_keys_begin(), freed by iot_second_keys_free()
 */
struct iot_second_keys {
	u32 (*lines)[IOT_SECOND_KEY_WIDTH];
};

int iot_second_keys_begin(struct iot_second_keys *keys);
void iot_second_keys_free(struct iot_second_keys *keys);

bool iot_second_key_add_slow(u32 *line, u32 word);
void iot_second_key_remove_slow(u32 *line, u32 word);
unsigned int iot_second_key_find(const struct iot_second_keys *keys, u64 hash,
				 u32 numbers[IOT_SECOND_KEY_WIDTH]);

#define IOT_SECOND_KEY_LINE_BITS	13
#define IOT_SECOND_KEY_TAG_BITS	(32 - IOT_SECOND_KEY_INDEX_BITS)

static __always_inline u32 *iot_second_key_line(const struct iot_second_keys *keys, u64 hash)
{
	return keys->lines[hash >> (64 - IOT_SECOND_KEY_LINE_BITS)];
}

static __always_inline u32 iot_second_key_word(u64 hash, u32 number)
{
	u32 tag = hash >> (64 - IOT_SECOND_KEY_LINE_BITS - IOT_SECOND_KEY_TAG_BITS);

	return tag << IOT_SECOND_KEY_INDEX_BITS | (number + 1);
}

/**
 * iot_second_key_add() - make an object findable by a second key
 * @number:	index of the object, see iot_table_index()
 *
 * Context: any. Return: false if a word of another second key was overwritten: its object can no
 * longer be found by that second key.
 */
static __always_inline bool iot_second_key_add(struct iot_second_keys *keys, u64 hash, u32 number)
{
	u32 *line = iot_second_key_line(keys, hash), word = iot_second_key_word(hash, number);

	if (likely(!READ_ONCE(line[0]) && !cmpxchg(&line[0], 0, word)))
		return true;
	return iot_second_key_add_slow(line, word);
}

/** iot_second_key_remove() - undo iot_second_key_add(). Context: any */
static __always_inline void iot_second_key_remove(struct iot_second_keys *keys, u64 hash,
						  u32 number)
{
	u32 *line = iot_second_key_line(keys, hash), word = iot_second_key_word(hash, number);

	if (unlikely(cmpxchg(&line[0], word, 0) != word))
		iot_second_key_remove_slow(line, word);
}

#endif /* IOT_SECOND_KEY_H */
