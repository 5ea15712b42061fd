// SPDX-License-Identifier: GPL-2.0
/*
 * Objects in flight, such as requests, which are found by an address.
 *
 * A table has a fixed number of slots. An object has a slot from its creation to its end. The
 * key of a slot has one of three values:
 *
 *	0				the slot is free
 *	an address			the object can be found
 *	an address, lowest bit set	the object is held: it is being filled, used or
 *					dropped, and cannot be found
 *
 * Changing a key to the third value with one cmpxchg holds the slot. No CPU ever waits for a slot:
 * a held object is not found.
 *
 * A hostile program may decide how many objects there are. So:
 *
 *   - Colliding keys cannot be chosen, as the hash has new secrets each time the module is
 *     loaded. After multiplying by a random odd number two keys have the same top bits as
 *     often as by chance (Dietzfelbinger and others, 1997); the second one is for keys at equal
 *     distances.
 *   - A key may be in IOT_TABLE_PROBES slots only, which bounds every search.
 *   - If all of these are taken, one object is displaced by the new one. It is the oldest
 *     object of one process: the process with the most objects of the user with the most
 *     objects. A process that floods the table has the most objects nearly everywhere and
 *     displaces its own. Only the objects in these few slots are counted for that.
 *
 * An object that ends without an event keeps its slot until the next object with that key takes
 * it over, or until another object displaces it.
 */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include "core/table.h"

#define HELD	IOT_TABLE_HELD

/* The hash secrets of all tables; they are odd. */
u64 iot_table_secret __read_mostly;
u64 iot_table_secret2 __read_mostly;

/** iot_table_init() - choose the hash secrets. Context: load, before any table is used */
void iot_table_init(void)
{
	iot_table_secret = get_random_u64() | 1;
	iot_table_secret2 = get_random_u64() | 1;
}

static size_t stride(const struct iot_table *t)
{
	return sizeof(struct iot_table_slot) + t->size;
}

static atomic_t *used_of(const struct iot_table *t, u32 hash)
{
	return &t->used[hash & t->used_mask];
}

static void *first_slot(const struct iot_table *t, u32 hash)
{
	return t->slots + hash * stride(t);
}

/* Change the key of a slot. Return: false if it is no longer @from. */
static bool change(struct iot_table_slot *slot, unsigned long from, unsigned long to)
{
	return READ_ONCE(slot->key) == from && cmpxchg(&slot->key, from, to) == from;
}

/* Hold the slot that has @key. Return: NULL if there is none. */
static struct iot_table_slot *hold(const struct iot_table *t, u32 hash, unsigned long key)
{
	void *at = first_slot(t, hash);
	unsigned int i;

	for (i = 0; i < IOT_TABLE_PROBES; i++, at += stride(t))
		if (change(at, key, key | HELD))
			return at;
	return NULL;
}

/* Hold a free slot for @key. Return: NULL if there is none. */
static struct iot_table_slot *hold_free(const struct iot_table *t, u32 hash, unsigned long key)
{
	void *at = first_slot(t, hash);
	unsigned int i;

	for (i = 0; i < IOT_TABLE_PROBES; i++, at += stride(t)) {
		if (!change(at, 0, key | HELD))
			continue;
		atomic_inc(used_of(t, hash));
		return at;
	}
	return NULL;
}

/* A snapshot of an object that is not held, and so may change meanwhile. */
struct look {
	struct iot_table_slot *slot;
	unsigned long key;
	u64 time;
	u32 uid;
	u32 pid;
};

static void look_at(const struct iot_table *t, struct look *l, struct iot_table_slot *slot)
{
	l->slot = slot;
	l->key = READ_ONCE(slot->key);
	l->time = READ_ONCE(*(u64 *)(slot->thing + t->time));
	l->uid = READ_ONCE(*(u32 *)(slot->thing + t->uid));
	l->pid = READ_ONCE(*(u32 *)(slot->thing + t->pid));
}

/* Rank an object: first by how many objects its user has, then by how many its process has. */
static unsigned int weight(const struct look *looks, const struct look *l)
{
	unsigned int i, n = 0;

	for (i = 0; i < IOT_TABLE_PROBES; i++)
		if (looks[i].uid == l->uid)
			n += 2 * IOT_TABLE_PROBES + (looks[i].pid == l->pid);
	return n;
}

/* Displacing fails if the chosen slot changes before it is held. */
#define DISPLACE_TRIES	4

/*
 * Hold the slot of the object to displace, and set its key to @key.
 * @old: where to store the key of the displaced object
 * Return: the slot, or NULL if there is none or the chosen slot has changed meanwhile.
 */
