// SPDX-License-Identifier: GPL-2.0
/*
 * Traced files and block devices: their lifetime and hooks.
 *
 * No reference to anything of the filesystem is held (target_file.c). Unmounting, deleting and
 * unloading work as if the target were not there. The files of a stopped target are in no table
 * of the probes (record/target_index.c).
 *
 * A block device is a target in two ways. By its file in /dev, like any other file, it has the
 * reads and writes of programs through that file. By its device number it has all bios that are
 * submitted to it, from any source. No reference to the device is held either. If it is removed, a
 * new device with the same number is traced.
 *
 * The events of a target are in a log that has one ring (record/log.c).
 */
#include <linux/rcupdate.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include "core/budget.h"
#include "core/refusal.h"
#include "hook/redirect.h"
#include "hook/symbol.h"
#include "file/direct.h"
#include "probe/bio.h"
#include "probe/vfs.h"
#include "probe/vfs_async.h"
#include "proc/target.h"
#include "proc/target_path.h"

/* Serialises changes of the targets, their files and paths: iot_targets_enter(). */
static DEFINE_MUTEX(targets_lock);
static bool closed;	/* the module is being unloaded: no more changes */

static LIST_HEAD(all);	/* targets, under targets_lock */

static bool (*is_reserved)(const char *name);

static_assert(sizeof(struct iot_io) <= IOT_RECORD_WORDS_MAX * sizeof(u64));

static unsigned int level_of(const void *record)
{
	return ((const struct iot_io *)record)->level & 1;
}

static struct iot_rings_of rings_of_targets = {
	.name = "a log",
	.size = "max_events",
	.record_size = sizeof(struct iot_io),
	.class_of = level_of,
};

static int start_locked(struct iot_target *t)
{
	int err = iot_life_check(&t->log.life);

	if (err || t->running)
		return err;
	if (iot_symbol_ftrace_off())
		return -EOPNOTSUPP;
	err = iot_async_start();
	if (err)
		return err;
	err = iot_vfs_enable(&t->hooks);
	if (err)
		goto stop_async;
	if (t->indexed.all_operations) {
		err = iot_vfs_enable_other(&t->other_hooks);
		if (err)
			goto disable_vfs;
	}
	if (t->hooks.block) {
		err = iot_bio_attach();
		if (err)
			goto disable_other;
	}
	WRITE_ONCE(t->indexed.run, t->indexed.run + 1);
	iot_target_files_publish(&t->files);
	t->running = true;
	return 0;

disable_other:
	if (t->indexed.all_operations)
		iot_vfs_disable_other(&t->other_hooks);
disable_vfs:
	iot_vfs_disable(&t->hooks);
stop_async:
	iot_async_stop();
	return err;
}

/**
 * iot_target_start() - start tracing; does nothing if the target is running
 *
 * Context: task, may sleep long: the first target of a filesystem patches kernel text.
 * Return: 0, -EOPNOTSUPP if ftrace is off, -ENODEV if it was removed, or the error of attaching a
 * hook.
 */
int iot_target_start(struct iot_target *t)
{
	int err;

	mutex_lock(&t->lock);
	err = start_locked(t);
	mutex_unlock(&t->lock);
	return err;
}

static void stop_locked(struct iot_target *t)
{
	if (!t->running)
		return;
	t->running = false;
	iot_target_files_unpublish(&t->files);
	if (t->hooks.block)
		iot_bio_detach();
	if (t->indexed.all_operations)
		iot_vfs_disable_other(&t->other_hooks);
	iot_vfs_disable(&t->hooks);
	iot_async_stop();
}

/** iot_target_stop() - stop tracing; the records in the log stay */
void iot_target_stop(struct iot_target *t)
{
	mutex_lock(&t->lock);
	stop_locked(t);
	mutex_unlock(&t->lock);
}

static int extend_locked(struct iot_target *t, const struct inode *inode)
{
	int err = iot_life_check(&t->log.life);

	if (err || t->indexed.all_operations)
		return err;
	err = iot_vfs_get_other(&t->other_hooks, inode);
	if (err)
		return err;
	err = t->running ? iot_vfs_enable_other(&t->other_hooks) : 0;
	if (err) {
		iot_vfs_put(&t->other_hooks);
		return err;
	}
	WRITE_ONCE(t->indexed.all_operations, true);
	return 0;
}

/**
 * iot_target_extend() - record all operations of a target from now on, not only reads and writes
 * @inode:	of a file of the target; the caller holds a reference
 *
 * Context: task, may sleep long, as iot_target_start(). Return: 0, or an error and nothing has
 * changed.
 */
int iot_target_extend(struct iot_target *t, const struct inode *inode)
{
	int err;

	mutex_lock(&t->lock);
	err = extend_locked(t, inode);
	mutex_unlock(&t->lock);
	return err;
}

/**
 * iot_target_missed() - count the events that the hooks of a target have missed
 * @missed:	by level
 */
