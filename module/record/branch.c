// SPDX-License-Identifier: GPL-2.0
/* Branches of category fs: see branch.h. */
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include "file/below.h"
#include "file/path_table.h"
#include "record/branch.h"
#include "record/event.h"

static DEFINE_MUTEX(branches_lock);	/* protects @branches */
static LIST_HEAD(branches);

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

/* Does an event concern what is below the directory of a branch? If that is not known, count it. */
static bool concerns(struct iot_branch *b, const struct places *p)
{
	if (is_below(b, p->path[0]) || is_below(b, p->path[1]))
		return true;
	if (p->unknown && READ_ONCE(b->c.own))
		atomic_long_inc(&b->missed);
	return false;
}

static bool wants(struct iot_category *c, const struct iot_fs *e)
{
	/* without branches of its own and without conditions, its state says all */
	if (likely(READ_ONCE(c->state) == IOT_CATEGORY_ACTIVE))
		return true;
	return READ_ONCE(c->own) && iot_category_wants_task(c) &&
	       !iot_category_rejects_file(c, e->kind, e->device, e->inode) &&
	       !iot_category_rejects_at_end(c, e->op, e->latency,
					    max_t(s64, e->result, e->requested), false);
}

static void put(struct iot_category *c, struct iot_fs *e)
{
	struct iot_event_at at;

	if (!iot_event_reserve(c, &at))
		return;
	e->sample = READ_ONCE(c->sample);
	e->cpu = at.cpu;
	/* except the first word, which belongs to the ring */
	memcpy(at.slot + 1, (u64 *)e + 1, sizeof(*e) - sizeof(u64));
	iot_event_commit(c, &at);
}

/**
 * iot_branches_only() - find the branch that alone has an event
 * @id:		of the event's only path
 *
 * Return: the branch, or NULL if others may have the event, too, or conditions decide. Context: as
 * for iot_branches_record().
 */
struct iot_category *iot_branches_only(u64 id)
{
	const struct iot_path *path = id ? iot_path_table_at(id) : NULL;
	struct iot_branch *b;

	if (!path || READ_ONCE(iot_category_fs.own) || !is_power_of_2(path->roots))
		return NULL;
	list_for_each_entry_rcu(b, &branches, list, rcu_read_lock_sched_held())
		if (is_below(b, path))
			return READ_ONCE(b->c.state) == IOT_CATEGORY_ACTIVE ? &b->c : NULL;
	return NULL;
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

	if (wants(&iot_category_fs, e))
		put(&iot_category_fs, e);
	find_places(&places, e);
	list_for_each_entry_rcu(b, &branches, list, rcu_read_lock_sched_held())
		if (concerns(b, &places) && wants(&b->c, e))
			put(&b->c, e);
}

/**
 * iot_branch_init() - make a branch, which is not started yet
 * @b:		zeroed
 * @name:	for messages, as long as the branch lives
 * @dir:	the directory; the caller holds a reference
 * @keep:	records that each CPU keeps, 0 for the usual number
 *
 * Context: task, may sleep. Return: 0, or an error and there is nothing to free: -ENOMEM, or
 * -ENOSPC if IOT_BELOW_MAX directories are traced.
 */
int iot_branch_init(struct iot_branch *b, const char *name, struct inode *dir, u64 keep)
{
	struct iot_category *c = &b->c;
	int err;

	c->of.name = name;
	c->of.event_id = IOT_EVENT_ID_FS;
	c->of.default_kinds = IOT_KIND_ALL;
	c->stem = &iot_category_fs;
	c->probes = iot_category_fs.probes;
	c->left_out = iot_category_fs.left_out;
	err = iot_category_init(c);
	if (!err)
		err = iot_below_add(&b->root, dir);
	if (err) {
		iot_category_free(c);
		return err;
	}
	iot_path_table_forget();
	if (keep)
		c->keep = keep;
	mutex_lock(&branches_lock);
	list_add_tail_rcu(&b->list, &branches);
	mutex_unlock(&branches_lock);
	return 0;
}

/**
 * iot_branch_end() - stop a branch for good
 *
 * Its records can still be read. Context: task, may sleep as long as iot_category_stop().
 */
void iot_branch_end(struct iot_branch *b)
{
	struct iot_filter *f = iot_category_end(&b->c);

	mutex_lock(&branches_lock);
	list_del_rcu(&b->list);
	mutex_unlock(&branches_lock);
	iot_below_remove(&b->root); /* waits until no probe has the branch or the filter any more */
	iot_filter_free(f);
}

/** iot_branch_free() - free what a branch holds, after iot_branch_end(). Context: no reader left */
void iot_branch_free(struct iot_branch *b)
{
	iot_category_free(&b->c);
	iot_paths_tidy();
}
