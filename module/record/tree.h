/* SPDX-License-Identifier: GPL-2.0 */
/* A process and all its descendants. */
#ifndef IOT_TREE_H
#define IOT_TREE_H

#include <linux/bitops.h>
#include <linux/threads.h>
#include <linux/types.h>

extern unsigned long *iot_tree_members;

int iot_tree_get(u32 root, unsigned int instead);
void iot_tree_plant(u32 root);
void iot_tree_put(u32 root);
void iot_tree_exit(void);

/** iot_tree_has() - is a process in it? Context: any, between iot_tree_get() and iot_tree_put() */
static __always_inline bool iot_tree_has(u32 tgid)
{
	return arch_test_bit(tgid & (PID_MAX_LIMIT - 1), iot_tree_members);
}

#endif /* IOT_TREE_H */
