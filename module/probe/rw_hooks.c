// SPDX-License-Identifier: GPL-2.0
/*
 * Which functions category fs hooks for READ and WRITE: ->read_iter and ->write_iter, and
 * ->read and ->write where they exist (raw.c). The functions of these files are hooked:
 *
 *   - every mounted filesystem, found by the inodes that it has in memory;
 *   - every open file;
 *   - every file that is opened or gets a descriptor later (iot_rw_see());
 *   - pipes and sockets, found by the names of the functions, even if none exists.
 *
 * Pipes, sockets, devices and the kernel's own files are hooked only while the filter wants
 * them.
 */
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include "core/param.h"
#include "hook/hook.h"
#include "hook/hook_set.h"
#include "hook/point.h"
#include "hook/redirect.h"
#include "hook/symbol.h"
#include "file/sb.h"
#include "record/rw.h"
#include "probe/raw.h"
#include "probe/rw_hooks.h"
#include "probe/vfs.h"

#define SETS_BITS	10
#define MAX_SETS	(BIT(SETS_BITS) / 2)	/* file_operations with different functions */

/**
 * struct set - the functions of one kind of file
 * @functions:	the functions themselves
 * @raw_enabled: @raw is enabled, too
 * @missed:	calls that each hook had missed before it was used here; NO_COUNT if there is no
 *		hook, or another set counts them
 */
#define SET_HOOKS	(IOT_VFS_OPS + IOT_RAW_OPS)
#define NO_COUNT	ULONG_MAX

struct set {
	struct file_operations functions;
	struct iot_vfs_hooks hooks;
	struct iot_raw_hooks raw;
	bool raw_enabled;
	unsigned long missed[SET_HOOKS];
};

/* Serialises hooking and unhooking. Held for as long as the kernel needs for that. */
static DEFINE_MUTEX(attach_lock);

/*
 * @sets and @nr_sets change under both locks. sets_lock nests within attach_lock. It is held
 * only for a short time, and is enough to count missed calls.
 */
static DEFINE_MUTEX(sets_lock);
static struct set *sets[MAX_SETS];
static unsigned int nr_sets;
static atomic_long_t nr_missed;

/*
 * Hash table of the file_operations that are hooked. At least half of the slots stay empty.
 * Filled under attach_lock, emptied when nothing is hooked, read without a lock.
 */
static const struct file_operations *known[BIT(SETS_BITS)];
static unsigned int nr_known;

static unsigned int place_of(const struct file_operations *fop)
{
	unsigned int i = hash_ptr(fop, SETS_BITS);

	while (READ_ONCE(known[i]) && READ_ONCE(known[i]) != fop)
		i = (i + 1) % ARRAY_SIZE(known);
	return i;
}

static bool is_known(const struct file_operations *fop)
{
	return READ_ONCE(known[place_of(fop)]);
}

/*
 * Is @fop allocated, so that its address may be reused? debugfs allocates one for each open
 * file.
 */
static bool is_allocated(const struct file_operations *fop)
{
	return virt_addr_valid(fop) && folio_test_slab(virt_to_folio(fop));
}

/* Under attach_lock. */
static void note_known(const struct file_operations *fop)
{
	if (nr_known == MAX_SETS || is_known(fop) || is_allocated(fop))
		return;
	WRITE_ONCE(known[place_of(fop)], fop);
	WRITE_ONCE(nr_known, nr_known + 1);
}

static bool has_functions(const struct file_operations *fop)
{
	return fop && (fop->read_iter || fop->write_iter || fop->read || fop->write);
}

/*
 * Users of the hooks: category fs, and those that follow direct I/O (@tracks). @nr_users changes
 * under attach_lock.
 */
static unsigned int nr_users;
static bool tracks;

static DEFINE_MUTEX(track_lock);	/* serialises iot_rw_track() and iot_rw_untrack() */
static unsigned int nr_trackers;

/* Get the kinds of files that are wanted, bits 1 << IOT_KIND_*. */
static u32 kinds_wanted(void)
{
	u32 kinds = READ_ONCE(iot_category_fs.kinds);

	return kinds & IOT_PATHS_BELOW ? kinds | iot_category_fs.of.default_kinds : kinds;
}

