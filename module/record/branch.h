/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Branches of category fs: each records the events of what is below one directory, or of some
 * processes, in rings of its own.
 *
 * A branch has all that a category has. The hooks of category fs, its stem, serve both; beside them
 * it has one for bios.
 * While a branch runs, the conditions of the stem's filter are checked at the end of an event
 * only, together with those of each branch. Then the record is copied to the rings of all that
 * want it.
 *
 * A branch of processes may have the rows of their sockets, too. Then it also uses the hooks of
 * categories net and conn, which check their own conditions late, as category fs does.
 */
#ifndef IOT_BRANCH_H
#define IOT_BRANCH_H

#include <linux/atomic.h>
#include <linux/list.h>
#include "file/below.h"
#include "record/categories.h"
#include "record/tasks.h"

struct iot_originator;

#define IOT_BRANCH_UNKNOWN	U64_MAX	/* the path of a file is not in the table */
#define IOT_BRANCHES_OF_TASKS_MAX	32	/* branches of processes at a time */

/**
 * struct iot_branch - the events below a directory, or of some processes
 * @c:		its rings, and what starts and stops it
 * @root:	the directory, unless @c.anywhere
 * @tasks:	the processes, if @c.anywhere
 * @missed:	events of which it is not known whether they were below the directory
 * @list:	in the list of all branches, under RCU
 *
 * The owner frees it, with iot_branch_end() and iot_branch_free().
 */
struct iot_branch {
	struct iot_category c;
	struct iot_below_root root;
	struct iot_tasks tasks;
	atomic_long_t missed;
	struct list_head list;
};

/** iot_branch_of() - get the branch that a category is part of, or NULL */
static inline struct iot_branch *iot_branch_of(struct iot_category *c)
{
	return c->stem ? container_of(c, struct iot_branch, c) : NULL;
}

/*
 * The branch, if there is only one, for quick checks. Under RCU: iot_branch_end() clears it, and
 * waits before the branch is freed.
 */
extern struct iot_branch __rcu *iot_branch_sole;

/* For iot_category_wants(). */
bool iot_branches_may_want(const struct iot_category *c);

/* For the probes of category fs: fs.c and rw.h. */
bool iot_branches_several_want_task(void);
bool iot_branches_reject(const struct file *file);
struct iot_branch *iot_branches_only_below(const struct iot_path *path);
void iot_branches_record(struct iot_fs *e);
unsigned long iot_branches_missed(void);

/* For the probes of categories net and conn. */
bool iot_branches_want_sockets(void);
void iot_branches_record_socket(struct iot_fs *e);

/* For the probe of bios. */
void iot_branches_record_bio(struct iot_fs *e, bool own, const struct iot_originator *who);

/* For the owner. */
void iot_branches_bind(const struct iot_category_ops *dir, const struct iot_category_ops *tasks);
int iot_branch_init_dir(struct iot_branch *b, const char *name, struct inode *dir, u64 keep);
int iot_branch_init_tasks(struct iot_branch *b, const char *name, u64 keep);
int iot_branch_add_sockets(struct iot_branch *b, struct iot_why *why);
u64 iot_branch_missed(const struct iot_branch *b, u64 own);
void iot_branch_end(struct iot_branch *b);
void iot_branch_free(struct iot_branch *b);

/* Is a branch of processes, and has it the current one? Context: task, preemption off. */
static __always_inline bool iot_branch_has_current(const struct iot_branch *b)
{
	return b->c.anywhere && READ_ONCE(b->c.own) && iot_tasks_have(&b->tasks, current);
}

/**
 * iot_branches_want_task() - may category fs, or a branch of processes, want the current task?
 *
 * Context: task, preemption off.
 */
static __always_inline bool iot_branches_want_task(void)
{
	const struct iot_branch *b = rcu_dereference_sched(iot_branch_sole);

	if (unlikely(!b) || unlikely(READ_ONCE(iot_category_fs.own)))
		return iot_branches_several_want_task();
	return iot_branch_has_current(b);
}

/*
 * Return: the id of a path if it is of one of @kinds, else 0. Context: task, preemption off.
 */
static __always_inline u64 iot_branches_find_kinds(const struct file *file, u32 kinds)
{
	const struct iot_path *known = iot_paths_find(&file->f_path, false);

	if (unlikely(!known))
		return IOT_BRANCH_UNKNOWN;
	return known->file.kinds & kinds ? known->file.id : 0;
}

/**
 * iot_branches_find() - find the path of a file that a branch may want
 *
 * All branches are of directories, else iot_branches_find_tasks() does it. A rename between two
 * calls changes the stamp of all paths, so what is found is right for this moment.
 * Context: task. Return: the id of the path; IOT_BRANCH_UNKNOWN, or 0 if nobody wants the call.
 */
static __always_inline u64 iot_branches_find(const struct file *file)
{
	u64 path;

	preempt_disable_notrace();
	path = iot_branches_find_kinds(file, READ_ONCE(iot_category_fs.kinds));
	preempt_enable_notrace();
	return path;
}

/**
 * iot_branches_find_tasks() - do iot_branches_find() while a branch is of processes
 *
 * The process is checked first, which is quicker than the path. Context: as there.
 */
static __always_inline u64 iot_branches_find_tasks(const struct file *file)
{
	u64 path = 0;

	preempt_disable_notrace();
	if (iot_branches_want_task())
		path = iot_branches_find_kinds(file, READ_ONCE(iot_category_fs.kinds));
	else if (READ_ONCE(iot_below_any))
		path = iot_branches_find_kinds(file, IOT_PATHS_BELOW);
	preempt_enable_notrace();
	return path;
}

/**
 * iot_branches_only() - find the branch that alone has an event of the current task
 * @path:	the event's only path
 *
 * Return: the branch, or NULL if others may have the event, too, or conditions decide. Context: as
 * for iot_branches_record().
 */
static __always_inline struct iot_category *iot_branches_only(const struct iot_path *path)
{
	struct iot_branch *b = rcu_dereference_sched(iot_branch_sole);

	if (unlikely(!b))
		b = iot_branches_only_below(path);
	if (unlikely(!b) || READ_ONCE(b->c.state) != IOT_CATEGORY_ACTIVE ||
	    READ_ONCE(iot_category_fs.own))
		return NULL;
	if (!b->c.anywhere)
		return iot_path_is_below(path, &b->root) ? &b->c : NULL;
	return (path->file.kinds & b->c.of.default_kinds) &&
	       iot_tasks_have(&b->tasks, current) ? &b->c : NULL;
}

#endif /* IOT_BRANCH_H */