static struct iot_table_slot *hold_another(const struct iot_table *t, u32 hash,
					   unsigned long key, unsigned long *old)
{
	struct look looks[IOT_TABLE_PROBES], *least = NULL;
	void *at = first_slot(t, hash);
	unsigned int i, w, most = 0;

	for (i = 0; i < IOT_TABLE_PROBES; i++, at += stride(t))
		look_at(t, &looks[i], at);
	for (i = 0; i < IOT_TABLE_PROBES; i++) {
		struct look *l = &looks[i];

		if (!l->key || (l->key & HELD))
			continue;
		w = weight(looks, l);
		if (least && (w < most || (w == most && l->time >= least->time)))
			continue;
		least = l;
		most = w;
	}
	if (!least || !change(least->slot, least->key, key | HELD))
		return NULL;
	*old = least->key;
	return least->slot;
}

/* Displace an object to get a slot, as all slots of the key are taken. */
static noinline struct iot_table_slot *displace(struct iot_table *t, u32 hash, unsigned long key)
{
	struct iot_table_slot *slot = NULL;
	unsigned int i;
	unsigned long old;

	for (i = 0; i < DISPLACE_TRIES && !slot; i++) {
		if (i) /* a slot may have become free since the last try */
			slot = hold_free(t, hash, key);
		if (slot)
			return slot;
		slot = hold_another(t, hash, key, &old);
	}
	if (!slot)
		return NULL;
	if (t->gone)
		t->gone(slot->thing, true);
	atomic_inc(used_of(t, hash));
	atomic_dec(used_of(t, iot_table_hash_of(t, old)));
	return slot;
}

/** iot_table_new_slow() - do iot_table_new() if the first slot of the hash may not be taken */
void *iot_table_new_slow(struct iot_table *t, u32 hash, unsigned long key)
{
	struct iot_table_slot *slot = NULL;

	if (atomic_read(used_of(t, hash)))
		slot = hold(t, hash, key);
	if (unlikely(slot)) {
		if (t->gone)
			t->gone(slot->thing, false);
		return slot->thing;
	}
	slot = hold_free(t, hash, key);
	if (unlikely(!slot))
		slot = displace(t, hash, key);
	return slot ? slot->thing : NULL;
}

/** iot_table_take_used() - do iot_table_take() if the counter of the hash is not 0 */
void *iot_table_take_used(struct iot_table *t, u32 hash, unsigned long key)
{
	struct iot_table_slot *slot = hold(t, hash, key);

	return slot ? slot->thing : NULL;
}

/**
 * iot_table_take_at() - hold the object that is in the slot of @thing now
 *
 * This may not be the object that the caller has looked at. Context: as for iot_table_take().
 * Return: the object, or NULL if the slot is free or held.
 */
void *iot_table_take_at(struct iot_table *t, void *thing)
{
	struct iot_table_slot *slot = iot_table_slot_of(thing);
	unsigned long key = READ_ONCE(slot->key);

	if (!key || (key & HELD) || !change(slot, key, key | HELD))
		return NULL;
	return thing;
}

/**
 * iot_table_rename() - give a held object another key
 *
 * Context: any. Return: the object, held, which may have moved; @thing with its old key if there
 * is no slot for the new one.
 */
void *iot_table_rename(struct iot_table *t, void *thing, const void *key)
{
	void *to = iot_table_new(t, key);

	if (!to)
		return thing;
	memcpy(to, thing, t->size);
	iot_table_drop(t, thing);
	return to;
}

static size_t slots_bytes(const struct iot_table *t)
{
	return IOT_TABLE_SLOTS(t->bits) * stride(t);
}

/** iot_table_clear() - drop all objects. Context: no probe is running */
void iot_table_clear(struct iot_table *t)
{
	memset(t->slots, 0, slots_bytes(t));
	memset(t->used, 0, (t->used_mask + 1) * sizeof(*t->used));
}

/**
 * iot_table_begin() - allocate a table if necessary, and make it empty
 *
 * Context: task, may sleep; no probe is running. Return: 0 or -ENOMEM.
 */
int iot_table_begin(struct iot_table *t)
{
	size_t bytes = slots_bytes(t);

	if (t->slots) {
		iot_table_clear(t);
		return 0;
	}
	t->slots = vzalloc(bytes + (t->used_mask + 1) * sizeof(*t->used));
	if (!t->slots)
		return -ENOMEM;
	t->used = t->slots + bytes;
	return 0;
}

/** iot_table_free() - free the slots. Context: unload, no probe is left */
void iot_table_free(struct iot_table *t)
{
	vfree(t->slots);
	t->slots = NULL;
}
