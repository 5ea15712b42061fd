/* SPDX-License-Identifier: GPL-2.0 */
/* Sorts what is nearly in order. */
#ifndef IOT_ORDER_H
#define IOT_ORDER_H

#include <linux/types.h>

/**
 * struct iot_order - an order of things that are known by number
 * @is_after:	does thing @a belong behind thing @b?
 * @is_enough:	called now and then, at most every few thousand steps; returns true to give up
 * @data:	for both
 */
struct iot_order {
	bool (*is_after)(const void *data, u32 a, u32 b);
	bool (*is_enough)(const void *data);
	const void *data;
};

bool iot_order_sort(const struct iot_order *o, u32 *things, size_t nr, u32 *spare);

#endif /* IOT_ORDER_H */
