/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One record of a category, from the check whether it is wanted to its commit:
 *
 *	preempt_disable_notrace();
 *	if (iot_category_wants(...)) {
 *		e = iot_event_reserve(&iot_category_fs, &at);
 *		if (e) {
 *			iot_event_fill(e, &iot_category_fs, op, start, latency);
 *			iot_task_fill(e);
 *			... the other fields of the category ...
 *			iot_event_commit(&iot_category_fs, &at);
 *		}
 *	}
 *	preempt_enable_notrace();
 *
 * Context of all: any, preemption off from reserve to commit; the category was started.
 */
#ifndef IOT_EVENT_H
#define IOT_EVENT_H

#include <linux/compiler.h>
#include <linux/smp.h>
#include "core/ring.h"
#include "core/spoil.h"
#include "core/task.h"
#include "record/categories.h"

/** struct iot_event_at - a record that is being filled */
struct iot_event_at {
	u64 *slot;
	u64 index;
};

/**
 * iot_event_reserve_all() - reserve a record, after sampling and mode were checked
 *
 * Return: the record, whose first word is the ring's, or NULL if it is lost, which is counted.
 */
static __always_inline void *iot_event_reserve_all(struct iot_category *c, struct iot_event_at *at)
{
	return iot_ring_reserve(iot_category_ring(c), 0, &at->slot, &at->index) ? at->slot : NULL;
}

/** iot_event_reserve() - as above, but NULL also if sampling or mode does not want the event */
static __always_inline void *iot_event_reserve(struct iot_category *c, struct iot_event_at *at)
{
	if (unlikely(READ_ONCE(c->state) & IOT_CATEGORY_SPARSE) && iot_category_thins_out(c))
		return NULL;
	return iot_event_reserve_all(c, at);
}

/*
 * iot_event_fill() - fill in what the records of all categories have, except the task
 * @e:		the record
 * @c:		its category
 * @operation:	IOT_<EVENT>_*
 * @start:	CLOCK_MONOTONIC ns
 * @took:	ns
 *
 * A macro, as each category has a struct of its own.
 */
#define iot_event_fill(e, c, operation, start, took) do {			\
	(e)->time = (start);							\
	(e)->latency = (took);							\
	(e)->sample = READ_ONCE((c)->sample);					\
	(e)->op = (operation);							\
	(e)->cpu = raw_smp_processor_id();					\
} while (0)

/** iot_event_commit() - show the record to readers */
static __always_inline void iot_event_commit(const struct iot_category *c,
					     const struct iot_event_at *at)
{
	iot_spoil(c->of.event_id, at->slot);
	iot_ring_commit(at->slot, at->index);
}

#endif /* IOT_EVENT_H */
