/* SPDX-License-Identifier: GPL-2.0 */
/* Things under way, found by an address: requests of block devices and of io_uring. */
#ifndef IOT_TABLE_H
#define IOT_TABLE_H

#include <linux/atomic.h>
#include <linux/types.h>

#define IOT_TABLE_BITS	13

/**
 * struct iot_table - static, for the life of the module
 * @size:	bytes of a thing, a multiple of 8
 * @places:	from the first iot_table_begin() to iot_table_free()
 * @used:	how many things have this hash: most searches end there
 */
struct iot_table {
	size_t size;
	void *places;
	atomic_t used[1 << IOT_TABLE_BITS];
};

typedef bool (*iot_table_fn)(const void *thing, const void *what);

int iot_table_begin(struct iot_table *t);
void iot_table_free(struct iot_table *t);

void *iot_table_new(struct iot_table *t, const void *key);
void iot_table_publish(void *thing, const void *key);
void *iot_table_find(const struct iot_table *t, const void *key);
void *iot_table_search(const struct iot_table *t, iot_table_fn is, const void *what);
void *iot_table_rename(struct iot_table *t, void *thing, const void *key);
void iot_table_drop(struct iot_table *t, void *thing);

#endif /* IOT_TABLE_H */
