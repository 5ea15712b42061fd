/* SPDX-License-Identifier: GPL-2.0 */
/* The fields of a record that describe the task. */
#ifndef IOT_TASK_H
#define IOT_TASK_H

#include <linux/bitops.h>
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/sched.h>
#include <linux/stddef.h>
#include <linux/string.h>

/* Check whether two fields of 32 bits are an aligned word together. */
#define iot_task_is_word(type, first, second)					\
	(offsetof(type, second) == offsetof(type, first) + sizeof(u32) &&	\
	 offsetof(type, first) % sizeof(u64) == 0)

/*
 * iot_task_ids() - store a task's ids and name. A macro, as each record has its own struct.
 *
 * The task has thread and process in one word, unless its layout is randomized. Most records have
 * them so, too, in one order or the other. The compiler removes all cases but one.
 */
#define iot_task_ids(e, task) do {						\
	const bool _word = iot_task_is_word(struct task_struct, pid, tgid);	\
										\
	if (_word && iot_task_is_word(typeof(*(e)), tid, pid)) {		\
		*(u64 *)&(e)->tid = *(const u64 *)&(task)->pid;			\
	} else if (_word && iot_task_is_word(typeof(*(e)), pid, tid)) {		\
		*(u64 *)&(e)->pid = rol64(*(const u64 *)&(task)->pid, 32);	\
	} else {								\
		(e)->tid = (task)->pid;						\
		(e)->pid = (task)->tgid;					\
	}									\
	memcpy((e)->comm, (task)->comm, sizeof((e)->comm));			\
} while (0)

/*
 * iot_task_fill() - store the current task in a record that has these fields
 *
 * Context: preemption off, which is the RCU read section that the reads here need.
 */
#define iot_task_fill(e) do {							\
	struct task_struct *_task = current;					\
										\
	iot_task_ids(e, _task);							\
	(e)->ppid = rcu_dereference_sched(_task->real_parent)->tgid;		\
	(e)->uid = __kuid_val(rcu_dereference_sched(_task->cred)->euid);	\
	(e)->cgroup = iot_task_cgroup(_task);					\
} while (0)

/*
 * iot_task_fill_other() - store another task in a record, or what has these fields: iot_task_fill()
 * without the parent
 *
 * Context: preemption off; the task is held.
 */
#define iot_task_fill_other(e, task) do {					\
	iot_task_ids(e, task);							\
	(e)->uid = __kuid_val(rcu_dereference_sched((task)->real_cred)->euid);	\
	(e)->cgroup = iot_task_cgroup(task);					\
} while (0)

/** iot_task_parent() - get the process id of a task's parent. Context: preemption off */
static __always_inline u32 iot_task_parent(const struct task_struct *task)
{
	return rcu_dereference_sched(task->real_parent)->tgid;
}

/** iot_task_cgroup() - get the id of a task's cgroup (v2). Context: under RCU */
static __always_inline u64 iot_task_cgroup(struct task_struct *task)
{
#ifdef CONFIG_CGROUPS
	return cgroup_id(task_dfl_cgroup(task));
#else
	return 0;
#endif
}

#endif /* IOT_TASK_H */
