/* SPDX-License-Identifier: GPL-2.0 */
/* Which files and block devices are traced: their lifetime and hooks. */
#ifndef IOT_TARGET_H
#define IOT_TARGET_H

#include <linux/container_of.h>
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/rhashtable-types.h>
#include <linux/workqueue.h>
#include "record/log.h"
#include "record/target_index.h"
#include "probe/vfs.h"
#include "proc/discard.h"
#include "proc/entry_name.h"
#include "proc/procfile.h"
#include "proc/target_file.h"
#include "uapi/iotracer.h"

struct iot_why;

/**
 * struct iot_target - a traced file or block device
 * @indexed:	the part of the target that probes use
 * @log:	its events
 * @all:	in the list of all targets, in the order in which they were added
 * @free:	work that frees the target and its log
 * @name:	of its directory in /proc
 * @proc:	that directory
 * @parent:	of its directory
 * @paths:	list of struct iot_target_path, in the order in which they were added
 * @files:	that its paths lead to
 * @fop:	operations of its files, compared only
 * @device:	number of the disk or partition that it is, 0 if it is a file
 * @st_dev:	device number of its files as stat(2) gives it
 * @dev:	device number of VFS records: @device, or that of the filesystem
 * @lock:	protects what follows, and @indexed.all_operations against changes; the lock of
 *		@log is taken inside it
 * @running:	its files are in the table of running files, and its hooks are enabled
 * @hooks:	hooks that the target holds references to, and enables while it is running
 * @other_hooks: as @hooks, for what neither reads nor writes; empty without @indexed.all_operations
 *
 * @all, @paths: under the lock of targets.
 * iot_target_detach() stops a target for good, and takes it out of the tables, but its name stays
 * in use. iot_target_release() follows when its directory is gone, and frees it an RCU grace period
 * later.
 */
struct iot_target {
	struct iot_indexed_target indexed;
	struct iot_log log;

	struct list_head all;
	struct rcu_work free;
	struct iot_entry_name name;
	struct proc_dir_entry *parent;
	struct list_head paths;
	struct iot_target_files files;
	const struct file_operations *fop;
	dev_t device;
	dev_t dev;
	dev_t st_dev;
	struct iot_discard proc;

	struct mutex lock;	/* protects what follows */
	bool running;
	struct iot_vfs_hooks hooks;
	struct iot_vfs_hooks other_hooks;
};

/** iot_target_of() - get the target of a file */
static inline struct iot_target *iot_target_of(const struct iot_target_file *f)
{
	return container_of(f->files, struct iot_target, files);
}

struct iot_target *iot_target_lookup(struct inode *inode);
struct iot_target *iot_target_create(const struct path *path, const struct kstat *stat,
				     u64 max_events, bool all_operations, struct iot_why *why);
void iot_target_detach(struct iot_target *t);
void iot_target_release(struct iot_target *t);
void iot_target_remove_all(void);
void iot_target_for_each(void (*fn)(struct iot_target *t, void *data), void *data);

int iot_targets_enter(void);
bool iot_targets_enter_surely(void);
void iot_targets_leave(void);
void iot_targets_close(void);

int iot_target_start(struct iot_target *t);
void iot_target_stop(struct iot_target *t);
int iot_target_extend(struct iot_target *t, const struct inode *inode);
void iot_target_missed(struct iot_target *t, u64 missed[IOT_LEVELS]);

int iot_target_init(bool (*is_reserved)(const char *name));
void iot_target_exit(void);

#endif /* IOT_TARGET_H */
