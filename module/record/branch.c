// SPDX-License-Identifier: GPL-2.0
/* Branches of category fs: see branch.h. */
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include "compat/compat.h"
#include "file/below.h"
#include "file/originator.h"
#include "file/path_table.h"
#include "record/branch.h"
#include "record/event.h"

static DEFINE_MUTEX(branches_lock);	/* protects changes of what follows */
static LIST_HEAD(branches);
static unsigned int nr_of_tasks;	/* those of processes */
struct iot_branch __rcu *iot_branch_sole;

/* Events of which it is not known whether they are below a path of the filter of category fs. */
static atomic_long_t nr_unknown;

/** struct places - the paths of an event, NULL if it has none or it is not known */
struct places {
	const struct iot_path *path[2];
	bool unknown;
};

/* Find the paths that a record names. Those that were evicted meanwhile are not known. */
static void find_places(struct places *p, const struct iot_fs *e)
{
	p->path[0] = e->path ? iot_path_table_at(e->path) : NULL;
	p->path[1] = e->path2 ? iot_path_table_at(e->path2) : NULL;
	p->unknown = (!p->path[0] && (e->path || e->kind != IOT_KIND_NONE)) ||
		     (!p->path[1] && e->path2);
}

static bool is_below(const struct iot_branch *b, const struct iot_path *path)
{
	return path && iot_path_is_below(path, &b->root);
}

/* Is an event of the processes of a branch, and of a file that it records? */
static bool is_theirs(const struct iot_branch *b, u16 kind)
{
	return (BIT(kind) & b->c.of.default_kinds) && iot_tasks_have(&b->tasks, current);
}

/*
 * Is an event of the processes of a branch, or does it concern what is below the directory? If
 * that is not known, count it.
 */
static bool concerns(struct iot_branch *b, const struct iot_fs *e, const struct places *p)
{
	if (b->c.anywhere)
		return is_theirs(b, e->kind);
	if (is_below(b, p->path[0]) || is_below(b, p->path[1]))
		return true;
	if (p->unknown && READ_ONCE(b->c.own))
		atomic_long_inc(&b->missed);
	return false;
}

/** iot_branches_missed() - get the number of events that category fs missed here. Context: any */
unsigned long iot_branches_missed(void)
{
	return atomic_long_read(&nr_unknown);
}

/*
 * Does an event meet the condition on paths of a filter? If that is not known, count it: category
 * fs has missed it.
 */
static bool meets_paths(const struct iot_filter *f, const struct places *p)
{
	u32 i;

	for (i = 0; i < f->nr_paths; i++)
		if ((p->path[0] && iot_path_is_below(p->path[0], &f->paths[i].root)) ||
		    (p->path[1] && iot_path_is_below(p->path[1], &f->paths[i].root)))
			return true;
	if (p->unknown)
		atomic_long_inc(&nr_unknown);
	return false;
}

static bool is_elsewhere(struct iot_category *c, const struct places *p)
{
	const struct iot_filter *f = rcu_dereference_sched(c->filter);

	return f && (f->used & IOT_FILTER_PATH) && !meets_paths(f, p);
}

static bool wants(struct iot_category *c, const struct iot_fs *e, const struct places *p)
{
	/* without branches of its own and without conditions, its state says all */
	if (likely(READ_ONCE(c->state) == IOT_CATEGORY_ACTIVE))
		return true;
	return READ_ONCE(c->own) && iot_category_wants_task(c) &&
	       !iot_category_rejects_file(c, e->kind, e->device, e->inode) &&
	       !is_elsewhere(c, p) &&
	       !iot_category_rejects_at_end(c, e->op, e->latency,
					    max_t(s64, e->result, e->requested), false);
}

static void put_class(struct iot_category *c, struct iot_fs *e, unsigned int class)
{
	struct iot_event_at at;

	if (!iot_event_reserve_class(c, &at, class))
		return;
	e->sample = READ_ONCE(c->sample);
	e->cpu = at.cpu;
	/* except the first word, which belongs to the ring */
	memcpy(at.slot + 1, (u64 *)e + 1, sizeof(*e) - sizeof(u64));
	iot_event_commit(c, &at);
}

