// SPDX-License-Identifier: GPL-2.0
/*
 * The memory that all rings and paths together may hold: parameter ring_memory_limit.
 *
 * Memory is charged before it is allocated and uncharged after it is freed, so the limit
 * holds at every moment. Memory that probes may still be using is freed by a worker after a
 * grace period, which then uncharges it.
 */
#include <linux/atomic.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>
#include "core/budget.h"
#include "core/param.h"
#include "core/refusal.h"

static atomic_long_t taken;
static struct workqueue_struct *frees;

/** iot_budget_try() - charge @bytes if the limit allows it. Context: any */
bool iot_budget_try(size_t bytes)
{
	u64 limit = iot_param_ring_memory_limit();
	long old = atomic_long_read(&taken);

	do {
		if (bytes > limit || old > limit - bytes)
			return false;
	} while (!atomic_long_try_cmpxchg(&taken, &old, old + bytes));
	return true;
}

/**
 * iot_budget_fits() - check whether @bytes could be charged now
 *
 * Waits for memory that is being freed. Context: as for iot_budget_take().
 */
bool iot_budget_fits(size_t bytes)
{
	bool fits = iot_budget_try(bytes);

	if (!fits) {
		iot_budget_settle();
		fits = iot_budget_try(bytes);
	}
	if (fits)
		iot_budget_give(bytes);
	return fits;
}

/**
 * iot_budget_take() - charge memory before it is allocated
 * @bytes:	number of bytes
 * @what:	what the memory is for; begins the sentence of the message
 * @why:	the message is also stored here
 *
 * Memory that is being freed counts until it is free. This waits for it before it refuses.
 * Context: task, may sleep. The caller must not hold a lock that a function given to
 * iot_budget_free_later() takes; today these functions take none.
 * Return: false, after a line in the kernel log, if the limit would be exceeded.
 */
bool iot_budget_take(size_t bytes, const char *what, struct iot_why *why)
{
	if (iot_budget_try(bytes))
		return true;
	iot_budget_settle();
	if (iot_budget_try(bytes))
		return true;
	iot_budget_refuse(bytes, what, why);
	return false;
}

/** iot_budget_refuse() - report that iot_budget_try() has failed. Return: -ENOMEM */
int iot_budget_refuse(size_t bytes, const char *what, struct iot_why *why)
{
	u64 limit = iot_param_ring_memory_limit();
	u64 used = atomic_long_read(&taken);

	iot_why(why, -ENOMEM,
		"%s of %zu bytes would exceed ring_memory_limit=%llu (%llu in use), which leaves %llu: take a smaller one, remove targets or raise the parameter",
		what, bytes, limit, used, limit - min(limit, used));
	pr_err("%s\n", why->text);
	return -ENOMEM;
}

/** iot_budget_used() - get the number of bytes charged. Context: any */
u64 iot_budget_used(void)
{
	return atomic_long_read(&taken);
}

/** iot_budget_give() - uncharge memory that has been freed */
void iot_budget_give(size_t bytes)
{
	atomic_long_sub(bytes, &taken);
}

/**
 * iot_budget_free_later() - free an object when no probe can be using it
 * @work:	part of the object
 * @fn:		frees the object, then uncharges its bytes
 *
 * Context: task.
 */
void iot_budget_free_later(struct rcu_work *work, work_func_t fn)
{
	INIT_RCU_WORK(work, fn);
	queue_rcu_work(frees, work);
}

/** iot_budget_settle() - wait until everything given to iot_budget_free_later() is free */
void iot_budget_settle(void)
{
	rcu_barrier(); /* then all grace periods have ended and their work is queued */
	flush_workqueue(frees);
}

int iot_budget_init(void)
{
	frees = alloc_workqueue("iotracer_free", WQ_UNBOUND, 0);
	return frees ? 0 : -ENOMEM;
}

/** iot_budget_exit() - wait until all memory is free. Context: unload, no object is in use */
void iot_budget_exit(void)
{
	iot_budget_settle();
	destroy_workqueue(frees);
}
