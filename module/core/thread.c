// SPDX-License-Identifier: GPL-2.0
/* A walk over all threads by their ids. */
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include "core/thread.h"

/**
 * iot_thread_from() - get the thread with this id, or the next higher one that is in use
 * @nr:		an id in the initial pid namespace; set to the one that was found
 * @more:	set to false if no id from *@nr on is in use
 *
 * Threads that begin or end during a walk may be part of it or not. Context: task.
 * Return: the thread, which the caller puts; NULL if the id is in use by no thread.
 */
struct task_struct *iot_thread_from(int *nr, bool *more)
{
	struct task_struct *task = NULL;
	struct pid *pid;

	rcu_read_lock();
	pid = find_ge_pid(*nr, &init_pid_ns);
	if (pid) {
		*nr = pid_nr(pid);
		task = get_pid_task(pid, PIDTYPE_PID);
	}
	*more = pid;
	rcu_read_unlock();
	return task;
}
