/* SPDX-License-Identifier: GPL-2.0 */
/* Which events of a category are wanted: conditions, all of which must hold. */
#ifndef IOT_FILTER_H
#define IOT_FILTER_H

#include <linux/bitmap.h>
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/sched.h>
#include <linux/types.h>

struct seq_file;

#define IOT_FILTER_PID		BIT(0)
#define IOT_FILTER_TID		BIT(1)
#define IOT_FILTER_COMM		BIT(2)
#define IOT_FILTER_UID		BIT(3)
#define IOT_FILTER_CGROUP	BIT(4)
#define IOT_FILTER_TREE		BIT(5)
#define IOT_FILTER_OP		BIT(6)
#define IOT_FILTER_DEV		BIT(7)
#define IOT_FILTER_INODE	BIT(8)
#define IOT_FILTER_LATENCY	BIT(9)
#define IOT_FILTER_SIZE		BIT(10)

#define IOT_FILTER_OPS		128	/* most operations of a category */

/**
 * struct iot_filter - immutable once a category has it; freed after RCU
 * @used:	IOT_FILTER_* that were given
 * @kinds:	bits 1 << IOT_KIND_*
 * @comm:	padded with zeroes as task->comm is compared as two words
 * @dev:	as in records, see kind device in events.def
 * @tree:	process whose descendants count, itself included
 */
struct iot_filter {
	struct rcu_head rcu;
	u32 used;
	u32 kinds;
	u32 pid;
	u32 tid;
	u32 uid;
	u32 dev;
	u32 tree;
	char comm[TASK_COMM_LEN];
	u64 cgroup;
	u64 inode;
	u64 min_latency;
	u64 min_size;
	DECLARE_BITMAP(ops, IOT_FILTER_OPS);
};

#endif /* IOT_FILTER_H */
