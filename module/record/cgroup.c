// SPDX-License-Identifier: GPL-2.0
/*
 * Control groups, identified by their paths.
 *
 * A restarted service gets a new group with the old path. The tracepoints cgroup_mkdir and
 * cgroup_rmdir, which fire before any process can join a group and after the last one has left,
 * show which group has the path. No reference to a group is held.
 */
#include <linux/atomic.h>
#include <linux/cgroup.h>
#include <linux/err.h>
#include <linux/limits.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "core/refusal.h"
#include "hook/point.h"
#include "record/cgroup.h"

#ifdef CONFIG_CGROUPS

static DEFINE_MUTEX(list_lock);		/* protects @followed */
static LIST_HEAD(followed);

/* Context: task, preemption off; the kernel holds its lock of all control groups. */
static void made(void *data, struct cgroup *cgroup, const char *path)
{
	IOT_POINT_ENTER();
	struct iot_cgroup *g;

	if (cgroup->root != &cgrp_dfl_root)
		return;
	list_for_each_entry_rcu(g, &followed, list, rcu_read_lock_sched_held())
		if (!strcmp(g->path, path)) {
			WRITE_ONCE(g->last_id, cgroup_id(cgroup));
			WRITE_ONCE(g->id, cgroup_id(cgroup));
		}
}

/* Context: as above. */
static void removed(void *data, struct cgroup *cgroup, const char *path)
{
	IOT_POINT_ENTER();
	struct iot_cgroup *g;

	if (cgroup->root != &cgrp_dfl_root)
		return;
	list_for_each_entry_rcu(g, &followed, list, rcu_read_lock_sched_held())
		cmpxchg(&g->id, cgroup_id(cgroup), 0);
}

static struct iot_point points[] = {
	{ .name = "cgroup_mkdir", .probe = made },
	{ .name = "cgroup_rmdir", .probe = removed },
};

/* Get the part of a path that is below the usual mount point, or NULL. */
static const char *below_mount(const char *path)
{
	static const char mount[] = "/sys/fs/cgroup";
	size_t length = sizeof(mount) - 1;

	if (strncmp(path, mount, length) || (path[length] && path[length] != '/'))
		return NULL;
	return path[length] ? path + length : "/";
}

/* Find a group by its path below the root of the hierarchy, or below its usual mount point. */
static struct cgroup *find(const char *path)
{
	struct cgroup *cgroup = cgroup_get_from_path(path);
	const char *below = below_mount(path);

	return IS_ERR(cgroup) && below ? cgroup_get_from_path(below) : cgroup;
}

static struct cgroup *get(const char *path, struct iot_why *why)
{
	struct cgroup *cgroup = *path == '/' ? find(path) : ERR_PTR(-ENOENT);

	if (!IS_ERR(cgroup) || cgroup == ERR_PTR(-ENOMEM))
		return cgroup;
	iot_why(why, -ENOENT,
		"cgroup=%.64s: there is no such control group; say its path as /proc/<pid>/cgroup shows it after 0::",
		path);
	return ERR_PTR(-ENOENT);
}

/**
 * iot_cgroup_find() - get the id of the control group that has a path now
 * @path:	below the root of the hierarchy or below /sys/fs/cgroup
 *
 * Context: task, may sleep. Return: 0, -ENOENT or -ENOMEM.
 */
int iot_cgroup_find(const char *path, u64 *id, struct iot_why *why)
{
	struct cgroup *cgroup = get(path, why);

	if (IS_ERR(cgroup))
		return PTR_ERR(cgroup);
	*id = cgroup_id(cgroup);
	cgroup_put(cgroup);
	return 0;
}

/* Get the path of a group as the kernel shows it, to be freed, or NULL. */
static char *path_of(struct cgroup *cgroup)
{
	char *path = kmalloc(PATH_MAX, GFP_KERNEL), *exact = NULL;
	int length;

	if (!path)
		return NULL;
	length = cgroup_path(cgroup, path, PATH_MAX);
	if (length >= 0 && length < PATH_MAX)
		exact = kstrdup(path, GFP_KERNEL);
	kfree(path);
	return exact;
}

