// SPDX-License-Identifier: GPL-2.0
/*
 * Tracepoints, found by name.
 *
 * The probe of a tracepoint may still run after iot_point_put(). What it uses must be freed after
 * iot_hook_exit() or tracepoint_synchronize_unregister().
 */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include "core/param.h"
#include "hook/point.h"

/* Protects @points, and @tp and @users of each point. */
static DEFINE_MUTEX(points_lock);
static LIST_HEAD(points);

struct point_entry {
	struct list_head list;
	struct iot_point *point;
};

static void find_point(struct tracepoint *tp, void *data)
{
	struct iot_point *point = data;

	if (!strcmp(tp->name, point->name))
		point->tp = tp;
}

static int attach_point(struct iot_point *point)
{
	struct point_entry *entry;
	int err;

	for_each_kernel_tracepoint(find_point, point);
	if (!point->tp) {
		pr_err("this kernel has no tracepoint %s\n", point->name);
		return -EOPNOTSUPP;
	}
	entry = kmalloc(sizeof(*entry), GFP_KERNEL);
	if (!entry)
		return -ENOMEM;
	err = tracepoint_probe_register(point->tp, point->probe, NULL);
	if (err) {
		kfree(entry);
		return err;
	}
	entry->point = point;
	list_add_tail(&entry->list, &points);
	return 0;
}

static void detach_point(struct iot_point *point)
{
	struct point_entry *entry, *next;

	tracepoint_probe_unregister(point->tp, point->probe, NULL);
	list_for_each_entry_safe(entry, next, &points, list) {
		if (entry->point != point)
			continue;
		list_del(&entry->list);
		kfree(entry);
	}
}

/** iot_point_get() - add a user to a tracepoint; the first one attaches the probe */
int iot_point_get(struct iot_point *point)
{
	int err = 0;

	mutex_lock(&points_lock);
	if (!point->users)
		err = attach_point(point);
	if (!err)
		point->users++;
	mutex_unlock(&points_lock);
	return err;
}

/**
 * iot_point_put() - remove a user from a tracepoint; the last one detaches the probe
 * @point:	from iot_point_get()
 *
 * The probe may still run when this returns; iot_hook_exit() waits for it.
 */
void iot_point_put(struct iot_point *point)
{
	mutex_lock(&points_lock);
	if (!--point->users)
		detach_point(point);
	mutex_unlock(&points_lock);
}

/**
 * iot_points_get() - add a user to each of several tracepoints, in this order; all or none
 *
 * Return: 0, or the error of the tracepoint that could not be attached.
 */
int iot_points_get(struct iot_point *points, size_t nr)
{
	size_t i;
	int err;

	for (i = 0; i < nr; i++) {
		err = iot_point_get(&points[i]);
		if (err) {
			iot_points_put(points, i);
			return err;
		}
	}
	return 0;
}

/** iot_points_put() - remove a user from each of several tracepoints, the last one first */
void iot_points_put(struct iot_point *points, size_t nr)
{
	while (nr--)
		iot_point_put(&points[nr]);
}

/** iot_points_wait() - wait until no detached probe runs. Context: task, may sleep */
void iot_points_wait(void)
{
	tracepoint_synchronize_unregister();
}

/** iot_points_show() - print a line per tracepoint, for /proc/iotracer/hooks */
void iot_points_show(struct seq_file *m)
{
	struct point_entry *entry;

	mutex_lock(&points_lock);
	list_for_each_entry(entry, &points, list)
		seq_printf(m, "%s - tracepoint %u 0 - 0\n", entry->point->name,
			   entry->point->users);
	mutex_unlock(&points_lock);
}
