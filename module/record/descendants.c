// SPDX-License-Identifier: GPL-2.0
/*
 * A process and all its descendants, its tree: a bit for each process id, set or cleared by
 * tracepoint sched_process_fork when the id is assigned. A descendant counts even if its parent has
 * exited, and until its own end.
 *
 * The descendants that exist before the tree is followed are found in a list of all processes and
 * their parents. It is made one process at a time, so that no part of it is long without
 * rescheduling; it is then searched with each process passed at most twice, however deep the tree
 * is. Meanwhile processes fork. forked() climbs from the parent of a new process, for at most CLIMB
 * levels, to one that is known to be in the tree. What it does not reach is in the next list: lists
 * are made until one has nothing new.
 */
#include <linux/err.h>
#include <linux/mm.h>
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
#include "record/descendants.h"

static DEFINE_MUTEX(all_lock);	/* protects @all and the number of users of each */
static LIST_HEAD(all);

#define CLIMB	64	/* levels that a process climbs with preemption off */

/* Is a process, or one above it, known to be in the tree? Under RCU. */
static bool climbs_to(const struct iot_descendants *d, struct task_struct *task)
{
	unsigned int i;

	for (i = 0; i < CLIMB && task->pid; i++, task = rcu_dereference_sched(task->real_parent))
		if (iot_descendants_has(d, task->tgid))
			return true;
	return false;
}

/* Context: the parent task, before the child runs; preemption is off. */
static void forked(void *data, struct task_struct *parent, struct task_struct *child)
{
	IOT_POINT_ENTER();
	struct iot_descendants *d;

	if (!thread_group_leader(child))
		return;
	list_for_each_entry_rcu(d, &all, list, rcu_read_lock_sched_held()) {
		if (iot_descendants_has(d, parent->tgid) ||
		    (unlikely(READ_ONCE(d->adding)) && climbs_to(d, parent)))
			set_bit(child->tgid, d->members);
		else
			clear_bit(child->tgid, d->members);
	}
}

static struct iot_point fork_point = {
	.name = "sched_process_fork",
	.probe = forked,
};

/* A process in a list of all. */
struct entry {
	u32 tgid;
	u32 parent;
	u32 above;	/* index of the parent in the list; NONE if it is not there */
	u32 state;
};

#define NONE	U32_MAX

enum state {
	UNKNOWN,
	MEMBER,
	STRANGER,
};

/* struct list - processes in the order of their ids */
struct list {
	struct entry *entries;
	u32 nr;
	u32 room;
};

static bool make_room(struct list *l)
{
	u32 room = l->room ? 2 * l->room : PAGE_SIZE / sizeof(*l->entries);
	struct entry *entries;

	if (l->nr < l->room)
		return true;
	entries = kvmalloc_array(room, sizeof(*entries), GFP_KERNEL);
	if (!entries)
		return false;
	if (l->nr)
		memcpy(entries, l->entries, l->nr * sizeof(*entries));
	kvfree(l->entries);
	l->entries = entries;
	l->room = room;
	return true;
}

/*
 * Find the first process from the id @*number on, and set @*number to what follows its id. Numbers
 * of threads are passed by, as many as there is time for. Return: false if there is none any more.
 */
static bool next_process(int *number, struct entry *e)
{
	struct task_struct *task = NULL;
	struct pid *pid;

	rcu_read_lock();
	do {
		pid = find_ge_pid(*number, &init_pid_ns);
		if (!pid)
			break;
		*number = pid_nr(pid) + 1;
		task = pid_task(pid, PIDTYPE_TGID);
	} while (!task && !need_resched());
	if (task) {
		e->tgid = task->tgid;
		e->parent = rcu_dereference(task->real_parent)->tgid;
	} else {
		e->tgid = 0;
	}
	rcu_read_unlock();
	return pid;
}

static int list_all(struct list *l)
{
	struct entry e = { .above = NONE };
	int number = 1;

	l->nr = 0;
	while (next_process(&number, &e)) {
		cond_resched();
		if (!e.tgid)
			continue;
		if (!make_room(l))
			return -ENOMEM;
		l->entries[l->nr++] = e;
	}
	return 0;
}

static u32 index_of(const struct list *l, u32 tgid)
{
	u32 from = 0, to = l->nr;

	while (from < to) {
		u32 middle = from + (to - from) / 2;

		if (l->entries[middle].tgid < tgid)
			from = middle + 1;
		else
			to = middle;
	}
	return from < l->nr && l->entries[from].tgid == tgid ? from : NONE;
}

/* Where is it known: in the tree, or already looked at in this list? */
static u32 state_of(const struct iot_descendants *d, const struct entry *e)
{
	return iot_descendants_has(d, e->tgid) ? MEMBER : e->state;
}

/*
 * Decide on a process and on all above it that are not decided yet. The list is of many moments, so
 * it may have a circle, which is left after as many steps as there are processes. Return: whether
 * one came into the tree.
 */
