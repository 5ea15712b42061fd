/* SPDX-License-Identifier: GPL-2.0 */
/* The fields of a record that describe the task. */
#ifndef IOT_TASK_H
#define IOT_TASK_H

#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/sched.h>
#include <linux/string.h>

/*
 * iot_task_fill() - store the current task in a record of any event that has these fields
 *
 * Context: preemption off, which is the RCU read section that the reads here need. A macro, as
 * each category has its own struct.
 */
#define iot_task_fill(e) do {							\
	struct task_struct *_task = current;					\
										\
	(e)->pid = _task->tgid;							\
	(e)->tid = _task->pid;							\
	(e)->ppid = rcu_dereference_sched(_task->real_parent)->tgid;		\
	(e)->uid = __kuid_val(rcu_dereference_sched(_task->cred)->euid);	\
	(e)->cgroup = iot_task_cgroup(_task);					\
	memcpy((e)->comm, _task->comm, sizeof((e)->comm));			\
} while (0)

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
