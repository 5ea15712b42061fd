// SPDX-License-Identifier: GPL-2.0
/*
 * A process and all its descendants: a bit for each process id, set or cleared by tracepoint
 * sched_process_fork when the id is assigned. A descendant counts even if its parent has exited,
 * and until its own end.
 */
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/vmalloc.h>
#include <trace/events/sched.h>
#include "core/refusal.h"
#include "hook/point.h"
#include "record/tree.h"

static DEFINE_MUTEX(trees_lock);	/* protects @trees and the number of users of each */
static LIST_HEAD(trees);

/* Context: the parent task, before the child runs; preemption is off. */
static void forked(void *data, struct task_struct *parent, struct task_struct *child)
{
	IOT_POINT_ENTER();
	struct iot_tree *tree;

	if (!thread_group_leader(child))
		return;
	list_for_each_entry_rcu(tree, &trees, list, rcu_read_lock_sched_held()) {
		if (iot_tree_has(tree, parent->tgid))
			set_bit(child->tgid, tree->members);
		else
			clear_bit(child->tgid, tree->members);
	}
}

static struct iot_point fork_point = {
	.name = "sched_process_fork",
	.probe = forked,
};

static bool descends(struct task_struct *task, u32 root)
{
	for (; task->pid; task = rcu_dereference(task->real_parent))
		if (task->tgid == root)
			return true;
	return false;
}

/* Add the existing descendants. forked() adds processes that are forked meanwhile. */
static void add_living(struct iot_tree *tree)
{
	struct task_struct *task;

	set_bit(tree->number, tree->members);
	rcu_read_lock();
	for_each_process(task)
		if (descends(task, tree->number))
			set_bit(task->tgid, tree->members);
	rcu_read_unlock();
}

/**
 * iot_process_get() - get a process, which may be exiting
 * @number:	its id in the pid namespace @ns
 *
 * Context: task. Return: the process, for put_pid(); NULL if there is none, or the id is only that
 * of a thread.
 */
struct pid *iot_process_get(u32 number, struct pid_namespace *ns)
{
	struct pid *pid;

	rcu_read_lock();
	pid = find_pid_ns(number, ns);
	pid = pid_task(pid, PIDTYPE_TGID) ? get_pid(pid) : NULL;
	rcu_read_unlock();
	return pid;
}

/* Find the tree of a process; @root NULL: of one that has exited and had the number. */
static struct iot_tree *find(u32 number, const struct pid *root)
{
	struct iot_tree *tree;

	list_for_each_entry(tree, &trees, list)
		if (tree->number == number && (!root || tree->root == root))
			return tree;
	return NULL;
}

static struct iot_tree *plant(u32 number, struct pid *root)
{
	struct iot_tree *tree;
	int err;

	tree = vzalloc(sizeof(*tree));
	if (!tree)
		return ERR_PTR(-ENOMEM);
	tree->number = number;
	list_add_tail_rcu(&tree->list, &trees);
	err = iot_point_get(&fork_point);
	if (!err) {
		tree->root = get_pid(root);
		add_living(tree);
		return tree;
	}
	list_del_rcu(&tree->list);
	synchronize_rcu(); /* other trees may share the probe */
	vfree(tree);
	return ERR_PTR(err);
}

static struct iot_tree *get_locked(u32 number, struct pid *root, struct iot_why *why)
{
	struct iot_tree *tree = find(number, root);

	if (!tree && !root) {
		iot_why(why, -ESRCH, "tree=%u: there is no process with that number", number);
		return ERR_PTR(-ESRCH);
	}
	if (!tree)
		tree = plant(number, root);
	if (!IS_ERR(tree))
		tree->users++;
	return tree;
}

/**
 * iot_tree_get() - get the tree of a process
 * @number:	its process id in the initial pid namespace
 * @why:	where to report why it is refused
 *
 * A process whose tree is followed may be gone, because its descendants may still exist.
 * Context: task, sleeps. Return: the tree, or an error: -EINVAL: no such id, -ESRCH: no such
 * process, -ENOMEM.
 */
struct iot_tree *iot_tree_get(u32 number, struct iot_why *why)
{
	struct iot_tree *tree;
	struct pid *root;

	if (!number || number >= PID_MAX_LIMIT) {
		iot_why(why, -EINVAL, "tree=%u: say the number of a process", number);
		return ERR_PTR(-EINVAL);
	}
	root = iot_process_get(number, &init_pid_ns);
	mutex_lock(&trees_lock);
	tree = get_locked(number, root, why);
	mutex_unlock(&trees_lock);
	put_pid(root);
	return tree;
}

/** iot_tree_put() - undo iot_tree_get(). Context: task, sleeps; no probe uses the tree any more */
void iot_tree_put(struct iot_tree *tree)
{
	bool last;

	mutex_lock(&trees_lock);
	last = !--tree->users;
	if (last) {
		list_del_rcu(&tree->list);
		iot_point_put(&fork_point);
	}
	mutex_unlock(&trees_lock);
	if (!last)
		return;
	synchronize_rcu(); /* forked() may still use it */
	put_pid(tree->root);
	vfree(tree);
}

/** iot_tree_lives() - does any process of the tree exist? Context: task */
bool iot_tree_lives(const struct iot_tree *tree)
{
	struct task_struct *task;
	bool lives = false;

	rcu_read_lock();
	for_each_process(task)
		if (iot_tree_has(tree, task->tgid)) {
			lives = true;
			break;
		}
	rcu_read_unlock();
	return lives;
}
