// SPDX-License-Identifier: GPL-2.0
/* Scopes of category fs: see scope.h. */
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
#include "record/scope.h"
#include "record/event.h"

static DEFINE_MUTEX(scopes_lock);	/* protects changes of what follows */
static LIST_HEAD(scopes);
static unsigned int nr_of_tasks;	/* those of processes */
struct iot_scope __rcu *iot_scope_sole;

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

static bool is_below(const struct iot_scope *s, const struct iot_path *path)
{
	return path && iot_path_is_below(path, &s->root);
}

/* Is an event of the processes of a scope, and of a file that it records? */
static bool is_theirs(const struct iot_scope *s, u16 kind)
{
	return (BIT(kind) & s->c.of.default_kinds) && iot_tasks_have(&s->tasks, current);
}

/*
 * Is an event of the processes of a scope, or does it concern what is below the directory? If
 * that is not known, count it.
 */
static bool concerns(struct iot_scope *s, const struct iot_fs *e, const struct places *p)
{
	if (s->c.of_tasks)
		return is_theirs(s, e->kind);
	if (is_below(s, p->path[0]) || is_below(s, p->path[1]))
		return true;
	if (p->unknown && READ_ONCE(s->c.own))
		atomic_long_inc(&s->missed);
	return false;
}

/** iot_scopes_missed() - get the number of events that category fs missed here. Context: any */
unsigned long iot_scopes_missed(void)
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
	/* without scopes of its own and without conditions, its state says all */
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
 * iot_scopes_only_below() - do iot_scopes_only() while there are several scopes
 *
 * Return: the only scope whose directory has the path below it; it may not run.
 */
struct iot_scope *iot_scopes_only_below(const struct iot_path *path)
{
	struct iot_scope *s;

	if (READ_ONCE(nr_of_tasks) || !is_power_of_2(path->roots))
		return NULL;
	list_for_each_entry_rcu(s, &scopes, list, rcu_read_lock_sched_held())
		if (is_below(s, path))
			return s;
	return NULL;
}

/** iot_scopes_several_want_task() - do iot_scopes_want_task() while there are several */
bool iot_scopes_several_want_task(void)
{
	const struct iot_scope *s;

	if (READ_ONCE(iot_category_fs.own))
		return true;
	list_for_each_entry_rcu(s, &scopes, list, rcu_read_lock_sched_held())
		if (iot_scope_has_current(s))
			return true;
	return false;
}

/**
 * iot_scopes_reject() - check whether a call is known to be wanted by nobody
 *
 * Context: entry of the call, while all conditions are checked at its end.
 */
bool iot_scopes_reject(const struct file *file)
{
	u64 path = READ_ONCE(iot_category_fs.nr_of_tasks) ? iot_scopes_find_tasks(file) :
							    iot_scopes_find(file);

	return !path || iot_file_is_backing(file);
}

/* Does a scope have the rows of sockets of the current task? Context: preemption off. */
static bool has_sockets(const struct iot_scope *s)
{
	return READ_ONCE(s->c.also) && READ_ONCE(s->c.own) && iot_tasks_have(&s->tasks, current);
}

/**
 * iot_scopes_want_sockets() - does any scope have the rows of sockets of the current task?
 *
 * Context: any that is a task.
 */
