// SPDX-License-Identifier: GPL-2.0
/*
 * Things under way, found by an address.
 *
 * A table of fixed size in which a thing has a place from when it is made to when it
 * is done. Its key is one of three: 0, the place is free; an address, the thing can be
 * found; an address with the lowest bit set, somebody holds the thing: it is being
 * filled, used or dropped, and nobody else can find it. To hold is to change the key
 * from the one to the other at once, so nobody waits: what is held is not found.
 *
 * A program that wants to do harm decides how many things there are. So:
 *
 *   - Keys that collide cannot be chosen, as the hash has a secret of its own each time
 *     the module is loaded. A multiplication by a random odd number does: two keys
 *     have the same top bits as often as by chance (Dietzfelbinger and others, 1997).
 *   - A key has IOT_TABLE_PROBES places and no more, so no search is longer.
 *   - Where these are all taken one thing is forgotten for the new one: of the user who
 *     has most of them, of that user's process that has most of them, the oldest.
 *     A process that floods the table has most of them nearly everywhere, and displaces
 *     its own. Nothing is counted for that but what is in these few places.
 *
 * What ends without an event leaves its place behind: the next thing with that key
 * takes it over, or another one displaces it in time.
 */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include "core/table.h"

#define HELD	IOT_TABLE_HELD

/* Of all tables; odd. */
u64 iot_table_secret __read_mostly;
u64 iot_table_secret2 __read_mostly;

/** iot_table_init() - before any table is used */
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

static void *first_place(const struct iot_table *t, u32 hash)
{
	return t->places + hash * stride(t);
}

/* Change the key. Return: false: it is another one by now. */
static bool change(struct iot_table_slot *place, unsigned long from, unsigned long to)
{
	return READ_ONCE(place->key) == from && cmpxchg(&place->key, from, to) == from;
}

/* Hold the place that has @key. */
static struct iot_table_slot *hold(const struct iot_table *t, u32 hash, unsigned long key)
{
	void *at = first_place(t, hash);
	unsigned int i;

	for (i = 0; i < IOT_TABLE_PROBES; i++, at += stride(t))
		if (change(at, key, key | HELD))
			return at;
	return NULL;
}

/* Hold one that is free. */
static struct iot_table_slot *hold_free(const struct iot_table *t, u32 hash, unsigned long key)
{
	void *at = first_place(t, hash);
	unsigned int i;

	for (i = 0; i < IOT_TABLE_PROBES; i++, at += stride(t)) {
		if (!change(at, 0, key | HELD))
			continue;
		atomic_inc(used_of(t, hash));
		return at;
	}
	return NULL;
}

/* What is asked of a thing that nobody holds, and that may change meanwhile. */
struct look {
	struct iot_table_slot *place;
	unsigned long key;
	u64 time;
	u32 uid;
	u32 pid;
};

static void look_at(const struct iot_table *t, struct look *l, struct iot_table_slot *place)
{
	l->place = place;
	l->key = READ_ONCE(place->key);
	l->time = READ_ONCE(*(u64 *)(place->thing + t->time));
	l->uid = READ_ONCE(*(u32 *)(place->thing + t->uid));
	l->pid = READ_ONCE(*(u32 *)(place->thing + t->pid));
}

/* How much its owner has: things of the user count before those of the process. */
static unsigned int weight(const struct look *looks, const struct look *l)
{
	unsigned int i, n = 0;

	for (i = 0; i < IOT_TABLE_PROBES; i++)
		if (looks[i].uid == l->uid)
			n += 2 * IOT_TABLE_PROBES + (looks[i].pid == l->pid);
	return n;
}

/* The place of a thing may go to somebody else while another one is looked for. */
#define DISPLACE_TRIES	4

/*
 * Hold the place of the thing that can best be spared, whose key was @old, or NULL: none, or
 * it has changed meanwhile.
 */
static struct iot_table_slot *hold_another(const struct iot_table *t, u32 hash,
					    unsigned long key, unsigned long *old)
{
	struct look looks[IOT_TABLE_PROBES], *least = NULL;
	void *at = first_place(t, hash);
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
	if (!least || !change(least->place, least->key, key | HELD))
		return NULL;
	*old = least->key;
	return least->place;
}

/* Where all places are taken. */
static noinline struct iot_table_slot *displace(struct iot_table *t, u32 hash, unsigned long key)
{
	struct iot_table_slot *place = NULL;
	unsigned int i;
	unsigned long old;

	for (i = 0; i < DISPLACE_TRIES && !place; i++) {
		if (i) /* who was quicker may have been the owner, who is done with it */
			place = hold_free(t, hash, key);
		if (place)
			return place;
		place = hold_another(t, hash, key, &old);
	}
	if (!place)
		return NULL;
	if (t->gone)
		t->gone(place->thing, true);
	atomic_inc(used_of(t, hash));
	atomic_dec(used_of(t, iot_table_hash_of(t, old)));
	return place;
}

/**
 * iot_table_new() - a place for what @key stands for; fill all of it, then keep it
 *
 * Context: any, for each key one at a time. Return: it, held, with what was there
 * before, or NULL: others hold all of the places just now.
 */
void *iot_table_new(struct iot_table *t, const void *key)
{
	unsigned long k = (unsigned long)key;
	u32 hash = iot_table_hash_of(t, k);
	struct iot_table_slot *place = NULL;

	if (atomic_read(used_of(t, hash)))
		place = hold(t, hash, k);
	if (unlikely(place)) {
		if (t->gone)
			t->gone(place->thing, false);
		return place->thing;
	}
	place = hold_free(t, hash, k);
	if (unlikely(!place))
		place = displace(t, hash, k);
	return place ? place->thing : NULL;
}

/** iot_table_take_used() - iot_table_take() where some key has this hash */
void *iot_table_take_used(struct iot_table *t, u32 hash, unsigned long key)
{
	struct iot_table_slot *place = hold(t, hash, key);

	return place ? place->thing : NULL;
}

/**
 * iot_table_take_at() - what is in the place of @thing now, or NULL
 *
 * It may be another thing than the one that was looked at. Context: as above.
 */
void *iot_table_take_at(struct iot_table *t, void *thing)
{
	struct iot_table_slot *place = iot_table_slot_of(thing);
	unsigned long key = READ_ONCE(place->key);

	if (!key || (key & HELD) || !change(place, key, key | HELD))
		return NULL;
	return thing;
}

/**
 * iot_table_rename() - let it be found by another key; it is held
 *
 * Context: any. Return: where it is now, held; @thing where there is no room for that.
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

static size_t places_bytes(const struct iot_table *t)
{
	return IOT_TABLE_SLOTS(t->bits) * stride(t);
}

/** iot_table_clear() - forget all. No probe is at work */
void iot_table_clear(struct iot_table *t)
{
	memset(t->places, 0, places_bytes(t));
	memset(t->used, 0, (t->used_mask + 1) * sizeof(*t->used));
}

/**
 * iot_table_begin() - make it ready: empty. No probe is at work
 *
 * Context: may sleep. Return: 0 or -ENOMEM.
 */
int iot_table_begin(struct iot_table *t)
{
	size_t bytes = places_bytes(t);

	if (t->places) {
		iot_table_clear(t);
		return 0;
	}
	t->places = vzalloc(bytes + (t->used_mask + 1) * sizeof(*t->used));
	if (!t->places)
		return -ENOMEM;
	t->used = t->places + bytes;
	return 0;
}

/** iot_table_free() - at unload, when no probe is left */
void iot_table_free(struct iot_table *t)
{
	vfree(t->places);
	t->places = NULL;
}
