/* SPDX-License-Identifier: GPL-2.0 */
/* The memory that all rings together may hold: parameter ring_memory_limit. */
#ifndef IOT_BUDGET_H
#define IOT_BUDGET_H

#include <linux/types.h>

bool iot_budget_take(size_t bytes, const char *what);
void iot_budget_give(size_t bytes);

#endif /* IOT_BUDGET_H */