static void put(struct iot_category *c, struct iot_fs *e)
{
	put_class(c, e, IOT_LEVEL_VFS);
}

/**
 * iot_branches_only_below() - do iot_branches_only() while there are several branches
 *
 * Return: the only branch whose directory has the path below it; it may not run.
 */
struct iot_branch *iot_branches_only_below(const struct iot_path *path)
{
	struct iot_branch *b;

	if (READ_ONCE(nr_of_tasks) || !is_power_of_2(path->roots))
		return NULL;
	list_for_each_entry_rcu(b, &branches, list, rcu_read_lock_sched_held())
		if (is_below(b, path))
			return b;
	return NULL;
}

/** iot_branches_several_want_task() - do iot_branches_want_task() while there are several */
bool iot_branches_several_want_task(void)
{
	const struct iot_branch *b;

	if (READ_ONCE(iot_category_fs.own))
		return true;
	list_for_each_entry_rcu(b, &branches, list, rcu_read_lock_sched_held())
		if (iot_branch_has_current(b))
			return true;
	return false;
}

/**
 * iot_branches_reject() - check whether a call is known to be wanted by nobody
 *
 * Context: entry of the call, while all conditions are checked at its end.
 */
bool iot_branches_reject(const struct file *file)
{
	u64 path = READ_ONCE(iot_category_fs.nr_anywhere) ? iot_branches_find_tasks(file) :
							    iot_branches_find(file);

	return !path || iot_file_is_backing(file);
}

/* Does a branch have the rows of sockets of the current task? Context: preemption off. */
static bool has_sockets(const struct iot_branch *b)
{
	return READ_ONCE(b->c.also) && READ_ONCE(b->c.own) && iot_tasks_have(&b->tasks, current);
}

/**
 * iot_branches_want_sockets() - does any branch have the rows of sockets of the current task?
 *
 * Context: any that is a task.
 */
bool iot_branches_want_sockets(void)
{
	struct iot_branch *b;
	bool want = false;

	preempt_disable_notrace();
	list_for_each_entry_rcu(b, &branches, list, rcu_read_lock_sched_held()) {
		want = has_sockets(b);
		if (want)
			break;
	}
	preempt_enable_notrace();
	return want;
}

/* Does a category of the network itself want the current task? It asks again at the end. */
static bool wants_itself(const struct iot_category *c)
{
	bool want;

	preempt_disable_notrace();
	want = READ_ONCE(c->own) && iot_category_wants_task(c);
	preempt_enable_notrace();
	return want;
}

/**
 * iot_branches_may_want() - may a category, or one of its branches, want an event of the current
 * task?
 *
 * Context: any that is a task.
 */
bool iot_branches_may_want(const struct iot_category *c)
{
	bool want;

	if (c != &iot_category_fs)
		return wants_itself(c) || iot_branches_want_sockets();
	if (READ_ONCE(iot_below_any))
		return true;
	preempt_disable_notrace();
	want = iot_branches_want_task();
	preempt_enable_notrace();
	return want;
}

/**
 * iot_branches_record() - record an event for category fs and for each branch that it concerns
 * @e:		the event, except sample and CPU
 *
 * Context: where an operation of category fs ends: task, preemption off.
 */
void iot_branches_record(struct iot_fs *e)
{
	struct iot_branch *b;
	struct places places;

	find_places(&places, e);
	if (wants(&iot_category_fs, e, &places))
		put(&iot_category_fs, e);
	list_for_each_entry_rcu(b, &branches, list, rcu_read_lock_sched_held())
		if (concerns(b, e, &places) && wants(&b->c, e, &places))
			put(&b->c, e);
}

/* As wants(), for an event of a socket: no condition on files concerns it. */
static bool wants_socket(struct iot_category *c, const struct iot_fs *e)
{
	if (likely(READ_ONCE(c->state) == IOT_CATEGORY_ACTIVE))
		return true;
	return READ_ONCE(c->own) && iot_category_wants_task(c) &&
	       !iot_category_rejects_at_end(c, e->op, e->latency,
					    max_t(s64, e->result, e->requested), false);
}

