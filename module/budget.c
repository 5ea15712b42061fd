// SPDX-License-Identifier: GPL-2.0
/* The memory that all rings together may hold: parameter ring_memory_limit. */
#include <linux/atomic.h>
#include <linux/printk.h>
#include "budget.h"
#include "param.h"

static atomic_long_t taken;

/**
 * iot_budget_take() - take before allocating
 * @bytes:	how much
 * @what:	for the message, begins a sentence
 *
 * Return: false, and one line in the kernel log: it would pass the limit.
 */
bool iot_budget_take(size_t bytes, const char *what)
{
	u64 limit = iot_param_ring_memory_limit();

	if (atomic_long_add_return(bytes, &taken) <= limit)
		return true;
	atomic_long_sub(bytes, &taken);
	pr_err("%s of %zu bytes would pass ring_memory_limit=%llu (%ld in use): take a smaller one, remove targets or raise the parameter\n",
	       what, bytes, limit, atomic_long_read(&taken));
	return false;
}

/** iot_budget_give() - give back what is free, or will be after RCU */
void iot_budget_give(size_t bytes)
{
	atomic_long_sub(bytes, &taken);
}
