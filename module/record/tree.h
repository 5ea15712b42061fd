/* SPDX-License-Identifier: GPL-2.0 */
/* A process and all its descendants. */
#ifndef IOT_TREE_H
#define IOT_TREE_H

#include <linux/bitops.h>
#include <linux/list.h>
#include <linux/threads.h>
#include <linux/types.h>

struct iot_why;
struct pid;
struct pid_namespace;

/**
 * struct iot_tree - a process and all its descendants
 * @list:	in the list of all trees, under RCU
 * @root:	the process
 * @number:	its id in the initial pid namespace
 * @users:	filters and targets that have it
 * @planting:	processes that existed before are still being added
 * @members:	a bit for each process id
 */
struct iot_tree {
	struct list_head list;
	struct pid *root;
	u32 number;
	unsigned int users;
	bool planting;
	DECLARE_BITMAP(members, PID_MAX_LIMIT);
};

struct pid *iot_process_get(u32 number, struct pid_namespace *ns);

struct iot_tree *iot_tree_get(u32 number, struct iot_why *why);
void iot_tree_put(struct iot_tree *tree);
bool iot_tree_lives(const struct iot_tree *tree);

/** iot_tree_has() - is a process in it? Context: any; it is held, or preemption is off */
static __always_inline bool iot_tree_has(const struct iot_tree *tree, u32 tgid)
{
	return arch_test_bit(tgid & (PID_MAX_LIMIT - 1), tree->members);
}

#endif /* IOT_TREE_H */