/**
 * iot_branches_record_socket() - record an event of a socket for each branch that has such rows
 * @e:		the event, except task, sample and CPU
 *
 * Context: where a call of categories net and conn ends: task, preemption off.
 */
void iot_branches_record_socket(struct iot_fs *e)
{
	struct iot_branch *b;

	iot_task_fill(e);
	list_for_each_entry_rcu(b, &branches, list, rcu_read_lock_sched_held())
		if (has_sockets(b) && wants_socket(&b->c, e))
			put(&b->c, e);
}

static void put_bio(struct iot_category *c, struct iot_fs *e)
{
	if (READ_ONCE(c->own) && !iot_category_leaves_out(c, e->pid))
		put_class(c, e, IOT_LEVEL_BLK);
}

/* Record a bio if it is for a file below the directory; if that is not known, count it. */
static void record_below(struct iot_branch *b, struct iot_fs *e, const struct iot_path *path)
{
	if (is_below(b, path))
		put_bio(&b->c, e);
	else if (!path && e->kind != IOT_KIND_NONE && READ_ONCE(b->c.own))
		atomic_long_inc(&b->missed);
}

static void set_originator(struct iot_fs *e, const struct iot_originator *who)
{
	e->pid = who->pid;
	e->tid = who->tid;
	e->ppid = 0;
	e->uid = who->uid;
	e->cgroup = who->cgroup;
	memcpy(e->comm, who->comm, sizeof(e->comm));
	e->flags |= IOT_REQ_ORIGINATOR;
}

/* Record a bio if a process submits it, or made dirty what it writes. */
static void record_of_tasks(struct iot_branch *b, struct iot_fs *e, bool own,
			    const struct iot_originator *who)
{
	struct iot_fs theirs;

	if (own && iot_tasks_have(&b->tasks, current)) {
		put_bio(&b->c, e);
	} else if (who && iot_tasks_had(&b->tasks, who)) {
		theirs = *e;
		set_originator(&theirs, who);
		put_bio(&b->c, &theirs);
	}
}

/**
 * iot_branches_record_bio() - record a bio for each branch that it concerns
 * @e:		the event, except CPU
 * @own:	the current task submits it on its own account
 * @who:	who made dirty what it writes, or NULL
 *
 * Context: any, preemption off.
 */
void iot_branches_record_bio(struct iot_fs *e, bool own, const struct iot_originator *who)
{
	const struct iot_path *path = e->path ? iot_path_table_at(e->path) : NULL;
	struct iot_branch *b;

	list_for_each_entry_rcu(b, &branches, list, rcu_read_lock_sched_held()) {
		if (b->c.anywhere)
			record_of_tasks(b, e, own, who);
		else
			record_below(b, e, path);
	}
}

/* The hooks of their own, by what branches are limited to; set at load */
static const struct iot_category_ops *dir_ops, *tasks_ops;

/** iot_branches_bind() - set the hooks that branches have beside those of category fs */
void iot_branches_bind(const struct iot_category_ops *dir, const struct iot_category_ops *tasks)
{
	dir_ops = dir;
	tasks_ops = tasks;
}

static unsigned int level_of(const void *record)
{
	return iot_fs_is_block(((const struct iot_fs *)record)->op) ? IOT_LEVEL_BLK : IOT_LEVEL_VFS;
}

/* Set up what all branches have. Return: 0, or an error and there is nothing to free. */
static int init(struct iot_branch *b, const char *name, u32 kinds, u64 keep,
		const struct iot_category_ops *own)
{
	struct iot_category *c = &b->c;
	int err;

	c->of.name = name;
	c->of.event_id = IOT_EVENT_ID_FS;
	c->of.default_kinds = kinds;
	c->stem = &iot_category_fs;
	c->traits = IOT_TRAIT_BY_INODE;
	c->rings_of.class_of = level_of;
	c->probes = iot_category_fs.probes ? own : NULL;
	c->left_out = iot_category_fs.left_out;
	err = iot_category_init(c);
	if (err)
		iot_category_free(c);
	else if (keep)
		c->log.keep = keep;
	return err;
}

/* Caller holds branches_lock. */
static void find_sole(void)
{
	struct iot_branch *b = NULL;

	if (list_is_singular(&branches))
		b = list_first_entry(&branches, struct iot_branch, list);
	rcu_assign_pointer(iot_branch_sole, b);
}