static bool wants_kind(u16 kind)
{
	return !iot_fs_off() && (kinds_wanted() & BIT(kind));
}

/* Does the filter want files of this kind, or must category block follow their direct I/O? */
static bool is_wanted(const struct inode *inode)
{
	u16 kind = iot_paths_kind(inode);

	return wants_kind(kind) ||
	       (READ_ONCE(tracks) && (kind == IOT_KIND_FILE || S_ISBLK(inode->i_mode)));
}

static struct iot_hook *hook_of(const struct set *set, unsigned int i)
{
	return i < IOT_VFS_OPS ? set->hooks.hook[i] : set->raw.hook[i - IOT_VFS_OPS];
}

static bool is_counted(const struct iot_hook *hook, unsigned int i)
{
	unsigned int n;

	for (n = 0; n < nr_sets; n++)
		if (hook_of(sets[n], i) == hook)
			return true;
	return false;
}

/* Several kinds of files may share a function, whose missed calls must count once. */
static void count_begin(struct set *set)
{
	unsigned int i;

	for (i = 0; i < SET_HOOKS; i++) {
		const struct iot_hook *hook = hook_of(set, i);

		set->missed[i] = hook && !is_counted(hook, i) ? iot_hook_missed(hook) : NO_COUNT;
	}
}

static unsigned long missed_of(const struct set *set)
{
	unsigned long missed = 0;
	unsigned int i;

	for (i = 0; i < SET_HOOKS; i++)
		if (set->missed[i] != NO_COUNT)
			missed += iot_hook_missed(hook_of(set, i)) - set->missed[i];
	return missed;
}

static int attach(struct set *set, bool bounded)
{
	int err;

	err = iot_vfs_get_rw(&set->hooks, &set->functions, bounded);
	if (err)
		return err;
	err = iot_raw_get(&set->raw, &set->functions);
	if (err)
		goto put_vfs;
	count_begin(set);
	err = iot_vfs_enable(&set->hooks);
	if (err)
		goto put_raw;
	err = iot_raw_enable(&set->raw);
	if (err == -ENOMEM)
		goto disable;
	set->raw_enabled = !err;
	if (err)
		atomic_long_inc(&nr_missed); /* "hooks" shows why: it may not be probed */
	return 0;

disable:
	iot_vfs_disable(&set->hooks);
put_raw:
	iot_raw_put(&set->raw);
put_vfs:
	iot_vfs_put(&set->hooks);
	return err;
}

/*
 * Hook ->fsync of a set, too. If that fails, flushes have no file, which counts as missed once.
 * Under attach_lock.
 */
static void attach_fsync(struct set *set)
{
	struct iot_hook *hook;

	if (!set->functions.fsync || set->hooks.hook[IOT_VFS_FSYNC])
		return;
	hook = iot_vfs_get_fsync(&set->functions);
	if (!hook || iot_hook_enable(hook)) {
		iot_hook_put(hook);
		atomic_long_inc(&nr_missed);
		return;
	}
	mutex_lock(&sets_lock);
	set->missed[IOT_VFS_FSYNC] = is_counted(hook, IOT_VFS_FSYNC) ? NO_COUNT :
				     iot_hook_missed(hook);
	set->hooks.hook[IOT_VFS_FSYNC] = hook;
	mutex_unlock(&sets_lock);
}

/* Collect the enabled hooks of a set. Return: their number; some may be NULL. */
static unsigned int gather(const struct set *set, struct iot_hook **hooks)
{
	unsigned int i, n = set->raw_enabled ? SET_HOOKS : IOT_VFS_OPS;

	for (i = 0; i < n; i++)
		hooks[i] = hook_of(set, i);
	return n;
}

/* Disable the hooks of all sets, in one step if there is memory. Under attach_lock. */
static void disable_all(void)
{
	struct iot_hook *some[SET_HOOKS], **all;
	unsigned int i, n = 0;

	all = kvmalloc_array(nr_sets, sizeof(some), GFP_KERNEL | __GFP_NOWARN);
	for (i = 0; i < nr_sets; i++) {
		if (all)
			n += gather(sets[i], all + n);
		else
			iot_hooks_disable(some, gather(sets[i], some));
	}
	iot_hooks_disable(all, n);
	kvfree(all);
}

