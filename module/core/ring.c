// SPDX-License-Identifier: GPL-2.0
/*
 * A ring that keeps exactly the last N records of any number of writers.
 *
 * Writers run in any context (task, softirq, hardirq), on any CPU, and nest:
 * an interrupt may write between two instructions of the writer that it
 * interrupted. Writers never lock, wait or retry.
 *
 * A writer takes the next index from @head, which orders all records of the
 * ring. Index i belongs to slot i modulo the number of slots. The slot's first
 * word is its state:
 *
 *	0			never used
 *	2 * i + 2		holds the complete record with index i
 *	2 * i + 3		is being filled with the record with index i
 *
 * The writer of index i claims its slot by moving the state from an even value
 * below 2 * i + 2 to 2 * i + 3 with one cmpxchg, fills the slot, and commits by
 * storing 2 * i + 2. The index in a state never falls. The writer does not get
 * the slot if
 *
 *   - the state is odd: the writer of an earlier lap is still filling the slot
 *     and has been overtaken by a whole lap. Its record stays, since two writers
 *     must never fill one slot.
 *   - the state is even and larger: the writer itself was overtaken between
 *     taking its index and claiming the slot.
 *   - the cmpxchg fails: one of the two happened just now.
 *
 * Then the record is counted as lost, and readers find a hole at its index. So
 * records seen = indices taken = shown + passed out of the window + lost. This is
 * exact whenever no writer is between reserve and commit. A record that is
 * refused takes no index and is counted as both seen and lost.
 *
 * There are SLACK more slots than records kept. So SLACK more records can be written
 * before another writer wants the slot of a writer that is a little late, or the
 * slot of the oldest record, which a reader may be copying.
 *
 * A reader reads the state of a slot before and after it copies the slot. It uses
 * the copy only if both times the wanted index is committed, so a torn record is
 * never returned. Writers do not wait for readers: a reader that is overtaken gets
 * IOT_RING_GONE and continues with the next index. If the slot still has an older
 * index, the result is IOT_RING_PENDING: the record is lost, or its writer has not
 * committed yet. The kernel's writers disable preemption between reserve and commit,
 * so a reader can distinguish the two by waiting for a grace period and looking
 * again.
 *
 * A ring is emptied in place. Its owner keeps writers away, waits for those that
 * are in it, and restarts the ring at @head: indices continue to rise, and all
 * records in the slots are below @base. A reader that is still copying older records
 * finds them until they are overwritten.
 *
 * Reserve and commit are inlined from ring.h, as every traced read and write uses
 * them.
 *
 * The owner frees the ring when no writer can be in it (target.c, category.c).
 * This file is also compiled in userspace: tests/unit/ring-stress.c runs it under
 * ThreadSanitizer, and tests/unit/ring.pml models its claim and commit protocol
 * for spin.
 */
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/types.h>
#include "core/ring.h"

#define SLACK 6

static u64 nr_slots(u64 keep)
{
	return keep + SLACK;
}

/**
 * iot_ring_bytes() - get the bytes to allocate for a ring
 * @keep:	records to keep; the caller bounds it so that the result cannot overflow
 * @slot_size:	bytes of a slot including its state, a multiple of 8
 */
size_t iot_ring_bytes(u64 keep, size_t slot_size)
{
	return sizeof(struct iot_ring) + nr_slots(keep) * slot_size;
}

/**
 * iot_ring_init() - initialize a ring
 * @ring:	zeroed memory of iot_ring_bytes()
 * @keep:	records to keep
 * @slot_size:	as given to iot_ring_bytes()
 * @first:	index of the first record; lower indices are for iot_ring_put()
 */
void iot_ring_init(struct iot_ring *ring, u64 keep, size_t slot_size, u64 first)
{
	ring->nr_slots = nr_slots(keep);
	ring->shift = ilog2(ring->nr_slots - 1);
	ring->reciprocal = mul_u64_u64_div_u64(1ULL << 63, 2ULL << ring->shift, ring->nr_slots) + 1;
	ring->keep = keep;
	ring->slot_size = slot_size;
	ring->first = first;
	ring->base = first;
	atomic64_set(&ring->head, first);
}

/** iot_ring_capacity() - get the largest number of records that a ring can keep */
u64 iot_ring_capacity(const struct iot_ring *ring)
{
	return ring->nr_slots - SLACK;
}

/**
 * iot_ring_hide() - stop showing records below an index
 * @index:	at most the head; nothing happens if @base is above it
 *
 * Of concurrent calls the one with the highest index prevails. Context: any.
 */
