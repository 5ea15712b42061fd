/* SPDX-License-Identifier: GPL-2.0 */
/* The first check of an event: may its category, or a scope of it, want it? */
#ifndef IOT_WANTS_H
#define IOT_WANTS_H

#include <linux/compiler.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include "record/scope.h"
#include "record/category.h"

/* Inlined, as every call that the filter rejects pays for this. */
static __always_inline bool iot_category_wants_by_filter(const struct iot_category *c,
							 unsigned int op)
{
	const struct iot_filter *f;
	bool wanted;

	preempt_disable_notrace();
	f = rcu_dereference_sched(c->filter);
	wanted = f && (op == IOT_ANY_OP || iot_filter_op(f, op)) && iot_category_wants_task(c);
	preempt_enable_notrace();
	return wanted;
}

/**
 * iot_category_wants() - check whether an operation of the current task is wanted
 * @op:		its id, or IOT_ANY_OP
 *
 * The first check of an event; the filter's conditions on files and amounts are checked later.
 * Context: any.
 */
static __always_inline bool iot_category_wants(const struct iot_category *c, unsigned int op)
{
	u32 state = READ_ONCE(c->state);

	if (!(state & IOT_CATEGORY_ACTIVE))
		return false;
	if (likely(iot_category_wants_any(c, state)))
		return true;
	if (state & IOT_CATEGORY_SCOPES)
		return !READ_ONCE(c->nr_of_tasks) || iot_scopes_may_want(c);
	return !iot_category_rejects_process(c, state) && iot_category_wants_by_filter(c, op);
}

#endif /* IOT_WANTS_H */
