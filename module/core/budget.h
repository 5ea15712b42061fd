/* SPDX-License-Identifier: GPL-2.0 */
/* The memory that all rings and paths together may hold: parameter ring_memory_limit. */
#ifndef IOT_BUDGET_H
#define IOT_BUDGET_H

#include <linux/types.h>
#include <linux/workqueue.h>

struct iot_why;

bool iot_budget_try(size_t bytes);
bool iot_budget_fits(size_t bytes);
bool iot_budget_take(size_t bytes, const char *what, struct iot_why *why);
int iot_budget_refuse(size_t bytes, const char *what, struct iot_why *why);
u64 iot_budget_used(void);
void iot_budget_give(size_t bytes);

void iot_budget_free_later(struct rcu_work *work, work_func_t fn);
void iot_budget_settle(void);

int iot_budget_init(void);
void iot_budget_exit(void);

#endif /* IOT_BUDGET_H */