/* Add a branch to the list. Return: 0, or -ENOSPC if there are too many of processes. */
static int enlist(struct iot_branch *b)
{
	int err = 0;

	mutex_lock(&branches_lock);
	if (b->c.anywhere && nr_of_tasks == IOT_BRANCHES_OF_TASKS_MAX)
		err = -ENOSPC;
	if (!err) {
		WRITE_ONCE(nr_of_tasks, nr_of_tasks + b->c.anywhere);
		list_add_tail_rcu(&b->list, &branches);
		find_sole();
	}
	mutex_unlock(&branches_lock);
	return err;
}

static void delist(struct iot_branch *b)
{
	mutex_lock(&branches_lock);
	WRITE_ONCE(nr_of_tasks, nr_of_tasks - b->c.anywhere);
	list_del_rcu(&b->list);
	find_sole();
	mutex_unlock(&branches_lock);
}

/**
 * iot_branch_init_dir() - make a branch of what is below a directory, which is not started yet
 * @b:		zeroed
 * @name:	for messages, as long as the branch lives
 * @dir:	the directory; the caller holds a reference
 * @keep:	records that each CPU keeps, 0 for the usual number
 *
 * Context: task, may sleep. Return: 0, or an error and there is nothing to free: -ENOMEM, or
 * -ENOSPC if IOT_BELOW_MAX directories are traced.
 */
int iot_branch_init_dir(struct iot_branch *b, const char *name, struct inode *dir, u64 keep)
{
	int err = init(b, name, IOT_KIND_ALL, keep, dir_ops);

	if (err)
		return err;
	err = iot_below_add(&b->root, dir);
	if (err) {
		iot_category_free(&b->c);
		return err;
	}
	iot_path_table_forget();
	return enlist(b);
}

/**
 * iot_branch_init_tasks() - make a branch of some processes, which is not started yet
 * @b:		zeroed, except @tasks
 * @name:	as above, like @keep
 *
 * Context: task, may sleep. Return: 0, or an error and there is nothing to free: -ENOMEM, or
 * -ENOSPC if there are IOT_BRANCHES_OF_TASKS_MAX of them.
 */
int iot_branch_init_tasks(struct iot_branch *b, const char *name, u64 keep)
{
	int err = init(b, name, iot_category_fs.of.default_kinds, keep, tasks_ops);

	if (err)
		return err;
	b->c.anywhere = true;
	err = enlist(b);
	if (err)
		iot_category_free(&b->c);
	return err;
}

/* Whose hooks see sockets: for struct iot_category: also. */
static struct iot_category * const of_sockets[] = { &iot_category_net, &iot_category_conn, NULL };

/**
 * iot_branch_add_sockets() - let a branch of processes have the rows of their sockets, too
 *
 * Context and result: as iot_category_extend().
 */
int iot_branch_add_sockets(struct iot_branch *b, struct iot_why *why)
{
	return iot_category_extend(&b->c, of_sockets, why);
}

/**
 * iot_branch_missed() - count the events that a branch has missed
 * @own:	those that its category says it has missed
 *
 * Context: task.
 */
u64 iot_branch_missed(const struct iot_branch *b, u64 own)
{
	struct iot_category * const *also = READ_ONCE(b->c.also);

	for (; also && *also; also++)
		own += (*also)->probes->missed();
	return own + atomic_long_read(&b->missed);
}

/**
 * iot_branch_end() - stop a branch for good
 *
 * Its records can still be read. Context: task, may sleep as long as iot_category_stop().
 */
void iot_branch_end(struct iot_branch *b)
{
	struct iot_filter *f = iot_category_end(&b->c);

	delist(b);
	/* either waits until no probe has the branch or the filter any more */
	if (b->c.anywhere)
		synchronize_rcu();
	else
		iot_below_remove(&b->root);
	iot_filter_free(f);
}

/** iot_branch_free() - free what a branch holds, after iot_branch_end(). Context: no reader left */
void iot_branch_free(struct iot_branch *b)
{
	iot_category_free(&b->c);
	iot_paths_tidy();
}
