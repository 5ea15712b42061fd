/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A ring that keeps exactly the last N records of any number of writers.
 * ring.c tells how it works; nothing here knows what a record means.
 */
#ifndef IOT_RING_H
#define IOT_RING_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/types.h>

#define IOT_RING_CLASSES 2	/* records are counted apart by class */

/**
 * struct iot_ring - one ring; allocate iot_ring_bytes() and call iot_ring_init()
 * @mask:	slots - 1; slots is a power of two larger than @keep
 * @keep:	how many records a reader is shown
 * @slot_size:	bytes, a multiple of 8; the first 8 are the slot's state
 * @first:	index of the first record reserved in this ring
 * @base:	no index below this one is shown; at most @first
 * @head:	index that the next writer will reserve
 * @seen:	records that writers came with, by class
 * @lost:	of these, the ones that got no slot, by class
 * @slots:	the slots
 */
struct iot_ring {
	u64 mask;
	u64 keep;
	u64 slot_size;
	u64 first;
	u64 base;
	atomic64_t head;
	atomic64_t seen[IOT_RING_CLASSES];
	atomic64_t lost[IOT_RING_CLASSES];
	u64 slots[];
};

enum iot_ring_state {
	IOT_RING_OK,		/* copied whole */
	IOT_RING_PENDING,	/* lost, or not committed yet */
	IOT_RING_GONE,		/* overwritten by a newer record */
};

size_t iot_ring_bytes(u64 keep, size_t slot_size);
void iot_ring_init(struct iot_ring *ring, u64 keep, size_t slot_size, u64 first);

u64 iot_ring_window(const struct iot_ring *ring, u64 *end);
enum iot_ring_state iot_ring_read(const struct iot_ring *ring, u64 index,
				  u64 *copy);
bool iot_ring_holds(const struct iot_ring *ring, u64 index);
void iot_ring_put(struct iot_ring *ring, u64 index, const u64 *copy);

/* States of a slot; see ring.c. */
static __always_inline u64 iot_ring_busy(u64 index)
{
	return 2 * index + 3;
}

static __always_inline u64 iot_ring_committed(u64 index)
{
	return 2 * index + 2;
}

static __always_inline u64 *iot_ring_slot(const struct iot_ring *ring, u64 index)
{
	char *slots = (char *)ring->slots;

	return (u64 *)(slots + (index & ring->mask) * ring->slot_size);
}

static __always_inline bool iot_ring_claim(u64 *slot, u64 index)
{
	u64 old = READ_ONCE(*slot);

	return !(old & 1) && old < iot_ring_committed(index) &&
	       cmpxchg(slot, old, iot_ring_busy(index)) == old;
}

/**
 * iot_ring_reserve() - take the next index and its slot
 * @ring:	the ring, which must not go away before iot_ring_commit()
 * @class:	counter to use, below IOT_RING_CLASSES
 * @slot:	where to store the slot, to be filled from its second word on
 * @index:	where to store the index
 *
 * Context: any; in the kernel preemption must be off until the commit.
 * Return: true, or false: the record is lost and has been counted.
 */
static __always_inline bool iot_ring_reserve(struct iot_ring *ring,
					     unsigned int class, u64 **slot,
					     u64 *index)
{
	atomic64_inc(&ring->seen[class]);
	*index = atomic64_fetch_inc(&ring->head);
	*slot = iot_ring_slot(ring, *index);
	if (likely(iot_ring_claim(*slot, *index)))
		return true;
	atomic64_inc(&ring->lost[class]);
	return false;
}

/** iot_ring_refuse() - count a record that its writer is not to place */
static __always_inline void iot_ring_refuse(struct iot_ring *ring, unsigned int class)
{
	atomic64_inc(&ring->seen[class]);
	atomic64_inc(&ring->lost[class]);
}

/**
 * iot_ring_commit() - show a filled slot to readers
 * @slot:	from iot_ring_reserve()
 * @index:	likewise
 */
static __always_inline void iot_ring_commit(u64 *slot, u64 index)
{
	smp_store_release(slot, iot_ring_committed(index)); /* after the fields */
}

#endif /* IOT_RING_H */