bool iot_scopes_want_sockets(void)
{
	struct iot_scope *s;
	bool want = false;

	preempt_disable_notrace();
	list_for_each_entry_rcu(s, &scopes, list, rcu_read_lock_sched_held()) {
		want = has_sockets(s);
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
 * iot_scopes_may_want() - may a category, or one of its scopes, want an event of the current
 * task?
 *
 * Context: any that is a task.
 */
bool iot_scopes_may_want(const struct iot_category *c)
{
	bool want;

	if (c != &iot_category_fs)
		return wants_itself(c) || iot_scopes_want_sockets();
	if (READ_ONCE(iot_below_any))
		return true;
	preempt_disable_notrace();
	want = iot_scopes_want_task();
	preempt_enable_notrace();
	return want;
}

/**
 * iot_scopes_record() - record an event for category fs and for each scope that it concerns
 * @e:		the event, except sample and CPU
 *
 * Context: where an operation of category fs ends: task, preemption off.
 */
void iot_scopes_record(struct iot_fs *e)
{
	struct iot_scope *s;
	struct places places;

	find_places(&places, e);
	if (wants(&iot_category_fs, e, &places))
		put(&iot_category_fs, e);
	list_for_each_entry_rcu(s, &scopes, list, rcu_read_lock_sched_held())
		if (concerns(s, e, &places) && wants(&s->c, e, &places))
			put(&s->c, e);
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
 * iot_scopes_record_socket() - record an event of a socket for each scope that has such rows
 * @e:		the event, except task, sample and CPU
 *
 * Context: where a call of categories net and conn ends: task, preemption off.
 */
void iot_scopes_record_socket(struct iot_fs *e)
{
	struct iot_scope *s;

	iot_task_fill(e);
	list_for_each_entry_rcu(s, &scopes, list, rcu_read_lock_sched_held())
		if (has_sockets(s) && wants_socket(&s->c, e))
			put(&s->c, e);
}

static void put_bio(struct iot_category *c, struct iot_fs *e)
{
	if (READ_ONCE(c->own) && !iot_category_leaves_out(c, e->pid))
		put_class(c, e, IOT_LEVEL_BLK);
}

/* Record a bio if it is for a file below the directory; if that is not known, count it. */
static void record_below(struct iot_scope *s, struct iot_fs *e, const struct iot_path *path)
{
	if (is_below(s, path))
		put_bio(&s->c, e);
	else if (!path && e->kind != IOT_KIND_NONE && READ_ONCE(s->c.own))
		atomic_long_inc(&s->missed);
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
static void record_of_tasks(struct iot_scope *s, struct iot_fs *e, bool own,
			    const struct iot_originator *who)
{
	struct iot_fs theirs;

	if (own && iot_tasks_have(&s->tasks, current)) {
		put_bio(&s->c, e);
	} else if (who && iot_tasks_had(&s->tasks, who)) {
		theirs = *e;
		set_originator(&theirs, who);
		put_bio(&s->c, &theirs);
	}
}

/**
 * iot_scopes_record_bio() - record a bio for each scope that it concerns
 * @e:		the event, except CPU
 * @own:	the current task submits it on its own account
 * @who:	who made dirty what it writes, or NULL
 *
 * Context: any, preemption off.
 */
void iot_scopes_record_bio(struct iot_fs *e, bool own, const struct iot_originator *who)
{
	const struct iot_path *path = e->path ? iot_path_table_at(e->path) : NULL;
	struct iot_scope *s;

	list_for_each_entry_rcu(s, &scopes, list, rcu_read_lock_sched_held()) {
		if (s->c.of_tasks)
			record_of_tasks(s, e, own, who);
		else
			record_below(s, e, path);
	}
}

/* The hooks of their own, by what scopes are limited to; set at load */
static const struct iot_category_ops *dir_ops, *tasks_ops;

/** iot_scopes_bind() - set the hooks that scopes have beside those of category fs */
void iot_scopes_bind(const struct iot_category_ops *dir, const struct iot_category_ops *tasks)
{
	dir_ops = dir;
	tasks_ops = tasks;
}

static unsigned int level_of(const void *record)
{
	return iot_fs_is_block(((const struct iot_fs *)record)->op) ? IOT_LEVEL_BLK : IOT_LEVEL_VFS;
}

/* Set up what all scopes have. Return: 0, or an error and there is nothing to free. */
static int init(struct iot_scope *s, const char *name, u32 kinds, u64 keep,
		const struct iot_category_ops *own)
{
	struct iot_category *c = &s->c;
	int err;

	c->of.name = name;
	c->of.event_id = IOT_EVENT_ID_FS;
	c->of.default_kinds = kinds;
	c->base = &iot_category_fs;
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

/* Caller holds scopes_lock. */
static void find_sole(void)
{
	struct iot_scope *s = NULL;

	if (list_is_singular(&scopes))
		s = list_first_entry(&scopes, struct iot_scope, list);
	rcu_assign_pointer(iot_scope_sole, s);
}

/* Add a scope to the list. Return: 0, or -ENOSPC if there are too many of processes. */
static int enlist(struct iot_scope *s)
{
	int err = 0;

	mutex_lock(&scopes_lock);
	if (s->c.of_tasks && nr_of_tasks == IOT_SCOPES_OF_TASKS_MAX)
		err = -ENOSPC;
	if (!err) {
		WRITE_ONCE(nr_of_tasks, nr_of_tasks + s->c.of_tasks);
		list_add_tail_rcu(&s->list, &scopes);
		find_sole();
	}
	mutex_unlock(&scopes_lock);
	return err;
}

static void delist(struct iot_scope *s)
{
	mutex_lock(&scopes_lock);
	WRITE_ONCE(nr_of_tasks, nr_of_tasks - s->c.of_tasks);
	list_del_rcu(&s->list);
	find_sole();
	mutex_unlock(&scopes_lock);
}

/**
 * iot_scope_init_dir() - make a scope of what is below a directory, which is not started yet
 * @s:		zeroed
 * @name:	for messages, as long as the scope lives
 * @dir:	the directory; the caller holds a reference
 * @keep:	records that each CPU keeps, 0 for the usual number
 *
 * Context: task, may sleep. Return: 0, or an error and there is nothing to free: -ENOMEM, or
 * -ENOSPC if IOT_BELOW_MAX directories are traced.
 */
int iot_scope_init_dir(struct iot_scope *s, const char *name, struct inode *dir, u64 keep)
{
	int err = init(s, name, IOT_KIND_ALL, keep, dir_ops);

	if (err)
		return err;
	err = iot_below_add(&s->root, dir);
	if (err) {
		iot_category_free(&s->c);
		return err;
	}
	iot_path_table_forget();
	return enlist(s);
}

/**
 * iot_scope_init_tasks() - make a scope of some processes, which is not started yet
 * @s:		zeroed, except @tasks
 * @name:	as above, like @keep
 *
 * Context: task, may sleep. Return: 0, or an error and there is nothing to free: -ENOMEM, or
 * -ENOSPC if there are IOT_SCOPES_OF_TASKS_MAX of them.
 */
int iot_scope_init_tasks(struct iot_scope *s, const char *name, u64 keep)
{
	int err = init(s, name, iot_category_fs.of.default_kinds, keep, tasks_ops);

	if (err)
		return err;
	s->c.of_tasks = true;
	err = enlist(s);
	if (err)
		iot_category_free(&s->c);
	return err;
}

/* Whose hooks see sockets: for struct iot_category: also. */
static struct iot_category * const of_sockets[] = { &iot_category_net, &iot_category_conn, NULL };

/**
 * iot_scope_add_sockets() - let a scope of processes have the rows of their sockets, too
 *
 * Context and result: as iot_category_extend().
 */
int iot_scope_add_sockets(struct iot_scope *s, struct iot_why *why)
{
	return iot_category_extend(&s->c, of_sockets, why);
}

/**
 * iot_scope_missed() - count the events that a scope has missed
 * @own:	those that its category says it has missed
 *
 * Context: task.
 */
u64 iot_scope_missed(const struct iot_scope *s, u64 own)
{
	struct iot_category * const *also = READ_ONCE(s->c.also);

	for (; also && *also; also++)
		own += (*also)->probes->missed();
	return own + atomic_long_read(&s->missed);
}

/**
 * iot_scope_end() - stop a scope for good
 *
 * Its records can still be read. Context: task, may sleep as long as iot_category_stop().
 */
void iot_scope_end(struct iot_scope *s)
{
	struct iot_filter *f = iot_category_end(&s->c);

	delist(s);
	/* either waits until no probe has the scope or the filter any more */
	if (s->c.of_tasks)
		synchronize_rcu();
	else
		iot_below_remove(&s->root);
	iot_filter_free(f);
}

/** iot_scope_free() - free what a scope holds, after iot_scope_end(). Context: no reader left */
void iot_scope_free(struct iot_scope *s)
{
	iot_category_free(&s->c);
	iot_paths_tidy();
}
