// SPDX-License-Identifier: GPL-2.0
/*
 * A process and all its descendants: a bit for each process id, set or cleared by tracepoint
 * sched_process_fork when the id is assigned. A descendant counts even if its parent has exited,
 * and until its own end.
 *
 * All categories share one tree at a time.
 */
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/vmalloc.h>
#include <trace/events/sched.h>
#include "hook/hook.h"
#include "hook/point.h"
#include "record/tree.h"

unsigned long *iot_tree_members;

static DEFINE_MUTEX(tree_lock);
static unsigned int users;
static u32 tree_root;
static u32 next_root;	/* 0 if no process is about to replace @tree_root */

/* Context: the parent task, before the child runs; preemption is off. */
static void forked(void *data, struct task_struct *parent, struct task_struct *child)
{
	IOT_POINT_ENTER();

	if (!thread_group_leader(child))
		return;
	if (iot_tree_has(parent->tgid))
		set_bit(child->tgid, iot_tree_members);
	else
		clear_bit(child->tgid, iot_tree_members);
}

static struct iot_point fork_point = {
	.name = "sched_process_fork",
	.probe = forked,
};

static bool descends(struct task_struct *task)
{
	for (; task->pid; task = rcu_dereference(task->real_parent))
		if (task->tgid == tree_root)
			return true;
	return false;
}

/* Add the existing descendants. forked() adds processes that are forked meanwhile. */
static void add_living(void)
{
	struct task_struct *task;

	set_bit(tree_root, iot_tree_members);
	rcu_read_lock();
	for_each_process(task)
		if (descends(task))
			set_bit(task->tgid, iot_tree_members);
	rcu_read_unlock();
}

/* Start again with another root. Forks are followed already, or will be. */
static void plant(u32 root)
{
	tree_root = root;
	memset(iot_tree_members, 0, PID_MAX_LIMIT / 8);
	/* a fork that saw the old tree may still be adding to it */
	synchronize_rcu();
	memset(iot_tree_members, 0, PID_MAX_LIMIT / 8);
	add_living();
}

static int begin(u32 root)
{
	int err;

	if (!iot_tree_members)
		iot_tree_members = vzalloc(PID_MAX_LIMIT / 8);
	if (!iot_tree_members)
		return -ENOMEM;
	err = iot_point_get(&fork_point);
	if (!err)
		plant(root);
	return err;
}

/* Is the id that of a process, which may be exiting, and not only of a thread? */
static bool is_process(u32 number)
{
	bool is;

	rcu_read_lock();
	is = pid_task(find_pid_ns(number, &init_pid_ns), PIDTYPE_TGID);
	rcu_read_unlock();
	return is;
}

/**
 * iot_tree_get() - add a user of the tree of a process
 * @root:	its process id
 * @instead:	number of users that will drop the present tree and so allow another root
 *
 * If these users have another root, the tree keeps that root until iot_tree_plant(). Until then
 * iot_tree_put() undoes everything. A process whose tree is followed may be gone, because its
 * descendants may still exist.
 * Return: 0, -EINVAL: no such id, -ESRCH: no such process, -EBUSY: another tree is followed,
 * -ENOMEM.
 */
int iot_tree_get(u32 root, unsigned int instead)
{
	int err = 0;

	if (!root || root >= PID_MAX_LIMIT)
		return -EINVAL;
	mutex_lock(&tree_lock);
	if (!(users && root == tree_root) && !is_process(root))
		err = -ESRCH;
	else if (!users)
		err = begin(root);
	else if (next_root || (root != tree_root && users > instead))
		err = -EBUSY;
	else if (root != tree_root)
		next_root = root;
	if (!err)
		users++;
	mutex_unlock(&tree_lock);
	return err;
}

/** iot_tree_plant() - follow the descendants of @root, after iot_tree_get() of the same root */
void iot_tree_plant(u32 root)
{
	mutex_lock(&tree_lock);
	if (root == next_root) {
		plant(root);
		next_root = 0;
	}
	mutex_unlock(&tree_lock);
}

/** iot_tree_put() - undo iot_tree_get() of @root; the last user stops following forks */
void iot_tree_put(u32 root)
{
	mutex_lock(&tree_lock);
	if (root == next_root)
		next_root = 0;
	if (!--users)
		iot_point_put(&fork_point);
	mutex_unlock(&tree_lock);
}

/** iot_tree_exit() - free the tree at unload, when no filter and no probe is left */
void iot_tree_exit(void)
{
	vfree(iot_tree_members);
}
