/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One record of a category, from the end of its event to its commit. iot_category_wants() was
 * called when the event began.
 *
 *	preempt_disable_notrace();
 *	if (iot_category_asks_at_end(c, ...) && iot_category_rejects_at_end(c, ...))
 *		goto out;
 *	e = iot_event_reserve(c, &at);
 *	if (!e)
 *		goto out;
 *	iot_event_fill(e, &at, c, op, start, latency);
 *	iot_task_fill(e);
 *	... the other fields of the category ...
 *	iot_event_commit(c, &at);
 * out:
 *	preempt_enable_notrace();
 *
 * Context of all functions: any, preemption off from reserve to commit; the category was
 * started.
 */
#ifndef IOT_EVENT_H
#define IOT_EVENT_H

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/smp.h>
#include "core/ring.h"
#include "core/spoil.h"
#include "core/task.h"
#include "record/categories.h"

/**
 * iot_event_is_interrupted() - check whether a result is the kernel's own code for a call that a
 * signal has ended
 *
 * No program sees these codes (linux/errno.h). The kernel makes the call again, or returns -EINTR,
 * which is what a record has. Context: any.
 */
static __always_inline bool iot_event_is_interrupted(s64 result)
{
	switch (result) {
	case -ERESTARTSYS:
	case -ERESTARTNOINTR:
	case -ERESTARTNOHAND:
	case -ERESTART_RESTARTBLOCK:
		return true;
	}
	return false;
}

/** iot_event_result() - the result that a program may see. Context: any */
static __always_inline s64 iot_event_result(s64 result)
{
	return unlikely(result < 0) && iot_event_is_interrupted(result) ? -EINTR : result;
}

/**
 * iot_event_is_plain() - check, with one branch, that a call has ended without an error, and after
 * it began by the clock, which may step back (core/clock.h)
 *
 * The result of another call may have to be changed, see above, or its latency. Context: any.
 */
static __always_inline bool iot_event_is_plain(u64 latency, s64 result)
{
	return likely((s64)(latency | result) >= 0);
}

/** struct iot_event_at - a record that is being filled */
struct iot_event_at {
	u64 *slot;
	u64 index;
	u64 cpu;	/* a u64: without padding the compiler can keep the struct in registers */
};

/** iot_event_reserve_class() - reserve a record, and count it in a class of the ring's records */
static __always_inline void *iot_event_reserve_class(struct iot_category *c,
						     struct iot_event_at *at, unsigned int class)
{
	at->cpu = (u32)raw_smp_processor_id();
	return iot_ring_reserve(iot_category_ring(c, at->cpu), class, &at->slot, &at->index) ?
	       at->slot : NULL;
}

/**
 * iot_event_reserve() - reserve a record
 *
 * Return: the record, whose first word belongs to the ring; or NULL if the record is lost, which
 * is counted.
 */
static __always_inline void *iot_event_reserve(struct iot_category *c, struct iot_event_at *at)
{
	return iot_event_reserve_class(c, at, 0);
}

/*
 * iot_event_fill() - fill in the fields that all categories have, except the task
 * @e:		the record
 * @at:	from iot_event_reserve()
 * @c:		its category
 * @operation:	IOT_<EVENT>_*
 * @start:	CLOCK_MONOTONIC ns
 * @took:	latency, ns
 *
 * A macro, as each category has a struct of its own.
 */
#define iot_event_fill(e, at, c, operation, start, took) do {			\
	(e)->time = (start);							\
	(e)->latency = (took);							\
	(e)->sample = READ_ONCE((c)->sample);					\
	(e)->op = (operation);							\
	(e)->cpu = (at)->cpu;								\
} while (0)

/** iot_event_commit() - show a filled record to readers */
static __always_inline void iot_event_commit(const struct iot_category *c,
					     const struct iot_event_at *at)
{
	iot_spoil(c->of.event_id, at->slot);
	iot_ring_commit(at->slot, at->index);
}

#endif /* IOT_EVENT_H */
