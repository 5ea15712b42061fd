/* SPDX-License-Identifier: GPL-2.0 */
/* What records say of the task that does something. */
#ifndef IOT_TASK_H
#define IOT_TASK_H

#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/sched.h>
#include <linux/string.h>

/*
 * iot_task_fill() - the caller in a record of any event that has these fields
 *
 * Preemption is off: that is an RCU read section for what is read here. Each
 * category has a struct of its own, so this is no function.
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

/** iot_task_cgroup() - id of a task's cgroup (v2). Context: under RCU */
static __always_inline u64 iot_task_cgroup(struct task_struct *task)
{
#ifdef CONFIG_CGROUPS
	return cgroup_id(task_dfl_cgroup(task));
#else
	return 0;
#endif
}

#endif /* IOT_TASK_H */