void iot_target_missed(struct iot_target *t, u64 missed[IOT_LEVELS])
{
	mutex_lock(&t->lock);
	missed[IOT_LEVEL_VFS] = iot_vfs_missed(&t->hooks) + iot_vfs_missed(&t->other_hooks) +
				iot_redirect_refused() + iot_async_missed() +
				(t->device && t->indexed.all_operations ? iot_vfs_unsure() : 0);
	missed[IOT_LEVEL_BLK] = t->hooks.block ? iot_direct_missed() : 0;
	mutex_unlock(&t->lock);
}

/* All targets */

/**
 * iot_targets_enter() - take the lock of targets, unless the module is being unloaded
 *
 * Return: 0, -EINTR if current is being killed, or -ENODEV.
 */
int iot_targets_enter(void)
{
	if (mutex_lock_killable(&targets_lock))
		return -EINTR;
	if (!closed)
		return 0;
	mutex_unlock(&targets_lock);
	return -ENODEV;
}

/** iot_targets_enter_surely() - as above, but cannot be killed. Return: false if unloading */
bool iot_targets_enter_surely(void)
{
	mutex_lock(&targets_lock);
	if (!closed)
		return true;
	mutex_unlock(&targets_lock);
	return false;
}

/** iot_targets_leave() - release the lock of targets */
void iot_targets_leave(void)
{
	mutex_unlock(&targets_lock);
}

/** iot_targets_close() - prevent all changes from now on. Context: unload */
void iot_targets_close(void)
{
	mutex_lock(&targets_lock);
	closed = true;
	mutex_unlock(&targets_lock);
}

/**
 * iot_target_lookup() - find the target of a file, running or not
 *
 * Context: task, under the lock of targets; the caller holds a reference to the inode.
 */
struct iot_target *iot_target_lookup(struct inode *inode)
{
	struct iot_target_file *f = iot_target_file_lookup(inode);

	return f ? iot_target_of(f) : NULL;
}

/**
 * iot_target_for_each() - call @fn for all targets, in the order in which they were added
 *
 * Context: under the lock of targets.
 */
void iot_target_for_each(void (*fn)(struct iot_target *t, void *data), void *data)
{
	struct iot_target *t, *next;

	list_for_each_entry_safe(t, next, &all, all)
		fn(t, data);
}

/* By another entry of /proc/iotracer; a device can have any name. */
static bool name_taken(const struct iot_target *new)
{
	return iot_entry_name_is_taken(new->name.text) ||
	       (new->device && is_reserved(new->name.text));
}

/*
 * <s_id>_<inode>. A device has its name in devtmpfs or, if its file is elsewhere,
 * <major>:<minor>. If another target has this name (a second tmpfs, a subvolume, a deleted
 * file's inode used again), or another entry of /proc/iotracer, _2, _3 … is appended.
 */
static void name_init(struct iot_target *t, const struct dentry *dentry, u64 st_ino)
{
	const struct super_block *sb = dentry->d_sb;
	char *text = t->name.text;
	unsigned int n = 2;
	size_t len;

	iot_entry_name_of_file(&t->name, sb, st_ino);
	if (t->device) {
		memset(text, 0, IOT_NAME_LEN);
		if (!strcmp(sb->s_type->name, "devtmpfs"))
			snprintf(text, IOT_NAME_LEN - 8, "%pd", dentry);
		else
			snprintf(text, IOT_NAME_LEN - 8, "%u:%u", MAJOR(t->device),
				 MINOR(t->device));
		strreplace(text, '/', '!');
	}
	len = strlen(text);
	while (name_taken(t)) {
		memset(text + len, 0, IOT_NAME_LEN - len);
		snprintf(text + len, IOT_NAME_LEN - len, "_%u", n++);
	}
}

static struct iot_target *alloc_target(const struct path *path, const struct kstat *stat,
				       u64 max_events)
{
	struct inode *inode = d_inode(path->dentry);
	struct iot_target *t = kzalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return NULL;
	t->device = S_ISBLK(inode->i_mode) ? inode->i_rdev : 0;
	t->dev = t->device ?: inode->i_sb->s_dev;
	t->st_dev = stat->dev;
	t->fop = inode->i_fop;
	INIT_LIST_HEAD(&t->all);
	INIT_LIST_HEAD(&t->paths);
	iot_target_files_begin(&t->files, &t->indexed);
	mutex_init(&t->lock);
	iot_log_init(&t->log, &rings_of_targets, IOT_EVENT_ID_IO, &t->indexed.ring, max_events);
	name_init(t, path->dentry, stat->ino);
	return t;
}

/* Add a target with its first file to the list and the indexes that control uses. */
static int enlist(struct iot_target *t, struct inode *inode, const struct kstat *stat)
{
	struct iot_target_file *f = iot_target_file_new(&t->files, inode, stat->dev, stat->ino);
	int err;

	if (!f)
		return -ENOMEM;
	err = iot_target_file_add(f);
	if (err) {
		iot_target_file_free(f);
		return err;
	}
	if (iot_entry_name_take(&t->name)) {
		iot_target_files_delist(&t->files);
		return -ENOMEM;
	}
	list_add_tail(&t->all, &all);
	return 0;
}