/* Free the last set, whose hooks are disabled. Under attach_lock. */
static void drop_last(void)
{
	struct set *set = sets[nr_sets - 1];

	mutex_lock(&sets_lock);
	atomic_long_add(missed_of(set), &nr_missed);
	WRITE_ONCE(nr_sets, nr_sets - 1);
	mutex_unlock(&sets_lock);
	iot_raw_put(&set->raw);
	iot_vfs_put(&set->hooks);
	kfree(set);
}

static bool has_same_functions(const struct file_operations *a,
			       const struct file_operations *b)
{
	return a->read_iter == b->read_iter && a->write_iter == b->write_iter &&
	       a->read == b->read && a->write == b->write && a->fsync == b->fsync;
}

/* Does a set have the same functions as @fop? Under attach_lock. */
static bool is_hooked(const struct file_operations *fop)
{
	unsigned int i;

	for (i = 0; i < nr_sets; i++)
		if (has_same_functions(&sets[i]->functions, fop))
			return true;
	return false;
}

/*
 * Hook the functions of @fop. Under attach_lock.
 * Return: 0 or an error. 0 also if there is no room, which counts as missed.
 */
static int add(const struct file_operations *fop, bool bounded)
{
	struct set *set;
	int err;

	if (is_hooked(fop)) {
		note_known(fop);
		return 0;
	}
	if (nr_sets == MAX_SETS) {
		atomic_long_inc(&nr_missed);
		return 0;
	}
	set = kzalloc(sizeof(*set), GFP_KERNEL);
	if (!set)
		return -ENOMEM;
	set->functions.read_iter = fop->read_iter;
	set->functions.write_iter = fop->write_iter;
	set->functions.read = fop->read;
	set->functions.write = fop->write;
	set->functions.fsync = fop->fsync;
	err = attach(set, bounded);
	if (err) {
		kfree(set);
		return err;
	}
	if (READ_ONCE(tracks))
		attach_fsync(set);
	mutex_lock(&sets_lock);
	sets[nr_sets] = set;
	WRITE_ONCE(nr_sets, nr_sets + 1);
	mutex_unlock(&sets_lock);
	note_known(fop);
	return 0;
}

/* Does the inode have new functions to remember? A walk would find others again and again. */
static bool is_new(const struct inode *inode)
{
	return is_wanted(inode) && has_functions(inode->i_fop) && !is_known(inode->i_fop) &&
	       !is_allocated(inode->i_fop);
}

/*
 * Find an inode of @sb whose functions are not hooked yet. As in fs/drop_caches.c, igrab() is
 * called under the list's lock, and the walk drops that lock only at an inode to which it
 * holds a reference. Return: the inode with a reference held, or NULL.
 */
static struct inode *find_new(struct super_block *sb)
{
	struct inode *inode, *held = NULL;
	bool found = false;

	spin_lock(&sb->s_inode_list_lock);
	list_for_each_entry(inode, &sb->s_inodes, i_sb_list) {
		found = is_new(inode);
		if ((!found && !need_resched()) || !igrab(inode)) {
			found = false;
			continue;
		}
		spin_unlock(&sb->s_inode_list_lock);
		iput(held);
		held = inode;
		cond_resched();
		spin_lock(&sb->s_inode_list_lock);
		if (found)
			break;
	}
	spin_unlock(&sb->s_inode_list_lock);
	if (found)
		return held;
	iput(held);
	return NULL;
}

/* A disk answers or fails. Calls on other devices, pipes and sockets may be unbounded. */
static bool sleeps_bounded(const struct inode *inode)
{
	if (S_ISBLK(inode->i_mode))
		return true;
	return S_ISREG(inode->i_mode) && iot_sb_sleeps_bounded(inode->i_sb);
}

