/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is kept from one call to the next one for the same thing, by an address: few
 * places, in which much is forgotten without having been asked for.
 */
#ifndef IOT_CLAIM_H
#define IOT_CLAIM_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/types.h>

#define IOT_CLAIM_WIDTH	4	/* places that a key may have */

/**
 * struct iot_claims - static, for the life of the module
 * @places:	IOT_CLAIM_WIDTH << @bits structs whose first member is the key, a pointer
 * @size:	of one
 * @bits:	of the hash
 * @used:	places that have a key
 * @turn:	whose place is taken next where all are
 */
struct iot_claims {
	void *places;
	size_t size;
	unsigned int bits;
	atomic_t used;
	atomic_t turn;
};

/* IOT_CLAIMS() - @name, of 1 << @nr_bits times IOT_CLAIM_WIDTH structs @type */
#define IOT_CLAIMS(name, type, nr_bits)						\
	static struct type name##_places[IOT_CLAIM_WIDTH << (nr_bits)];		\
	static struct iot_claims name = {					\
		.places = name##_places,					\
		.size = sizeof(struct type),					\
		.bits = (nr_bits),						\
	}

void *iot_claim_any(struct iot_claims *c, const void *key);
void *iot_claim_room(struct iot_claims *c, const void *key);
void iot_claim_keep(void *place, const void *key);
void iot_claim_drop(struct iot_claims *c, void *place);
void iot_claims_clear(struct iot_claims *c);

/**
 * iot_claim() - the place of a key, which is the caller's until iot_claim_drop(), or NULL
 *
 * Context: any, for each key one at a time.
 */
static __always_inline void *iot_claim(struct iot_claims *c, const void *key)
{
	return likely(!atomic_read(&c->used)) ? NULL : iot_claim_any(c, key);
}

#endif /* IOT_CLAIM_H */
