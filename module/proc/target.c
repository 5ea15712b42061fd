// SPDX-License-Identifier: GPL-2.0
/*
 * Traced files and block devices: their lifetime, paths and rings.
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
 * Reset empties a ring in place. Meanwhile writers use the sink, so events that happen until
 * the command is done are forgotten like those before it. Resize replaces the whole ring.
 * Writers that were in the old ring finish there.
 */
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>
#include "core/budget.h"
#include "core/param.h"
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

/* The ring that nobody reads. Takes records while a target's own ring is being emptied. */
static struct iot_ring *sink;

/* Rings */

/* Bytes that are allocated for a ring: whole pages where __vmalloc() is used. */
static size_t ring_size(u64 keep)
{
	size_t bytes = iot_ring_bytes(keep, sizeof(struct iot_io));

	return bytes <= KMALLOC_MAX_CACHE_SIZE ? bytes : PAGE_ALIGN(bytes);
}

static struct iot_ring *ring_alloc(u64 keep, u64 first)
{
	size_t bytes = ring_size(keep);
	struct iot_ring *ring;

	if (bytes <= KMALLOC_MAX_CACHE_SIZE)
		ring = kzalloc(bytes, GFP_KERNEL | __GFP_NOWARN);
	else
		ring = __vmalloc(bytes, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN |
				 __GFP_RETRY_MAYFAIL);
	if (ring)
		iot_ring_init(ring, keep, sizeof(struct iot_io), first);
	return ring;
}

static int check_max_events(u64 max_events, struct iot_why *why)
{
	u64 limit = iot_param_max_events_limit();

	if (max_events <= limit)
		return 0;
	iot_why(why, -ENOMEM,
		"max_events %llu is above max_events_limit=%llu: take fewer or raise the parameter",
		max_events, limit);
	pr_err("%s\n", why->text);
	return -ENOMEM;
}

static size_t ring_bytes(const struct iot_ring *ring)
{
	return ring_size(iot_ring_capacity(ring));
}

/* Make a ring that is charged to the budget. Two rings of a target are both charged. */
static struct iot_ring *ring_new(u64 keep, u64 first, struct iot_why *why)
{
	struct iot_ring *ring;

	if (!iot_budget_take(ring_size(keep), "a log", why))
		return NULL;
	ring = ring_alloc(keep, first);
	if (!ring)
		iot_budget_give(ring_size(keep));
	return ring;
}

/* Context: no task uses the ring any more. */
static void ring_free(struct iot_ring *ring)
{
	size_t bytes = ring_bytes(ring);

	kvfree(ring);
	iot_budget_give(bytes);
}

static struct iot_ring *ring_of(struct iot_target *t)
{
	return rcu_dereference_protected(t->indexed.ring, lockdep_is_held(&t->lock));
}