/*
 * Hook the functions of the files of a mounted filesystem. Its s_umount is held, so it cannot be
 * unmounted meanwhile. attach_lock nests within s_umount, not the other way round: a task may
 * wait for s_umount for as long as a server or a flush takes.
 */
static void add_super(struct super_block *sb, void *data)
{
	struct inode *inode;
	int *err = data;

	while (!*err && READ_ONCE(nr_sets) < MAX_SETS && READ_ONCE(nr_known) < MAX_SETS &&
	       (inode = find_new(sb))) {
		mutex_lock(&attach_lock);
		if (!is_known(inode->i_fop))
			*err = add(inode->i_fop, sleeps_bounded(inode));
		mutex_unlock(&attach_lock);
		iput(inode);
	}
}

/* iterate_supers(function, data), fs/super.c: s_umount is held for reading */
static unsigned long walk_supers;

/*
 * Functions that are found by name, as no inode of a filesystem leads to them. Older kernels
 * have one pipe_read(), newer kernels have one function for pipes and one for FIFOs.
 */
static struct {
	u16 kind;
	const char *read;
	const char *write;
	bool is_found;			/* @fop has the functions that exist */
	struct file_operations fop;
} named[] = {
#define ITER_PROTO	"long (struct kiocb *, struct iov_iter *)"
	{ IOT_KIND_SOCKET, "sock_read_iter", "sock_write_iter" },
	{ IOT_KIND_PIPE, "pipe_read", "pipe_write" },
	{ IOT_KIND_PIPE, "anon_pipe_read", "anon_pipe_write" },
	{ IOT_KIND_PIPE, "fifo_pipe_read", "fifo_pipe_write" },
};

/* Kinds that are hooked by name, bits 1 << IOT_KIND_*. Written under attach_lock. */
static u32 kinds_named;

/* Find the functions, only once as it takes milliseconds. Under attach_lock. */
static void find_named(unsigned int i)
{
	if (named[i].is_found)
		return;
	named[i].fop.read_iter = (void *)iot_symbol_checked(named[i].read, ITER_PROTO);
	named[i].fop.write_iter = (void *)iot_symbol_checked(named[i].write, ITER_PROTO);
	named[i].is_found = true;
}

/* Hook all functions of a kind that this kernel has. Under attach_lock. */
static int add_kind(u16 kind)
{
	bool any = false;
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(named); i++) {
		if (named[i].kind != kind)
			continue;
		find_named(i);
		if (!has_functions(&named[i].fop))
			continue;
		err = nr_sets < MAX_SETS ? add(&named[i].fop, false) : -ENOMEM;
		if (err)
			return err;
		any = true;
	}
	if (any)
		WRITE_ONCE(kinds_named, kinds_named | BIT(kind));
	else
		atomic_long_inc(&nr_missed);
	return 0;
}

static int add_named(void)
{
	unsigned int i;
	int err = 0;

	mutex_lock(&attach_lock);
	for (i = 0; !err && i < ARRAY_SIZE(named); i++)
		if (wants_kind(named[i].kind) && !(kinds_named & BIT(named[i].kind)))
			err = add_kind(named[i].kind);
	mutex_unlock(&attach_lock);
	return err;
}

/**
 * iot_rw_is_new_file() - check whether a file has functions that are wanted and not hooked
 *
 * Context: any.
 */
bool iot_rw_is_new_file(const struct file *file)
{
	const struct inode *inode = file_inode(file);

	return !is_known(file->f_op) && !iot_fs_off() && has_functions(file->f_op) &&
	       is_wanted(inode) && !(READ_ONCE(kinds_named) & BIT(iot_paths_kind(inode)));
}

/* Hook the functions of an inode. Its filesystem stays mounted meanwhile. */
static int add_inode(const struct inode *inode)
{
	int err = 0;

	mutex_lock(&attach_lock);
	if (nr_users && iot_rw_is_new(inode))
		err = add(inode->i_fop, sleeps_bounded(inode));
	mutex_unlock(&attach_lock);
	return err;
}

/*
 * Hook the functions of a file to which the caller holds a reference.
 * Context: task, may sleep for seconds.
 */
