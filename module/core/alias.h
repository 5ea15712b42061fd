/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A second key by which the objects of a table are found. Several objects may share an alias.
 * Functions take the hash of an alias: iot_table_mix(), as aliases may be consecutive numbers.
 */
#ifndef IOT_ALIAS_H
#define IOT_ALIAS_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/types.h>

#define IOT_ALIAS_WIDTH		8	/* objects that an alias can lead to */
#define IOT_ALIAS_INDEX_BITS	18	/* bits of an index, see iot_table_index() */

/**
 * struct iot_aliases - the aliases of a table; static
 * @lines:	allocated by the first iot_aliases_begin(), freed by iot_aliases_free()
 */
struct iot_aliases {
	u32 (*lines)[IOT_ALIAS_WIDTH];
};

int iot_aliases_begin(struct iot_aliases *a);
void iot_aliases_free(struct iot_aliases *a);

bool iot_alias_add_slow(u32 *line, u32 word);
void iot_alias_remove_slow(u32 *line, u32 word);
unsigned int iot_alias_find(const struct iot_aliases *a, u64 hash,
			    u32 numbers[IOT_ALIAS_WIDTH]);

#define IOT_ALIAS_LINE_BITS	13
#define IOT_ALIAS_TAG_BITS	(32 - IOT_ALIAS_INDEX_BITS)

static __always_inline u32 *iot_alias_line(const struct iot_aliases *a, u64 hash)
{
	return a->lines[hash >> (64 - IOT_ALIAS_LINE_BITS)];
}

static __always_inline u32 iot_alias_word(u64 hash, u32 number)
{
	u32 tag = hash >> (64 - IOT_ALIAS_LINE_BITS - IOT_ALIAS_TAG_BITS);

	return tag << IOT_ALIAS_INDEX_BITS | (number + 1);
}

/**
 * iot_alias_add() - make an object findable by an alias
 * @number:	index of the object, see iot_table_index()
 *
 * Context: any. Return: false if a word of another alias was overwritten: its object can no
 * longer be found by that alias.
 */
static __always_inline bool iot_alias_add(struct iot_aliases *a, u64 hash, u32 number)
{
	u32 *line = iot_alias_line(a, hash), word = iot_alias_word(hash, number);

	if (likely(!READ_ONCE(line[0]) && !cmpxchg(&line[0], 0, word)))
		return true;
	return iot_alias_add_slow(line, word);
}

/** iot_alias_remove() - undo iot_alias_add(). Context: any */
static __always_inline void iot_alias_remove(struct iot_aliases *a, u64 hash, u32 number)
{
	u32 *line = iot_alias_line(a, hash), word = iot_alias_word(hash, number);

	if (unlikely(cmpxchg(&line[0], word, 0) != word))
		iot_alias_remove_slow(line, word);
}

#endif /* IOT_ALIAS_H */
