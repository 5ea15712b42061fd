// SPDX-License-Identifier: GPL-2.0
/*
 * Things under way, found by an address.
 *
 * A table of fixed size in which a thing has a place from when it is made to when it
 * is done. The events of one thing come one after another, whatever the CPU, so who
 * found its place uses it without a lock. A place is claimed by moving its key from
 * NULL to CLAIMED, and is found once the key is there.
 *
 * What ends without an event leaves its place behind: the next thing with that key
 * takes it over.
 */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include "table.h"

/*
 * A key belongs in one of PROBES places, from the one that its hash names on; behind
 * the last that a hash can name there are enough more.
 */
#define PROBES		8
#define PLACES		(BIT(IOT_TABLE_BITS) + PROBES - 1)
#define CLAIMED		((const void *)1)

/**
 * struct place - a place in a table
 * @key:	what it is found by, NULL: free
 * @thing:	of the table's size
 */
struct place {
	const void *key;
	u8 thing[] __aligned(sizeof(u64));
};

static size_t stride(const struct iot_table *t)
{
	return sizeof(struct place) + t->size;
}

static u32 hash_of(const void *key)
{
	return hash_ptr(key, IOT_TABLE_BITS);
}

static void *first_place(const struct iot_table *t, u32 hash)
{
	return t->places + hash * stride(t);
}

static struct place *place_of(void *thing)
{
	return thing - offsetof(struct place, thing);
}

/**
 * iot_table_new() - a place for what @key stands for; fill all of it, then publish
 *
 * Context: any. Return: it, with what was there before, or NULL: no room nearby.
 */
void *iot_table_new(struct iot_table *t, const void *key)
{
	void *stale = iot_table_find(t, key);
	u32 hash = hash_of(key);
	void *at = first_place(t, hash);
	unsigned int i;

	if (unlikely(stale))
		iot_table_drop(t, stale);
	for (i = 0; i < PROBES; i++, at += stride(t)) {
		struct place *place = at;

		if (READ_ONCE(place->key) || cmpxchg(&place->key, NULL, CLAIMED))
			continue;
		atomic_inc(&t->used[hash]);
		return place->thing;
	}
	return NULL;
}

/**
 * iot_table_publish() - it can be found from now on
 * @key:	that it was made for
 *
 * Context: any.
 */
void iot_table_publish(void *thing, const void *key)
{
	smp_store_release(&place_of(thing)->key, key); /* after its fields */
}

/** iot_table_find() - what has @key, or NULL. Context: any */
void *iot_table_find(const struct iot_table *t, const void *key)
{
	u32 hash = hash_of(key);
	void *at = first_place(t, hash);
	unsigned int i;

	if (!atomic_read(&t->used[hash]))
		return NULL;
	for (i = 0; i < PROBES; i++, at += stride(t)) {
		struct place *place = at;

		if (smp_load_acquire(&place->key) == key) /* before its fields */
			return place->thing;
	}
	return NULL;
}

/**
 * iot_table_search() - the first thing that is so, or NULL
 * @is:		is it? Of a thing that is being dropped anything may be asked
 *
 * All places are looked at: not for what happens often. Context: any.
 */
void *iot_table_search(const struct iot_table *t, iot_table_fn is, const void *what)
{
	void *at = t->places;
	unsigned int n;

	for (n = 0; n < PLACES; n++, at += stride(t)) {
		struct place *place = at;
		const void *key = smp_load_acquire(&place->key); /* before its fields */

		if (key && key != CLAIMED && is(place->thing, what))
			return place->thing;
	}
	return NULL;
}

/**
 * iot_table_rename() - let it be found by another key
 *
 * Context: any. Return: where it is now; @thing where there is no room for that.
 */
void *iot_table_rename(struct iot_table *t, void *thing, const void *key)
{
	void *to = iot_table_new(t, key);

	if (!to)
		return thing;
	memcpy(to, thing, t->size);
	iot_table_publish(to, key);
	iot_table_drop(t, thing);
	return to;
}

/** iot_table_drop() - it is done. Context: any */
void iot_table_drop(struct iot_table *t, void *thing)
{
	/* a full barrier: after the last use of its fields */
	const void *key = xchg(&place_of(thing)->key, NULL);

	if (key)
		atomic_dec(&t->used[hash_of(key)]);
}

/**
 * iot_table_begin() - make it ready: empty. No probe is at work
 *
 * Context: may sleep. Return: 0 or -ENOMEM.
 */
int iot_table_begin(struct iot_table *t)
{
	size_t bytes = PLACES * stride(t);

	memset(t->used, 0, sizeof(t->used));
	if (t->places)
		memset(t->places, 0, bytes);
	else
		t->places = vzalloc(bytes);
	return t->places ? 0 : -ENOMEM;
}

/** iot_table_free() - at unload, when no probe is left */
void iot_table_free(struct iot_table *t)
{
	vfree(t->places);
	t->places = NULL;
}
