/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Scopes of category fs: each records the events of what is below one directory, or of some
 * processes, in a log of its own.
 *
 * A scope has all that a category has. The hooks of category fs, its base, serve both; beside them
 * it has one for bios. While a scope runs, the conditions of the base's filter are checked at the
 * end of an event only, together with those of each scope. Then the record is copied to the rings
 * of all that want it.
 *
 * A scope of processes may have the rows of their sockets, too. Then it also uses the hooks of
 * categories net and conn, which check their own conditions late, as category fs does.
 */
#ifndef IOT_SCOPE_H
#define IOT_SCOPE_H

#include <linux/atomic.h>
#include <linux/list.h>
#include "file/below.h"
#include "record/categories.h"
#include "record/tasks.h"

struct iot_originator;

#define IOT_SCOPE_UNKNOWN	U64_MAX	/* the path of a file is not in the table */
#define IOT_SCOPES_OF_TASKS_MAX	32	/* scopes of processes at a time */

/**
 * struct iot_scope - the events below a directory, or of some processes
 * @c:		its rings, and what starts and stops it
 * @root:	the directory, unless @c.of_tasks
 * @tasks:	the processes, if @c.of_tasks
 * @missed:	events of which it is not known whether they were below the directory
 * @list:	in the list of all scopes, under RCU
 *
 * The owner frees it, with iot_scope_end() and iot_scope_free().
 */
struct iot_scope {
	struct iot_category c;
	struct iot_below_root root;
	struct iot_tasks tasks;
	atomic_long_t missed;
	struct list_head list;
};

/** iot_scope_of() - get the scope that a category is part of, or NULL */
static inline struct iot_scope *iot_scope_of(struct iot_category *c)
{
	return c->base ? container_of(c, struct iot_scope, c) : NULL;
}

/*
 * The scope, if there is only one, for quick checks. Under RCU: iot_scope_end() clears it, and
 * waits before the scope is freed.
 */
extern struct iot_scope __rcu *iot_scope_sole;

/* For iot_category_wants(). */
bool iot_scopes_may_want(const struct iot_category *c);

/* For the probes of category fs: fs.c and rw.h. */
bool iot_scopes_several_want_task(void);
bool iot_scopes_reject(const struct file *file);
struct iot_scope *iot_scopes_only_below(const struct iot_path *path);
void iot_scopes_record(struct iot_fs *e);
unsigned long iot_scopes_missed(void);

/* For the probes of categories net and conn. */
bool iot_scopes_want_sockets(void);
void iot_scopes_record_socket(struct iot_fs *e);

/* For the probe of bios. */
void iot_scopes_record_bio(struct iot_fs *e, bool own, const struct iot_originator *who);

/* For the owner. */
void iot_scopes_bind(const struct iot_category_ops *dir, const struct iot_category_ops *tasks);
int iot_scope_init_dir(struct iot_scope *s, const char *name, struct inode *dir, u64 keep);
int iot_scope_init_tasks(struct iot_scope *s, const char *name, u64 keep);
int iot_scope_add_sockets(struct iot_scope *s, struct iot_why *why);
u64 iot_scope_missed(const struct iot_scope *s, u64 own);
void iot_scope_end(struct iot_scope *s);
void iot_scope_free(struct iot_scope *s);

/* Is a scope of processes, and has it the current one? Context: task, preemption off. */
static __always_inline bool iot_scope_has_current(const struct iot_scope *s)
{
	return s->c.of_tasks && READ_ONCE(s->c.own) && iot_tasks_have(&s->tasks, current);
}

/**
 * iot_scopes_want_task() - may category fs, or a scope of processes, want the current task?
 *
 * Context: task, preemption off.
 */
static __always_inline bool iot_scopes_want_task(void)
{
	const struct iot_scope *s = rcu_dereference_sched(iot_scope_sole);

	if (unlikely(!s) || unlikely(READ_ONCE(iot_category_fs.own)))
		return iot_scopes_several_want_task();
	return iot_scope_has_current(s);
}

/*
 * Return: the id of a path if it is of one of @kinds, else 0. Context: task, preemption off.
 */
static __always_inline u64 iot_scopes_find_kinds(const struct file *file, u32 kinds)
{
	const struct iot_path *known = iot_paths_find(&file->f_path, false);

	if (unlikely(!known))
		return IOT_SCOPE_UNKNOWN;
	return known->file.kinds & kinds ? known->file.id : 0;
}

/**
 * iot_scopes_find() - find the path of a file that a scope may want
 *
 * All scopes are of directories, else iot_scopes_find_tasks() does it. A rename between two
 * calls changes the stamp of all paths, so what is found is right for this moment.
 * Context: task. Return: the id of the path; IOT_SCOPE_UNKNOWN, or 0 if nobody wants the call.
 */
static __always_inline u64 iot_scopes_find(const struct file *file)
{
	u64 path;

	preempt_disable_notrace();
	path = iot_scopes_find_kinds(file, READ_ONCE(iot_category_fs.kinds));
	preempt_enable_notrace();
	return path;
}

/**
 * iot_scopes_find_tasks() - do iot_scopes_find() while a scope is of processes
 *
 * The process is checked first, which is quicker than the path. Context: as there.
 */
static __always_inline u64 iot_scopes_find_tasks(const struct file *file)
{
	u64 path = 0;

	preempt_disable_notrace();
	if (iot_scopes_want_task())
		path = iot_scopes_find_kinds(file, READ_ONCE(iot_category_fs.kinds));
	else if (READ_ONCE(iot_below_any))
		path = iot_scopes_find_kinds(file, IOT_PATHS_BELOW);
	preempt_enable_notrace();
	return path;
}

/**
 * iot_scopes_only() - find the scope that alone has an event of the current task
 * @path:	the event's only path
 *
 * Return: the scope, or NULL if others may have the event, too, or conditions decide. Context: as
 * for iot_scopes_record().
 */
static __always_inline struct iot_category *iot_scopes_only(const struct iot_path *path)
{
	struct iot_scope *s = rcu_dereference_sched(iot_scope_sole);

	if (unlikely(!s))
		s = iot_scopes_only_below(path);
	if (unlikely(!s) || READ_ONCE(s->c.state) != IOT_CATEGORY_ACTIVE ||
	    READ_ONCE(iot_category_fs.own))
		return NULL;
	if (!s->c.of_tasks)
		return iot_path_is_below(path, &s->root) ? &s->c : NULL;
	return (path->file.kinds & s->c.of.default_kinds) &&
	       iot_tasks_have(&s->tasks, current) ? &s->c : NULL;
}

#endif /* IOT_SCOPE_H */
