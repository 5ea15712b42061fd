// SPDX-License-Identifier: GPL-2.0
/*
 * A ring that keeps exactly the last N records of any number of writers.
 *
 * Writers run in any context (task, softirq, hardirq), on any CPU, and nest:
 * an interrupt may write between two instructions of the writer that it
 * interrupted. They never lock, never wait, never retry.
 *
 * A writer takes the next index from @head, which orders all records of the
 * ring. Index i belongs to slot i modulo the number of slots. The slot's first
 * word is its state:
 *
 *	0			never used
 *	2 * i + 2		holds the record with index i, whole
 *	2 * i + 3		is being filled with the record with index i
 *
 * The writer of index i claims its slot by moving the state from an even value
 * below 2 * i + 2 to 2 * i + 3 with one cmpxchg, fills the slot, and commits by
 * storing 2 * i + 2. The index in a state never falls. The writer does not get
 * the slot when
 *
 *   - the state is odd: the writer of an earlier lap was overtaken by a whole
 *     lap while it fills; its record stays, since two writers must never fill
 *     one slot;
 *   - the state is even and larger: the writer itself was overtaken between
 *     taking its index and claiming;
 *   - the cmpxchg fails: one of the two happened just now.
 *
 * Then the record is counted as lost, and its index stays a hole that readers
 * see as such. So: records seen = indices taken = shown + passed out of the
 * window + lost, exactly, whenever no writer is between reserve and commit.
 *
 * There are more slots than records kept (at least SLACK more), so that a
 * writer that is a little late, or a reader that is copying the oldest record,
 * has that many further records before its slot is wanted by another.
 *
 * A reader copies a slot between two looks at its state and takes the copy only
 * if both show the index that it wants, committed: a torn record is never
 * returned. Writers do not wait for readers; a reader that is overtaken gets
 * IOT_RING_GONE and goes on with the next index. A slot that is behind the
 * wanted index is PENDING: either a hole, or its writer is still under way. The
 * kernel's writers disable preemption between reserve and commit, so a reader
 * can tell the two apart by waiting for an RCU grace period and looking again.
 *
 * Reserve and commit are inlined from ring.h: they are in the path of every read
 * and write that is traced.
 *
 * The ring is freed by its owner after an RCU grace period (target.c). This
 * file is also compiled in userspace: tests/unit/ring-stress.c runs it under
 * ThreadSanitizer and tests/unit/ring.pml is its claim and commit protocol as
 * a model for spin.
 */
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/log2.h>
#include <linux/types.h>
#include "ring.h"

#define SLACK 6

static u64 nr_slots(u64 keep)
{
	return roundup_pow_of_two(keep + SLACK);
}

/**
 * iot_ring_bytes() - size of a ring's one allocation
 * @keep:	records to keep; the caller bounds it so that this cannot overflow
 * @slot_size:	bytes of a slot, a multiple of 8, state included
 */
size_t iot_ring_bytes(u64 keep, size_t slot_size)
{
	return sizeof(struct iot_ring) + nr_slots(keep) * slot_size;
}

/**
 * iot_ring_init() - make zeroed memory of iot_ring_bytes() a ring
 * @ring:	the memory
 * @keep:	records to keep
 * @slot_size:	as given to iot_ring_bytes()
 * @first:	index of the first record; the ones below are for iot_ring_put()
 */
void iot_ring_init(struct iot_ring *ring, u64 keep, size_t slot_size, u64 first)
{
	ring->mask = nr_slots(keep) - 1;
	ring->keep = keep;
	ring->slot_size = slot_size;
	ring->first = first;
	ring->base = first;
	atomic64_set(&ring->head, first);
}

/**
 * iot_ring_window() - which indices a reader is shown
 * @ring:	the ring
 * @end:	where to store the first index behind the window
 *
 * Return: the first index of the window.
 */
u64 iot_ring_window(const struct iot_ring *ring, u64 *end)
{
	u64 base = READ_ONCE(ring->base);
	u64 head;

	smp_rmb(); /* @base, which another reader may move up to a newer head, before */
	head = atomic64_read(&ring->head);
	*end = head;
	return head - base > ring->keep ? head - ring->keep : base;
}

/**
 * iot_ring_read() - copy one record, whole or not at all
 * @ring:	the ring
 * @index:	which
 * @copy:	slot_size bytes; the first word is not written
 */
enum iot_ring_state iot_ring_read(const struct iot_ring *ring, u64 index,
				  u64 *copy)
{
	const u64 *slot = iot_ring_slot(ring, index);
	u64 state = smp_load_acquire(slot); /* before the copy */
	u64 i;

	if (state != iot_ring_committed(index))
		return state > iot_ring_busy(index) ? IOT_RING_GONE : IOT_RING_PENDING;
	for (i = 1; i < ring->slot_size / sizeof(u64); i++)
		copy[i] = READ_ONCE(slot[i]);
	smp_rmb(); /* the copy before the second look */
	return READ_ONCE(*slot) == state ? IOT_RING_OK : IOT_RING_GONE;
}

/** iot_ring_holds() - would iot_ring_read() copy this record just now? */
bool iot_ring_holds(const struct iot_ring *ring, u64 index)
{
	return READ_ONCE(*iot_ring_slot(ring, index)) == iot_ring_committed(index);
}

/**
 * iot_ring_put() - place a record of an earlier ring below @first
 * @ring:	the ring; writers may be at work in it
 * @index:	below @first; above all indices put before
 * @copy:	the record, as iot_ring_read() gave it
 *
 * A slot that a writer has taken in the meantime is left alone: that record
 * would have been overwritten by now. The caller lowers @base when it is done.
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