static void delist(struct iot_target *t)
{
	list_del(&t->all);
	iot_target_files_delist(&t->files);
}

/* Drop the references to all hooks, which are disabled. */
static void put_hooks(struct iot_target *t)
{
	iot_vfs_put(&t->hooks);
	iot_vfs_put(&t->other_hooks);
}

/* Context: neither a probe nor control can find the target any more. */
static void target_free(struct iot_target *t)
{
	iot_log_free(&t->log);
	iot_target_files_free(&t->files);
	mutex_destroy(&t->lock);
	kfree(t);
}

static void target_free_work(struct work_struct *work)
{
	target_free(container_of(to_rcu_work(work), struct iot_target, free));
}

/**
 * iot_target_create() - make a file a target and start tracing
 * @path:	of the file
 * @stat:	of the file, with STATX_INO
 * @max_events:	at least 1
 * @all_operations: record not only reads and writes
 * @why:	where to report which limit does not allow it
 *
 * The caller adds a path and the directory in /proc.
 * Context: task, under the lock of targets.
 * Return: the target, or an error: -EOPNOTSUPP (no ->read_iter, or ftrace is off), -ENOMEM
 * (memory or a limit), or the error of attaching a hook.
 */
struct iot_target *iot_target_create(const struct path *path, const struct kstat *stat,
				     u64 max_events, bool all_operations, struct iot_why *why)
{
	struct iot_target *t;
	int err;

	if (iot_symbol_ftrace_off())
		return ERR_PTR(iot_why(why, -EOPNOTSUPP, IOT_FTRACE_OFF));
	t = alloc_target(path, stat, max_events);
	if (!t)
		return ERR_PTR(-ENOMEM);
	err = iot_vfs_get(&t->hooks, d_inode(path->dentry));
	if (err)
		goto free_target;
	t->hooks.block |= t->device != 0;
	err = iot_log_make(&t->log, why) ?: enlist(t, d_inode(path->dentry), stat);
	if (err)
		goto put_hooks;
	err = all_operations ? iot_target_extend(t, d_inode(path->dentry)) : 0;
	err = err ?: iot_target_start(t);
	if (err)
		goto delist;
	return t;

delist:
	delist(t);
	iot_entry_name_put(&t->name);
put_hooks:
	put_hooks(t);
free_target:
	target_free(t);
	return ERR_PTR(err);
}

/**
 * iot_target_detach() - stop a target for good, and take it off the list: see core/life.h
 *
 * Its directory may still be there, and show what its ring has. Context: task, under control.c's
 * lock.
 */
void iot_target_detach(struct iot_target *t)
{
	struct iot_target_path *tp, *next;

	mutex_lock(&t->lock);
	iot_log_end(&t->log);
	stop_locked(t);
	put_hooks(t);
	mutex_unlock(&t->lock);
	delist(t);
	list_for_each_entry_safe(tp, next, &t->paths, list)
		iot_target_path_drop(tp);
}

/**
 * iot_target_release() - free a target that was detached, and its name
 *
 * Context: task, without any lock; its directory is gone, so only probes still use it.
 */
void iot_target_release(struct iot_target *t)
{
	iot_entry_name_put(&t->name);
	iot_budget_free_later(&t->free, target_free_work);
}

static void remove_one(struct iot_target *t, void *data)
{
	iot_target_detach(t);
	iot_target_release(t);
}

/** iot_target_remove_all() - remove all targets at unload, when /proc/iotracer is gone */
void iot_target_remove_all(void)
{
	iot_target_for_each(remove_one, NULL);
}

static int indexes_init(void)
{
	int err;

	err = iot_target_file_init();
	if (err)
		return err;
	err = iot_entry_names_init();
	if (err)
		goto exit_files;
	err = iot_target_path_init();
	if (err)
		goto exit_names;
	return 0;

exit_names:
	iot_entry_names_exit();
exit_files:
	iot_target_file_exit();
	return err;
}

/**
 * iot_target_init() - set up targets at load
 * @reserved:	check for the name of an entry of /proc/iotracer that is no target
 *
 * Return: 0 or -ENOMEM.
 */
int iot_target_init(bool (*reserved)(const char *name))
{
	int err = iot_target_index_init();

	if (err)
		return err;
	is_reserved = reserved;
	rings_of_targets.sink = iot_rings_sink(sizeof(struct iot_io));
	err = rings_of_targets.sink ? indexes_init() : -ENOMEM;
	if (err) {
		kfree(rings_of_targets.sink);
		iot_target_index_exit();
	}
	return err;
}

/** iot_target_exit() - clean up when no probe and no target is left */
void iot_target_exit(void)
{
	iot_target_path_exit();
	iot_entry_names_exit();
	iot_target_file_exit();
	kfree(rings_of_targets.sink);
	iot_target_index_exit();
}