static bool decide(struct iot_descendants *d, const struct list *l, u32 i)
{
	u32 at = i, steps = 0, state = STRANGER;
	bool any = false;

	for (; at != NONE && steps++ < l->nr; at = l->entries[at].above) {
		state = state_of(d, &l->entries[at]);
		if (state != UNKNOWN)
			break;
		state = STRANGER;
		if (!(steps % 1024))
			cond_resched();
	}
	for (; i != at && steps--; i = l->entries[i].above) {
		l->entries[i].state = state;
		if (state == MEMBER) {
			set_bit(l->entries[i].tgid, d->members);
			any = true;
		}
		if (!(steps % 1024))
			cond_resched();
	}
	return any;
}

/* Add the descendants that a list has. Return: whether there were new ones. */
static bool add_listed(struct iot_descendants *d, struct list *l)
{
	bool any = false;
	u32 i;

	for (i = 0; i < l->nr; i++) {
		l->entries[i].above = index_of(l, l->entries[i].parent);
		if (!(i % 1024))
			cond_resched();
	}
	for (i = 0; i < l->nr; i++) {
		any |= decide(d, l, i);
		if (!(i % 1024))
			cond_resched();
	}
	return any;
}

#define LISTS	8	/* lists at most: a tree may always have new processes at the end of one */

/* Add the existing descendants. forked() adds processes that are forked meanwhile. */
static int add_living(struct iot_descendants *d)
{
	struct list l = { 0 };
	unsigned int i;
	int err = 0;

	set_bit(d->number, d->members);
	for (i = 0; i < LISTS; i++) {
		err = list_all(&l);
		if (err || !add_listed(d, &l))
			break;
	}
	kvfree(l.entries);
	WRITE_ONCE(d->adding, false);
	return err;
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
static struct iot_descendants *find(u32 number, const struct pid *root)
{
	struct iot_descendants *d;

	list_for_each_entry(d, &all, list)
		if (d->number == number && (!root || d->root == root))
			return d;
	return NULL;
}

static struct iot_descendants *follow(u32 number, struct pid *root)
{
	struct iot_descendants *d;
	int err;

	d = vzalloc(sizeof(*d));
	if (!d)
		return ERR_PTR(-ENOMEM);
	d->number = number;
	d->adding = true;
	list_add_tail_rcu(&d->list, &all);
	err = iot_point_get(&fork_point);
	if (err)
		goto remove;
	err = add_living(d);
	if (err)
		goto put_point;
	d->root = get_pid(root);
	return d;

put_point:
	iot_point_put(&fork_point);
remove:
	list_del_rcu(&d->list);
	synchronize_rcu(); /* other trees may share the probe */
	vfree(d);
	return ERR_PTR(err);
}

static struct iot_descendants *get_locked(u32 number, struct pid *root, struct iot_why *why)
{
	struct iot_descendants *d = find(number, root);

	if (!d && !root) {
		iot_why(why, -ESRCH, "tree=%u: there is no process with that number", number);
		return ERR_PTR(-ESRCH);
	}
	if (!d)
		d = follow(number, root);
	if (!IS_ERR(d))
		d->users++;
	return d;
}

/**
 * iot_descendants_get() - get the tree of a process
 * @number:	its process id in the initial pid namespace
 * @why:	where to report why it is refused
 *
 * A process whose tree is followed may be gone, because its descendants may still exist.
 * Context: task, sleeps. Return: the tree, or an error: -EINVAL: no such id, -ESRCH: no such
 * process, -ENOMEM.
 */
struct iot_descendants *iot_descendants_get(u32 number, struct iot_why *why)
{
	struct iot_descendants *d;
	struct pid *root;

	if (!number || number >= PID_MAX_LIMIT) {
		iot_why(why, -EINVAL, "tree=%u: say the number of a process", number);
		return ERR_PTR(-EINVAL);
	}
	root = iot_process_get(number, &init_pid_ns);
	mutex_lock(&all_lock);
	d = get_locked(number, root, why);
	mutex_unlock(&all_lock);
	put_pid(root);
	return d;
}

/** iot_descendants_put() - undo iot_descendants_get(). Context: task, sleeps; no probe uses it */
void iot_descendants_put(struct iot_descendants *d)
{
	bool last;

	mutex_lock(&all_lock);
	last = !--d->users;
	if (last) {
		list_del_rcu(&d->list);
		iot_point_put(&fork_point);
	}
	mutex_unlock(&all_lock);
	if (!last)
		return;
	synchronize_rcu(); /* forked() may still use it */
	put_pid(d->root);
	vfree(d);
}

/* Is there a process with this id? */
static bool is_process(u32 number)
{
	bool is;

	rcu_read_lock();
	is = pid_task(find_pid_ns(number, &init_pid_ns), PIDTYPE_TGID);
	rcu_read_unlock();
	return is;
}

/**
 * iot_descendants_lives() - does any process of the tree exist?
 *
 * Ids of processes that have exited are still in the tree, until others get them. Context: task,
 * may sleep.
 */
bool iot_descendants_lives(const struct iot_descendants *d)
{
	unsigned long number;

	for_each_set_bit(number, d->members, PID_MAX_LIMIT) {
		if (is_process(number))
			return true;
		cond_resched();
	}
	return false;
}