static int add_file(const struct file *file)
{
	int err = 0;

	mutex_lock(&attach_lock);
	/* nothing is hooked without users, even if a failed start makes the category look active */
	if (nr_users && iot_rw_is_new_file(file))
		err = add(file->f_op, sleeps_bounded(file_inode(file)));
	mutex_unlock(&attach_lock);
	return err;
}

/* struct pid *find_ge_pid(number, namespace), kernel/pid.c, under RCU */
static unsigned long next_pid;

/*
 * Find the next process whose pid is at least @number, and set @number to where to continue.
 * Return: the process with a reference held, NULL if there is none, or -EAGAIN to call again
 * after a reschedule.
 */
static struct task_struct *find_process(int *number)
{
	unsigned long args[IOT_CALL_ARGS] = { 0, (unsigned long)&init_pid_ns };
	struct task_struct *task = NULL;
	struct pid *pid;

	rcu_read_lock();
	do {
		args[0] = *number;
		pid = (struct pid *)iot_hook_call(args, next_pid);
		if (!pid)
			break;
		*number = pid_nr(pid) + 1;
		task = pid_task(pid, PIDTYPE_TGID);
	} while (!task && !need_resched());
	if (task)
		get_task_struct(task);
	else if (pid)
		task = ERR_PTR(-EAGAIN);
	rcu_read_unlock();
	return task;
}

#define DESCRIPTORS_A_STEP	64

/*
 * A walk through the descriptors of a process: the new file that it found, and how many
 * descriptors are left in this step.
 */
struct file_walk {
	struct file *found;
	unsigned int left;
};

/*
 * Return: 0 to continue with the next descriptor, or the descriptor to continue from later.
 * Under the lock of the descriptor table.
 */
static int look_at_file(const void *data, struct file *file, unsigned int fd)
{
	struct file_walk *walk = (struct file_walk *)data;

	if (iot_rw_is_new_file(file))
		walk->found = get_file(file);
	return walk->found || !--walk->left ? fd + 1 : 0;
}

/* Hook the functions of all open files of a process. */
static int add_files_of(struct task_struct *task)
{
	int err = 0, fd = 0;

	do {
		struct file_walk walk = { .left = DESCRIPTORS_A_STEP };

		task_lock(task);
		fd = iterate_fd(task->files, fd, look_at_file, &walk);
		task_unlock(task);
		if (walk.found) {
			err = add_file(walk.found);
			fput(walk.found);
		}
		cond_resched();
	} while (fd > 0 && !err);
	return err;
}

#define KINDS_BY_INODE	(BIT(IOT_KIND_NONE) | BIT(IOT_KIND_FILE) | BIT(IOT_KIND_DIR) | \
			 BIT(IOT_KIND_SYMLINK))

/*
 * Hook the functions of open files that no inode leads to: devices, eventfds and the like. A
 * file that is queued in a socket is hooked when it gets a descriptor again.
 */
static int add_open_files(void)
{
	struct task_struct *task;
	int err = 0, number = 1;

	if (iot_fs_off() || !(kinds_wanted() & IOT_KIND_ALL & ~KINDS_BY_INODE))
		return 0;
	if (!next_pid)
		next_pid = iot_symbol_checked("find_ge_pid",
					      "struct pid * (int, struct pid_namespace *)");
	if (!next_pid) {
		atomic_long_inc(&nr_missed);
		return 0;
	}
	while (!err && (task = find_process(&number))) {
		if (!IS_ERR(task)) {
			err = add_files_of(task);
			put_task_struct(task);
		}
		cond_resched();
	}
	return err;
}

/** iot_rw_refresh() - hook all that the filter wants and that is not hooked yet */
int iot_rw_refresh(void)
{
	int err = 0;
	unsigned long args[IOT_CALL_ARGS] = { (unsigned long)add_super, (unsigned long)&err };

	iot_hook_call(args, walk_supers);
	if (!err)
		err = add_named();
	return err ?: add_open_files();
}

