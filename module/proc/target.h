/* SPDX-License-Identifier: GPL-2.0 */
/* Which files and block devices are traced: their lifetime, links and rings. */
#ifndef IOT_TARGET_H
#define IOT_TARGET_H

#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/rhashtable-types.h>
#include <linux/workqueue.h>
#include "record/running.h"
#include "probe/vfs.h"
#include "uapi/iotracer.h"

#define IOT_NAME_LEN	64	/* of a directory in /proc/iotracer */

struct iot_why;
struct proc_dir_entry;

/**
 * struct iot_link - one path under which a target was added
 * @list:	in the list of the target's links, in the order in which they were added
 * @node:	in the index of all links by path
 * @t:		the target, NULL in a copy
 */
struct iot_link {
	struct list_head list;
	struct rhlist_head node;
	struct iot_target *t;
	char path[];
};

/**
 * struct iot_target - a traced file or block device
 * @hot:	the part that probes use
 * @all:	in the list of all targets, in the order in which they were added
 * @cold:	in the index of all targets by inode number
 * @named:	in the index of all targets by @name
 * @free:	work that frees the target and its ring
 * @name:	of its directory in /proc, padded with zeroes
 * @links:	list of struct iot_link, in the order in which they were added
 * @st_dev:	device number as stat(2) gives it
 * @st_ino:	inode number as stat(2) gives it
 * @lock:	protects what follows, and @hot.ring against replacement
 * @shift:	seq of a record = its index in @ring + @shift
 * @carried:	records seen in earlier rings since the last reset
 * @t0:		CLOCK_MONOTONIC ns
 * @running:	it is in the table of running targets and has its hooks enabled
 * @pipe_next:	seq of the next record that a pipe shows
 * @pipe_gap:	number of records before it that are gone and that no pipe has reported yet
 * @pipes:	number of open pipes
 * @gone:	its directory is about to be removed: no task may wait in it
 * @hooks:	hooks that it holds references to, and enables while running
 *
 * @all, @cold, @named, @name, @links, @dir: under control.c's lock.
 * Freed an RCU grace period after it was removed from all tables and /proc.
 */
struct iot_target {
	struct iot_running hot;

	struct list_head all;
	struct rhlist_head cold;
	struct rhash_head named;
	struct rcu_work free;
	char name[IOT_NAME_LEN];
	struct list_head links;
	dev_t st_dev;
	u64 st_ino;
	struct proc_dir_entry *dir;

	struct mutex lock;	/* protects what follows */
	u64 shift;
	u64 carried;
	u64 t0;
	u64 pipe_next;
	u64 pipe_gap;
	unsigned int pipes;
	bool gone;
	bool running;
	struct iot_vfs_hooks hooks;
};

/** struct iot_target_stats - counts of one level since the last reset */
struct iot_target_stats {
	u64 seen;
	u64 stored;
	u64 overwritten;
	u64 lost;
	u64 missed;
};

struct iot_target *iot_target_lookup(struct inode *inode);
struct iot_target *iot_target_create(const struct path *path, const struct kstat *stat,
				     u64 max_events, struct iot_why *why);
void iot_target_remove(struct iot_target *t);
void iot_target_remove_all(void);
void iot_target_for_each(void (*fn)(struct iot_target *t, void *data), void *data);

struct iot_link *iot_target_link(struct iot_target *t, const char *path);
struct iot_link *iot_target_any_link(const char *path);
int iot_link_copy(struct list_head *links, const char *path);
int iot_target_add_link(struct iot_target *t, const char *path);
void iot_target_drop_link(struct iot_link *link);

int iot_target_start(struct iot_target *t);
void iot_target_stop(struct iot_target *t);
void iot_target_reset(struct iot_target *t, bool new_t0);
int iot_target_resize(struct iot_target *t, u64 max_events, struct iot_why *why);
u64 iot_target_max_events(struct iot_target *t);
void iot_target_stats(struct iot_target *t, struct iot_target_stats stats[IOT_LEVELS],
		      u64 *overwritten);
size_t iot_target_bytes(struct iot_target *t);

int iot_target_init(bool (*is_reserved)(const char *name));
void iot_target_exit(void);

#endif /* IOT_TARGET_H */