/* Another group may have got the path before the tracepoints were attached. */
static void look_again(struct iot_cgroup *g)
{
	u64 first = g->id;
	struct cgroup *cgroup = find(g->path);

	if (IS_ERR(cgroup))
		return;
	/* unless a tracepoint knew better */
	cmpxchg(&g->last_id, first, cgroup_id(cgroup));
	cmpxchg(&g->id, first, cgroup_id(cgroup));
	cgroup_put(cgroup);
}

static void enlist(struct iot_cgroup *g)
{
	mutex_lock(&list_lock);
	list_add_tail_rcu(&g->list, &followed);
	mutex_unlock(&list_lock);
}

static void delist(struct iot_cgroup *g)
{
	mutex_lock(&list_lock);
	list_del_rcu(&g->list);
	mutex_unlock(&list_lock);
	synchronize_rcu(); /* a probe may still compare its path */
	kfree(g->path);
}

/* Fill in which group it is. Return: 0 or an error, and there is no path to free. */
static int identify(struct iot_cgroup *g, const char *path, struct iot_why *why)
{
	struct cgroup *cgroup = get(path, why);

	if (IS_ERR(cgroup))
		return PTR_ERR(cgroup);
	g->id = cgroup_id(cgroup);
	g->last_id = g->id;
	g->level = cgroup->level;
	g->path = path_of(cgroup);
	cgroup_put(cgroup);
	return g->path ? 0 : -ENOMEM;
}

/**
 * iot_cgroup_follow() - begin to follow a path
 * @path:	as for iot_cgroup_find(); there has to be such a group now
 *
 * Context: task, may sleep. Return: 0, or an error and there is nothing to undo: -ENOENT, -ENOMEM,
 * or that of a tracepoint.
 */
int iot_cgroup_follow(struct iot_cgroup *g, const char *path, struct iot_why *why)
{
	int err = identify(g, path, why);

	if (err)
		return err;
	enlist(g);
	err = iot_points_get(points, ARRAY_SIZE(points));
	if (err)
		delist(g);
	else
		look_again(g);
	return err;
}

/**
 * iot_cgroup_unfollow() - undo iot_cgroup_follow()
 *
 * Context: task, sleeps; no probe asks iot_cgroup_has() any more, or the caller waits for
 * those before it frees @g.
 */
void iot_cgroup_unfollow(struct iot_cgroup *g)
{
	iot_points_put(points, ARRAY_SIZE(points));
	delist(g);
}

/** iot_cgroup_has_path() - has a group a path, given as for iot_cgroup_find()? */
bool iot_cgroup_has_path(const struct iot_cgroup *g, const char *path)
{
	const char *below = below_mount(path);

	return !strcmp(g->path, path) || (below && !strcmp(g->path, below));
}

/** iot_cgroup_has() - is a task in a group or below? Context: preemption off */
bool iot_cgroup_has(const struct iot_cgroup *g, struct task_struct *task)
{
	struct cgroup *at = cgroup_ancestor(task_dfl_cgroup(task), g->level);

	return at && cgroup_id(at) == READ_ONCE(g->id);
}

#else

static int refuse(struct iot_why *why)
{
	return iot_why(why, -EOPNOTSUPP, "cgroup: this kernel has no control groups");
}

int iot_cgroup_find(const char *path, u64 *id, struct iot_why *why)
{
	return refuse(why);
}

int iot_cgroup_follow(struct iot_cgroup *g, const char *path, struct iot_why *why)
{
	return refuse(why);
}

void iot_cgroup_unfollow(struct iot_cgroup *g)
{
}

bool iot_cgroup_has_path(const struct iot_cgroup *g, const char *path)
{
	return false;
}

bool iot_cgroup_has(const struct iot_cgroup *g, struct task_struct *task)
{
	return false;
}

#endif
