// SPDX-License-Identifier: GPL-2.0
/*
 * Block requests under way.
 *
 * A table of fixed size in which a request has a place from when it is made to when
 * it is done, found by the address of its bio or its own. Its events come one after
 * another, whatever the CPU, so who found a place uses it without a lock. A place is
 * claimed by moving its key from NULL to CLAIMED, and is found once the key is there.
 *
 * A bio whose request never came to be leaves its place behind: the next one at that
 * address takes it over.
 */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>
#include "pending.h"

#define PENDING_BITS	13
#define PENDING_PROBES	16
#define CLAIMED		((const void *)1)

/**
 * struct place - a place in the table
 * @key:	bio or request that it is found by, NULL: free
 */
struct place {
	const void *key;
	struct iot_pending pending;
};

static struct place *table;

static struct place *place_at(const void *key, unsigned int i)
{
	return &table[(hash_ptr(key, PENDING_BITS) + i) % BIT(PENDING_BITS)];
}

static struct place *place_of(struct iot_pending *p)
{
	return container_of(p, struct place, pending);
}

/**
 * iot_pending_new() - a place for what @key is; fill it, then publish
 *
 * Context: any. Return: it, all zero, or NULL: no room nearby.
 */
struct iot_pending *iot_pending_new(const void *key)
{
	struct iot_pending *stale = iot_pending_find(key);
	unsigned int i;

	if (unlikely(stale))
		iot_pending_drop(stale);
	for (i = 0; i < PENDING_PROBES; i++) {
		struct place *place = place_at(key, i);

		if (READ_ONCE(place->key) || cmpxchg(&place->key, NULL, CLAIMED))
			continue;
		memset(&place->pending, 0, sizeof(place->pending));
		return &place->pending;
	}
	return NULL;
}

/** iot_pending_publish() - it can be found from now on. Context: any */
void iot_pending_publish(struct iot_pending *p, const void *key)
{
	smp_store_release(&place_of(p)->key, key); /* after its fields */
}

/** iot_pending_find() - the place of @key, or NULL. Context: any */
struct iot_pending *iot_pending_find(const void *key)
{
	unsigned int i;

	for (i = 0; i < PENDING_PROBES; i++) {
		struct place *place = place_at(key, i);

		if (smp_load_acquire(&place->key) == key) /* before its fields */
			return &place->pending;
	}
	return NULL;
}

/**
 * iot_pending_rename() - let it be found by another key
 *
 * Context: any. Return: where it is now; @p where there is no room for that.
 */
struct iot_pending *iot_pending_rename(struct iot_pending *p, const void *key)
{
	struct iot_pending *to = iot_pending_new(key);

	if (!to)
		return p;
	*to = *p;
	iot_pending_publish(to, key);
	iot_pending_drop(p);
	return to;
}

/** iot_pending_drop() - it is done. Context: any */
void iot_pending_drop(struct iot_pending *p)
{
	smp_store_release(&place_of(p)->key, NULL); /* after the last use of its fields */
}

/** iot_pending_clear() - forget all; no probe is at work */
void iot_pending_clear(void)
{
	memset(table, 0, BIT(PENDING_BITS) * sizeof(*table));
}

/** iot_pending_init() - get memory, once. Return: 0 or -ENOMEM. Context: may sleep */
int iot_pending_init(void)
{
	if (!table)
		table = vzalloc(BIT(PENDING_BITS) * sizeof(*table));
	return table ? 0 : -ENOMEM;
}

/** iot_pending_exit() - at unload, when no probe is left */
void iot_pending_exit(void)
{
	vfree(table);
	table = NULL;
}
