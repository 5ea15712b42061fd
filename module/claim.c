// SPDX-License-Identifier: GPL-2.0
/*
 * What is kept by an address from one call to the next.
 *
 * A place belongs to whoever moved its key to CLAIMED, until he stores another one.
 * Nothing waits: who finds all places of his key claimed goes without. What is never
 * asked for stays until its place is wanted.
 */
#include <linux/hash.h>
#include <linux/string.h>
#include "claim.h"

#define CLAIMED	((const void *)1)

/* The first of the places that @key may have. */
static void *first_place(const struct iot_claims *c, const void *key)
{
	return c->places + hash_ptr(key, c->bits) * IOT_CLAIM_WIDTH * c->size;
}

/* One of the places that @key may have, that holds @held: the caller's now; or NULL. */
static const void **claim(struct iot_claims *c, const void *key, const void *held)
{
	void *at = first_place(c, key);
	unsigned int i;

	for (i = 0; i < IOT_CLAIM_WIDTH; i++, at += c->size) {
		const void **place = at;

		if (READ_ONCE(*place) == held && cmpxchg(place, held, CLAIMED) == held)
			return place;
	}
	return NULL;
}

/** iot_claim_any() - iot_claim() where some key has a place */
void *iot_claim_any(struct iot_claims *c, const void *key)
{
	return claim(c, key, key);
}

/* One of the places that @key may have, by turns, whoever has it; NULL: he is at it. */
static const void **take(struct iot_claims *c, const void *key)
{
	unsigned int turn = (unsigned int)atomic_inc_return_relaxed(&c->turn) % IOT_CLAIM_WIDTH;
	const void **place = first_place(c, key) + turn * c->size;
	const void *held = READ_ONCE(*place);

	if (held == CLAIMED || cmpxchg(place, held, CLAIMED) != held)
		return NULL;
	if (!held) /* it has just become free */
		atomic_inc(&c->used);
	return place;
}

/**
 * iot_claim_room() - a place for a key: its own, or a free one, or another's
 *
 * Context: any. Return: it, to be filled for iot_claim_keep(), or NULL: it has bad luck.
 */
void *iot_claim_room(struct iot_claims *c, const void *key)
{
	const void **place = claim(c, key, key);

	if (place)
		return place;
	place = claim(c, key, NULL);
	if (!place)
		return take(c, key);
	atomic_inc(&c->used);
	return place;
}

/** iot_claim_keep() - it can be claimed by @key from now on. Context: any */
void iot_claim_keep(void *place, const void *key)
{
	smp_store_release((const void **)place, key); /* after its fields */
}

/** iot_claim_drop() - it is free. Context: any */
void iot_claim_drop(struct iot_claims *c, void *place)
{
	smp_store_release((const void **)place, NULL); /* after the last use of its fields */
	atomic_dec(&c->used);
}

/** iot_claims_clear() - forget all. Nobody is at it. */
void iot_claims_clear(struct iot_claims *c)
{
	memset(c->places, 0, (IOT_CLAIM_WIDTH << c->bits) * c->size);
	atomic_set(&c->used, 0);
}