/** iot_rw_stop() - remove a user; the last one unhooks everything */
void iot_rw_stop(void)
{
	unsigned int i;

	mutex_lock(&attach_lock);
	if (--nr_users)
		goto unlock;
	disable_all();
	while (nr_sets)
		drop_last();
	for (i = 0; i < ARRAY_SIZE(known); i++)
		WRITE_ONCE(known[i], NULL);
	nr_known = 0;
	WRITE_ONCE(kinds_named, 0);
unlock:
	mutex_unlock(&attach_lock);
}

/** iot_rw_start() - add a user and hook all filesystems. Context: task, may sleep for seconds. */
int iot_rw_start(void)
{
	int err;

	if (!walk_supers)
		walk_supers = iot_symbol_checked("iterate_supers", "_ (function *, void *)");
	if (!walk_supers) {
		pr_err("this kernel has no iterate_supers: category fs cannot find the filesystems\n");
		return -EOPNOTSUPP;
	}
	mutex_lock(&attach_lock);
	nr_users++;
	mutex_unlock(&attach_lock);
	err = iot_rw_refresh();
	if (err)
		iot_rw_stop();
	return err;
}

static int track(void)
{
	unsigned int i;
	int err;

	WRITE_ONCE(tracks, true);
	err = iot_rw_start();
	if (err) {
		WRITE_ONCE(tracks, false);
		return err;
	}
	mutex_lock(&attach_lock);
	for (i = 0; i < nr_sets; i++) /* those that category fs has hooked before */
		attach_fsync(sets[i]);
	mutex_unlock(&attach_lock);
	iot_category_set_track(&iot_category_fs, true);
	return 0;
}

/**
 * iot_rw_track() - follow direct I/O and fsync, so that bios can be attributed to their calls
 *
 * Context: task, may sleep for seconds. Return: 0, or an error and no user was added.
 */
int iot_rw_track(void)
{
	int err = 0;

	mutex_lock(&track_lock);
	if (!nr_trackers)
		err = track();
	nr_trackers += !err;
	mutex_unlock(&track_lock);
	return err;
}

/**
 * iot_rw_untrack() - undo iot_rw_track(); the last user stops following
 *
 * If category fs still has the hooks, those of ->fsync stay, and follow no call.
 */
void iot_rw_untrack(void)
{
	mutex_lock(&track_lock);
	if (!--nr_trackers) {
		iot_category_set_track(&iot_category_fs, false);
		WRITE_ONCE(tracks, false);
		iot_rw_stop();
	}
	mutex_unlock(&track_lock);
}

/**
 * iot_rw_is_new() - check whether a file, once opened, may have functions that are not hooked
 *
 * The functions of a device are known only when it is opened. Never true for a FIFO, as opening
 * one may be unbounded: FIFOs are hooked by name. Context: any.
 */
bool iot_rw_is_new(const struct inode *inode)
{
	if (S_ISCHR(inode->i_mode))
		return wants_kind(IOT_KIND_DEVICE);
	return !S_ISFIFO(inode->i_mode) && !is_known(inode->i_fop) &&
	       has_functions(inode->i_fop) && is_wanted(inode);
}

/**
 * iot_rw_see() - hook the functions of a file if they are new
 * @file:	has been opened, or gets a descriptor; the caller holds a reference
 *
 * Context: task, may sleep for seconds the first time that a kind of file is seen.
 */
void iot_rw_see(const struct file *file)
{
	if (iot_rw_is_new_file(file) && add_file(file))
		atomic_long_inc(&nr_missed);
}

/**
 * iot_rw_see_inode() - hook the functions that an inode's files will have, if they are new
 * @inode:	no character device; the caller holds a reference
 *
 * Context: as for iot_rw_see().
 */
void iot_rw_see_inode(const struct inode *inode)
{
	if (iot_rw_is_new(inode) && add_inode(inode))
		atomic_long_inc(&nr_missed);
}

/** iot_rw_missed() - count the calls that could not be followed */
unsigned long iot_rw_missed(void)
{
	unsigned long missed;
	unsigned int i;

	mutex_lock(&sets_lock);
	missed = atomic_long_read(&nr_missed);
	for (i = 0; i < nr_sets; i++)
		missed += missed_of(sets[i]);
	mutex_unlock(&sets_lock);
	return missed;
}
