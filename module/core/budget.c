// SPDX-License-Identifier: GPL-2.0
/*
 * The memory that all rings and paths together may hold: parameter ring_memory_limit.
 *
 * Memory is charged before it is allocated and given back after it is free, so the
 * limit holds at every moment. What probes may still be using is freed by a worker
 * after an RCU grace period; its charge goes with it.
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

/** iot_budget_try() - take, if the limit allows. Context: any */
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
 * iot_budget_fits() - could it be taken just now?
 *
 * What is being freed is waited for. Context: as of iot_budget_take().
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
 * iot_budget_take() - take before allocating
 * @bytes:	how much
 * @what:	for the message, begins a sentence
 * @why:	where the message goes, too
 *
 * What is being freed counts until it is free; it is waited for rather than to refuse.
 * Context: task, may sleep; not under locks that frees take, and those take none.
 * Return: false, and one line in the kernel log: it would pass the limit.
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

/** iot_budget_refuse() - say that iot_budget_try() did. Return: -ENOMEM */
int iot_budget_refuse(size_t bytes, const char *what, struct iot_why *why)
{
	u64 limit = iot_param_ring_memory_limit();
	u64 used = atomic_long_read(&taken);

	iot_why(why, -ENOMEM,
		"%s of %zu bytes would pass ring_memory_limit=%llu (%llu in use), which leaves %llu: take a smaller one, remove targets or raise the parameter",
		what, bytes, limit, used, limit - min(limit, used));
	pr_err("%s\n", why->text);
	return -ENOMEM;
}

/** iot_budget_used() - bytes that are charged. Context: any */
u64 iot_budget_used(void)
{
	return atomic_long_read(&taken);
}

/** iot_budget_give() - give back what is free */
void iot_budget_give(size_t bytes)
{
	atomic_long_sub(bytes, &taken);
}

/**
 * iot_budget_free_later() - free something when no probe can be using it
 * @work:	in what is freed
 * @fn:		frees it, then gives its bytes back
 *
 * Context: task.
 */
void iot_budget_free_later(struct rcu_work *work, work_func_t fn)
{
	INIT_RCU_WORK(work, fn);
	queue_rcu_work(frees, work);
}

/** iot_budget_settle() - wait until all is free that is to be freed later */
void iot_budget_settle(void)
{
	rcu_barrier(); /* all grace periods are over, their work is queued */
	flush_workqueue(frees);
}

int iot_budget_init(void)
{
	frees = alloc_workqueue("iotracer_free", WQ_UNBOUND, 0);
	return frees ? 0 : -ENOMEM;
}

/** iot_budget_exit() - at unload, when nothing more will be freed later */
void iot_budget_exit(void)
{
	iot_budget_settle();
	destroy_workqueue(frees);
}