static int start_locked(struct iot_target *t)
{
	int err = iot_life_check(&t->life);

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
	int err = iot_life_check(&t->life);

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

static void reset_locked(struct iot_target *t, bool new_t0)
{
	struct iot_ring *ring = ring_of(t);

	rcu_assign_pointer(t->indexed.ring, sink);
	synchronize_rcu_expedited(); /* the last writer has left it */
	iot_ring_reset(ring);
	t->carried = 0;
	if (new_t0)
		t->t0 = ktime_get_mono_fast_ns();
	rcu_assign_pointer(t->indexed.ring, ring);
}

/**
 * iot_target_reset() - empty the log and reset its counts
 * @t:		the target
 * @new_t0:	set T0 to the present time
 *
 * Events in progress end up in the emptied log or in none. No memory is allocated. Has no effect on
 * a target that has ended.
 */
void iot_target_reset(struct iot_target *t, bool new_t0)
{
	mutex_lock(&t->lock);
	if (!iot_life_check(&t->life))
		reset_locked(t, new_t0);
	mutex_unlock(&t->lock);
}

/*
 * Copy the newest records of @old, which has no writers any more, into @new, to the
 * indices below new->first. The index behind the last record of @old is new->first.
 */
static void ring_carry(struct iot_ring *new, const struct iot_ring *old)
{
	u64 end, from = iot_ring_window(old, &end);
	struct iot_io record;
	int class;
	u64 i;

	if (end - from > new->first)
		from = end - new->first;
	for (i = from; i < end; i++) {
		if (iot_ring_read(old, i, (u64 *)&record) != IOT_RING_OK)
			continue;
		/* a writer that wants the slot meanwhile gets none */
		preempt_disable();
		iot_ring_put(new, new->first - (end - i), (u64 *)&record);
		preempt_enable();
	}
	WRITE_ONCE(new->base, new->first - (end - from));
	for (class = 0; class < IOT_RING_CLASSES; class++) {
		new->earlier[class] = iot_ring_seen(old, class);
		atomic64_add(atomic64_read(&old->lost[class]), &new->lost[class]);
	}
}

/* Replace @old by @new, which gets the newest records of @old. */
static void ring_replace(struct iot_target *t, struct iot_ring *old, struct iot_ring *new)
{
	u64 old_end;

	rcu_assign_pointer(t->indexed.ring, new);
	synchronize_rcu(); /* the last writer of the old ring is done */
	old_end = atomic64_read(&old->head);
	ring_carry(new, old);
	t->carried += old_end - old->first;
	t->shift += old_end - new->first;
	ring_free(old);
}

/*
 * The old and the new ring both exist until the records are carried over, and both are
 * charged. If there is no room for both, an old ring that is large enough stays.
 */
static int resize_locked(struct iot_target *t, u64 max_events, struct iot_why *why)
{
	struct iot_ring *new, *old = ring_of(t);
	u64 most = iot_ring_capacity(old);

	if (max_events == most ||
	    (max_events < most && !iot_budget_try(ring_size(max_events)))) {
		iot_ring_limit(old, max_events);
		return 0;
	}
	if (max_events > most && !iot_budget_take(ring_size(max_events), "a log", why))
		return -ENOMEM;
	new = ring_alloc(max_events, min(max_events, old->keep));
	if (!new) {
		iot_budget_give(ring_size(max_events));
		return -ENOMEM;
	}
	ring_replace(t, old, new);
	return 0;
}

/**
 * iot_target_resize() - change max_events; the newest events stay
 * @why:	where to report which limit does not allow it
 *
 * Return: 0, or -ENOMEM or -ENODEV and nothing has changed.
 */
int iot_target_resize(struct iot_target *t, u64 max_events, struct iot_why *why)
{
	int err;

	mutex_lock(&t->lock);
	err = iot_life_check(&t->life);
	if (!err && ring_of(t)->keep != max_events)
		err = check_max_events(max_events, why) ?:
		      resize_locked(t, max_events, why);
	mutex_unlock(&t->lock);
	return err;
}

u64 iot_target_max_events(struct iot_target *t)
{
	u64 keep;

	mutex_lock(&t->lock);
	keep = ring_of(t)->keep;
	mutex_unlock(&t->lock);
	return keep;
}

/* Count the records that a reader would be shown, by level. */
static void count_stored(const struct iot_ring *ring,
			 struct iot_target_stats stats[IOT_LEVELS])
{
	u64 end, i = iot_ring_window(ring, &end);
	struct iot_io record;

	for (; i < end; i++) {
		if (iot_ring_read(ring, i, (u64 *)&record) == IOT_RING_OK)
			stats[record.level & 1].stored++;
		cond_resched();
	}
}

/**
 * iot_target_stats() - count the events of a target
 * @t:		the target
 * @stats:	by level
 * @overwritten: of all levels, from the indices of the ring, not from @stats
 *
 * seen comes from the writers' counters, the rest from the ring. Tests check that they
 * agree when there are no writers.
 */
void iot_target_stats(struct iot_target *t, struct iot_target_stats stats[IOT_LEVELS],
		      u64 *overwritten)
{
	const struct iot_ring *ring;
	u64 taken, kept = 0;
	int level;

	memset(stats, 0, IOT_LEVELS * sizeof(*stats));
	mutex_lock(&t->lock);
	ring = ring_of(t);
	count_stored(ring, stats);
	taken = t->carried + atomic64_read(&ring->head) - ring->first;
	for (level = 0; level < IOT_LEVELS; level++) {
		struct iot_target_stats *s = &stats[level];

		s->seen = iot_ring_seen(ring, level);
		s->lost = atomic64_read(&ring->lost[level]);
		kept += s->stored + s->lost;
		s->overwritten = s->seen - min(s->seen, s->stored + s->lost);
	}
	stats[IOT_LEVEL_VFS].missed = iot_vfs_missed(&t->hooks) +
				      iot_vfs_missed(&t->other_hooks) + iot_redirect_refused() +
				      iot_async_missed() +
				      (t->device && t->indexed.all_operations ?
				       iot_vfs_unsure() : 0);
	stats[IOT_LEVEL_BLK].missed = t->hooks.block ? iot_direct_missed() : 0;
	mutex_unlock(&t->lock);
	*overwritten = taken - min(taken, kept);
}

/** iot_target_bytes() - get the memory that a target and its log take */
size_t iot_target_bytes(struct iot_target *t)
{
	size_t bytes = sizeof(*t);

	mutex_lock(&t->lock);
	bytes += ring_bytes(ring_of(t));
	mutex_unlock(&t->lock);
	return bytes;
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

static struct iot_target *alloc_target(const struct path *path,
				       const struct kstat *stat)
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
	struct iot_ring *ring = rcu_dereference_protected(t->indexed.ring, true);

	if (ring)
		ring_free(ring);
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
	t = alloc_target(path, stat);
	if (!t)
		return ERR_PTR(-ENOMEM);
	err = iot_vfs_get(&t->hooks, d_inode(path->dentry));
	if (err)
		goto free_target;
	t->hooks.block |= t->device != 0;
	err = check_max_events(max_events, why);
	if (err)
		goto put_hooks;
	err = -ENOMEM;
	RCU_INIT_POINTER(t->indexed.ring, ring_new(max_events, 0, why));
	if (!rcu_access_pointer(t->indexed.ring))
		goto put_hooks;
	t->t0 = ktime_get_mono_fast_ns();
	err = enlist(t, d_inode(path->dentry), stat);
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
	iot_life_end(&t->life);
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
	sink = ring_alloc(1, 0);
	err = sink ? indexes_init() : -ENOMEM;
	if (err) {
		kfree(sink);
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
	kfree(sink);
	iot_target_index_exit();
}
