/* SPDX-License-Identifier: GPL-2.0 */
/* Things under way, found by an address: requests, calls that will be tried again. */
#ifndef IOT_TABLE_H
#define IOT_TABLE_H

#include <linux/atomic.h>
#include <linux/stddef.h>
#include <linux/types.h>

#define IOT_TABLE_PROBES	8	/* places that a key may have */
#define IOT_TABLE_SLOTS(bits)	((1U << (bits)) + IOT_TABLE_PROBES - 1)

/**
 * struct iot_table - static, for the life of the module
 * @size:	bytes of a thing, a multiple of 8
 * @time:	where in a thing is its u64 of when it began; like the next two it says
 *		which one is forgotten where there is no room
 * @uid:	where in a thing is the u32 of its user
 * @pid:	where in a thing is the u32 of its process
 * @bits:	of the hash
 * @shift:	64 - @bits
 * @used_mask:	what of the hash chooses a counter of @used: all of it or nothing
 * @gone:	a thing ends without having been dropped; it is held. @displaced: another
 *		one needs its place; else it is stale: its key stands for something else
 *		now. Context: that of iot_table_new(). May be NULL
 * @places:	from the first iot_table_begin() to iot_table_free(), or static
 * @used:	how many things have these bits of their hash: most searches end there
 */
struct iot_table {
	size_t size;
	u16 time;
	u16 uid;
	u16 pid;
	u8 bits;
	u8 shift;
	u32 used_mask;
	void (*gone)(void *thing, bool displaced);
	void *places;
	atomic_t *used;
};

/* IOT_TABLE_OF() - what a table has to know of @type, whose fields these are */
#define IOT_TABLE_OF(type, time_field, uid_field, pid_field)			\
	.size = sizeof(type),							\
	.time = offsetof(type, time_field),					\
	.uid = offsetof(type, uid_field),					\
	.pid = offsetof(type, pid_field)

/* IOT_TABLE_STORE() - static memory of a small table; it need not be begun */
#define IOT_TABLE_STORE(name, type, nr_bits)					\
	static struct { unsigned long key; type thing; }			\
		name##_places[IOT_TABLE_SLOTS(nr_bits)];			\
	static atomic_t name##_used
#define IOT_TABLE_STORED(name, nr_bits)						\
	.bits = (nr_bits),							\
	.shift = 64 - (nr_bits),						\
	.places = name##_places,						\
	.used = &name##_used

/* IOT_TABLE_BEGUN() - a large table, with a counter for each hash; to be begun */
#define IOT_TABLE_BEGUN(nr_bits)						\
	.bits = (nr_bits),							\
	.shift = 64 - (nr_bits),						\
	.used_mask = (1U << (nr_bits)) - 1

void iot_table_init(void);

int iot_table_begin(struct iot_table *t);
void iot_table_clear(struct iot_table *t);
void iot_table_free(struct iot_table *t);

void *iot_table_new(struct iot_table *t, const void *key);
void *iot_table_take_used(struct iot_table *t, u32 hash, unsigned long key);
void *iot_table_take_at(struct iot_table *t, void *thing);
void *iot_table_rename(struct iot_table *t, void *thing, const void *key);

extern u64 iot_table_secret;
extern u64 iot_table_secret2;

/* iot_table_hash() - nobody can tell which keys have the same. Context: any */
static __always_inline u32 iot_table_hash(unsigned long key, unsigned int bits)
{
	return (key * iot_table_secret) >> (64 - bits);
}

/* iot_table_pair() - likewise a hash of two words, 64 bits. Context: any */
static __always_inline u64 iot_table_pair(u64 first, u64 second)
{
	return first * iot_table_secret + second * iot_table_secret2;
}

#define IOT_TABLE_HELD	1UL	/* in a key */

/**
 * struct iot_table_slot - a place in a table
 * @key:	see table.c
 * @thing:	of the table's size
 */
struct iot_table_slot {
	unsigned long key;
	u8 thing[] __aligned(sizeof(u64));
};

static __always_inline struct iot_table_slot *iot_table_slot_of(void *thing)
{
	return thing - offsetof(struct iot_table_slot, thing);
}

static __always_inline u32 iot_table_hash_of(const struct iot_table *t, unsigned long key)
{
	return (key * iot_table_secret) >> t->shift;
}

/**
 * iot_table_take() - what has @key, or NULL; keep or drop it
 *
 * Context: any; preemption is off until then, as what is held cannot be displaced.
 */
static __always_inline void *iot_table_take(struct iot_table *t, const void *key)
{
	unsigned long k = (unsigned long)key;
	u32 hash = iot_table_hash_of(t, k);
	struct iot_table_slot *place;

	if (!atomic_read(&t->used[hash & t->used_mask]))
		return NULL;
	place = t->places + hash * (sizeof(*place) + t->size); /* the first that it may have */
	if (likely(READ_ONCE(place->key) == k &&
		   cmpxchg(&place->key, k, k | IOT_TABLE_HELD) == k))
		return place->thing;
	return iot_table_take_used(t, hash, k);
}

/** iot_table_keep() - it can be found again, or from now on. Context: any; it is held */
static __always_inline void iot_table_keep(void *thing)
{
	struct iot_table_slot *place = iot_table_slot_of(thing);

	/* after its fields */
	smp_store_release(&place->key, place->key & ~IOT_TABLE_HELD);
}

/** iot_table_drop() - it is done. Context: any; it is held */
static __always_inline void iot_table_drop(struct iot_table *t, void *thing)
{
	struct iot_table_slot *place = iot_table_slot_of(thing);
	u32 hash = iot_table_hash_of(t, place->key & ~IOT_TABLE_HELD);

	smp_store_release(&place->key, 0); /* after the last use of its fields */
	atomic_dec(&t->used[hash & t->used_mask]);
}

/** iot_table_index() - a number for where a thing is, below the table's words. Context: any */
static __always_inline u32 iot_table_index(const struct iot_table *t, const void *thing)
{
	return (thing - t->places) / sizeof(u64);
}

/** iot_table_at() - what has that number now, whatever it is. Context: any */
static __always_inline void *iot_table_at(const struct iot_table *t, u32 number)
{
	return t->places + number * sizeof(u64);
}

/** iot_table_is_empty() - of a table with one counter. Context: any */
static __always_inline bool iot_table_is_empty(const struct iot_table *t)
{
	return !atomic_read(t->used);
}

#endif /* IOT_TABLE_H */
