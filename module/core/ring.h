/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A ring that keeps exactly the last N records of any number of writers.
 * ring.c describes how it works. Nothing here knows the content of a record.
 */
#ifndef IOT_RING_H
#define IOT_RING_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/math64.h>
#include <linux/types.h>

#define IOT_RING_CLASSES 2	/* counters of records: a writer names the one to use */

#ifdef IOT_POISON
#define IOT_RING_POISONED 1
#else
#define IOT_RING_POISONED 0
#endif

/**
 * struct iot_ring - a ring; allocate iot_ring_bytes() and call iot_ring_init()
 * @nr_slots:	number of slots, larger than @keep
 * @reciprocal:	2^(64 + @shift) / @nr_slots, rounded up
 * @shift:	2^@shift is below @nr_slots, and 2^(@shift + 1) is not
 * @keep:	largest number of records that a reader is shown
 * @slot_size:	bytes, a multiple of 8; the first 8 are the slot's state
 * @first:	index of the first record reserved in this ring
 * @base:	no index below this one is shown
 * @earlier:	records seen in the rings before this one, by class
 * @head:	index that the next writer will reserve
 * @second:	number of indices taken by writers of class 1; the others are of class 0
 * @refused:	records that took no index, by class
 * @lost:	records that got no slot, by class; includes those in @refused
 * @slots:	the slots
 *
 * All writers of a ring share @head, which orders their records. A record of class 0 changes
 * no other shared word.
 */
struct iot_ring {
	u64 nr_slots;
	u64 reciprocal;
	u64 shift;
	u64 keep;
	u64 slot_size;
	u64 first;
	u64 base;
	u64 earlier[IOT_RING_CLASSES];
	atomic64_t head;
	atomic64_t second;
	atomic64_t refused[IOT_RING_CLASSES];
	atomic64_t lost[IOT_RING_CLASSES];
	u64 slots[];
};

enum iot_ring_state {
	IOT_RING_OK,		/* copied completely */
	IOT_RING_PENDING,	/* lost, or not committed yet */
	IOT_RING_GONE,		/* overwritten by a newer record */
};

size_t iot_ring_bytes(u64 keep, size_t slot_size);
u64 iot_ring_capacity(const struct iot_ring *ring);
void iot_ring_init(struct iot_ring *ring, u64 keep, size_t slot_size, u64 first);
void iot_ring_reset(struct iot_ring *ring);
void iot_ring_limit(struct iot_ring *ring, u64 keep);
void iot_ring_hide(struct iot_ring *ring, u64 index);

u64 iot_ring_seen(const struct iot_ring *ring, unsigned int class);
u64 iot_ring_window(const struct iot_ring *ring, u64 *end);
enum iot_ring_state iot_ring_read(const struct iot_ring *ring, u64 index,
				  u64 *copy);
bool iot_ring_holds(const struct iot_ring *ring, u64 index);
void iot_ring_put(struct iot_ring *ring, u64 index, const u64 *copy);

/* The states of a slot, see ring.c. */
static __always_inline u64 iot_ring_busy(u64 index)
{
	return 2 * index + 3;
}

static __always_inline u64 iot_ring_committed(u64 index)
{
	return 2 * index + 2;
}

/*
 * The upper half of a product. A type of 128 bits would make the compiler align the
 * stack of every function that writes a record.
 */
static __always_inline u64 iot_ring_upper(u64 a, u64 b)
{
#ifdef __x86_64__
	u64 upper;

	asm("mulq %2" : "=d" (upper), "+a" (a) : "rm" (b) : "cc");
	return upper;
#else
	return mul_u64_u64_shr(a, b, 64);
#endif
}

/*
 * Slot number @index modulo @nr_slots, without a division. This is exact: indices are below
 * 2^63, where the error of the reciprocal does not reach the next quotient.
 */
static __always_inline u64 *iot_ring_slot(const struct iot_ring *ring, u64 index)
{
	u64 lap = iot_ring_upper(index, ring->reciprocal) >> ring->shift;
	char *slots = (char *)ring->slots;

	return (u64 *)(slots + (index - lap * ring->nr_slots) * ring->slot_size);
}

static __always_inline bool iot_ring_claim(u64 *slot, u64 index)
{
	u64 old = READ_ONCE(*slot);

	return !(old & 1) && old < iot_ring_committed(index) &&
	       try_cmpxchg(slot, &old, iot_ring_busy(index));
}

/*
 * A build with IOT_POISON first fills a slot with bytes that no field holds, so that a test
 * finds fields that a writer does not set.
 */
static __always_inline void iot_ring_poison(const struct iot_ring *ring, u64 *slot)
{
	u64 i;

	for (i = 1; IOT_RING_POISONED && i < ring->slot_size / sizeof(u64); i++)
		slot[i] = 0xd7d7d7d7d7d7d7d7ULL;
}

/**
 * iot_ring_reserve() - take the next index and claim its slot
 * @ring:	the ring, which must not be freed before iot_ring_commit()
 * @class:	counter to use, below IOT_RING_CLASSES
 * @slot:	where to store the slot, to be filled from its second word on
 * @index:	where to store the index
 *
 * Context: any; in the kernel preemption must be off until the commit.
 * Return: true, or false if the record is lost, which has been counted.
 */
static __always_inline bool iot_ring_reserve(struct iot_ring *ring,
					     unsigned int class, u64 **slot,
					     u64 *index)
{
	*index = atomic64_fetch_inc(&ring->head);
	if (class)
		atomic64_inc(&ring->second);
	*slot = iot_ring_slot(ring, *index);
	if (likely(iot_ring_claim(*slot, *index))) {
		if (!*slot)
			__builtin_unreachable(); /* so that callers need not check for NULL */
		iot_ring_poison(ring, *slot);
		return true;
	}
	atomic64_inc(&ring->lost[class]);
	return false;
}

/** iot_ring_refuse() - count a record that its writer must not store */
static __always_inline void iot_ring_refuse(struct iot_ring *ring, unsigned int class)
{
	atomic64_inc(&ring->refused[class]);
	atomic64_inc(&ring->lost[class]);
}

/**
 * iot_ring_commit() - show a filled slot to readers
 * @slot:	from iot_ring_reserve()
 * @index:	from iot_ring_reserve()
 */
static __always_inline void iot_ring_commit(u64 *slot, u64 index)
{
	smp_store_release(slot, iot_ring_committed(index)); /* fields first, then the state */
}

#endif /* IOT_RING_H */