void iot_ring_hide(struct iot_ring *ring, u64 index)
{
	u64 base = READ_ONCE(ring->base);

	while (base < index) {
		u64 old = cmpxchg(&ring->base, base, index);

		if (old == base)
			break;
		base = old;
	}
}

/**
 * iot_ring_reset() - drop all records and counts
 *
 * Allocates nothing. Context: no writer is in the ring; readers may be.
 */
void iot_ring_reset(struct iot_ring *ring)
{
	u64 head = atomic64_read(&ring->head);
	int class;

	iot_ring_hide(ring, head);
	WRITE_ONCE(ring->first, head);
	atomic64_set(&ring->second, 0);
	for (class = 0; class < IOT_RING_CLASSES; class++) {
		WRITE_ONCE(ring->earlier[class], 0);
		atomic64_set(&ring->refused[class], 0);
		atomic64_set(&ring->lost[class], 0);
	}
}

/**
 * iot_ring_limit() - change the number of records kept, in the same slots
 * @keep:	at most iot_ring_capacity()
 *
 * Records that have passed out of the window do not return. Writers may be running.
 */
void iot_ring_limit(struct iot_ring *ring, u64 keep)
{
	u64 end, from = iot_ring_window(ring, &end);

	iot_ring_hide(ring, from);
	WRITE_ONCE(ring->keep, keep);
}

/**
 * iot_ring_seen() - count the records that writers of a class had, stored or lost
 *
 * Exact while no writer is running.
 */
u64 iot_ring_seen(const struct iot_ring *ring, unsigned int class)
{
	u64 second = atomic64_read(&ring->second);
	u64 taken = atomic64_read(&ring->head) - READ_ONCE(ring->first);

	return READ_ONCE(ring->earlier[class]) + atomic64_read(&ring->refused[class]) +
	       (class ? second : taken - second);
}

/**
 * iot_ring_window() - get the range of indices that a reader is shown
 * @ring:	the ring
 * @end:	where to store the first index after the window
 *
 * Return: the first index of the window.
 */
u64 iot_ring_window(const struct iot_ring *ring, u64 *end)
{
	u64 base = READ_ONCE(ring->base);
	u64 head, keep;

	smp_rmb(); /* read @base before @head: another reader may raise @base to a newer @head */
	head = atomic64_read(&ring->head);
	*end = head;
	keep = READ_ONCE(ring->keep);
	return head - base > keep ? head - keep : base;
}

/**
 * iot_ring_read() - copy one record, completely or not at all
 * @ring:	the ring
 * @index:	index of the record
 * @copy:	slot_size bytes; the first word is not written
 */
enum iot_ring_state iot_ring_read(const struct iot_ring *ring, u64 index,
				  u64 *copy)
{
	const u64 *slot = iot_ring_slot(ring, index);
	u64 state = smp_load_acquire(slot); /* read the state before the copy */
	u64 i;

	if (state != iot_ring_committed(index))
		return state > iot_ring_busy(index) ? IOT_RING_GONE : IOT_RING_PENDING;
	for (i = 1; i < ring->slot_size / sizeof(u64); i++)
		copy[i] = READ_ONCE(slot[i]);
	smp_rmb(); /* finish the copy before the second read of the state */
	return READ_ONCE(*slot) == state ? IOT_RING_OK : IOT_RING_GONE;
}

/** iot_ring_holds() - check whether iot_ring_read() would copy this record now */
bool iot_ring_holds(const struct iot_ring *ring, u64 index)
{
	return READ_ONCE(*iot_ring_slot(ring, index)) == iot_ring_committed(index);
}

/**
 * iot_ring_put() - store a record of an earlier ring below @first
 * @ring:	the ring; writers may be running in it
 * @index:	below @first, and above all indices put before
 * @copy:	the record, as iot_ring_read() has copied it
 *
 * A slot that a writer has taken in the meantime is left alone: the old record would have been
 * overwritten by now. The caller lowers @base after the last record.
 */
void iot_ring_put(struct iot_ring *ring, u64 index, const u64 *copy)
{
	u64 *slot = iot_ring_slot(ring, index);
	u64 i;

	if (!iot_ring_claim(slot, index))
		return;
	for (i = 1; i < ring->slot_size / sizeof(u64); i++)
		WRITE_ONCE(slot[i], copy[i]);
	iot_ring_commit(slot, index);
}
