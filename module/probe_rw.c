// SPDX-License-Identifier: GPL-2.0
/*
 * Which functions category fs hooks for READ and WRITE: the ->read_iter and
 * ->write_iter of every filesystem that is mounted, found by the files that it has
 * in memory, and of whatever is opened later (iot_rw_see()). Pipes, sockets and
 * devices only while the filter wants them.
 */
#include <linux/fs.h>
#include <linux/mutex.h>
#include "hook.h"
#include "param.h"
#include "probe.h"
#include "rw.h"

#define MAX_SETS	64	/* file_operations with different functions */

/**
 * struct set - the functions of one kind of file
 * @fop:	what they are found by; is compared without lock
 * @named:	the functions themselves where there is no file to take them from
 */
struct set {
	const struct file_operations *fop;
	struct file_operations named;
	struct iot_vfs_hooks hooks;
};

/* Under sets_lock; grows while the category runs. */
static DEFINE_MUTEX(sets_lock);
static struct set sets[MAX_SETS];
static unsigned int nr_sets;
static unsigned long nr_missed;

static bool is_known(const struct file_operations *fop)
{
	unsigned int i, nr = smp_load_acquire(&nr_sets); /* before the sets */

	for (i = 0; i < nr; i++)
		if (READ_ONCE(sets[i].fop) == fop)
			return true;
	return false;
}

static bool has_functions(const struct file_operations *fop)
{
	return fop && (fop->read_iter || fop->write_iter);
}

/* Regular files of whatever filesystem; the rest if the filter wants it. */
static bool is_wanted(const struct inode *inode)
{
	return S_ISREG(inode->i_mode) ||
	       (READ_ONCE(iot_fs.kinds) & BIT(iot_paths_kind(inode)));
}

/*
 * Hook what @fop names. Under sets_lock.
 * Return: 0, also if there is no room, which counts as missed; or an error.
 */
static int add(const struct file_operations *fop, bool bounded)
{
	struct set *set = &sets[nr_sets];
	int err;

	if (nr_sets == MAX_SETS) {
		nr_missed++;
		return 0;
	}
	memset(&set->hooks, 0, sizeof(set->hooks));
	err = iot_vfs_get_rw(&set->hooks, fop, bounded);
	if (err)
		return err;
	err = iot_vfs_enable(&set->hooks);
	if (err) {
		iot_vfs_put(&set->hooks);
		return err;
	}
	set->fop = fop;
	smp_store_release(&nr_sets, nr_sets + 1); /* after the set */
	return 0;
}

/*
 * A file of @sb whose functions are not hooked yet, held, or NULL. igrab() under
 * the list's lock as fs/drop_caches.c has it.
 */
static struct inode *find_new(struct super_block *sb)
{
	struct inode *inode, *held = NULL;

	spin_lock(&sb->s_inode_list_lock);
	list_for_each_entry(inode, &sb->s_inodes, i_sb_list) {
		if (!is_wanted(inode) || !has_functions(inode->i_fop) ||
		    is_known(inode->i_fop))
			continue;
		held = igrab(inode);
		if (held)
			break;
	}
	spin_unlock(&sb->s_inode_list_lock);
	return held;
}

/*
 * Hook what the files of a mounted filesystem need. It cannot be unmounted
 * meanwhile: its s_umount is held. Under sets_lock.
 */
static void add_super(struct super_block *sb, void *data)
{
	struct inode *inode;
	int *err = data;

	while (!*err && nr_sets < MAX_SETS && (inode = find_new(sb))) {
		*err = add(inode->i_fop, S_ISREG(inode->i_mode) &&
			   iot_vfs_sleeps_bounded(sb));
		iput(inode);
	}
}

/* iterate_supers(), fs/super.c: calls for each with s_umount held for reading */
static void (*walk_supers)(void (*f)(struct super_block *sb, void *data), void *data);

static bool sockets_added;

/* Sockets: their inodes have no file_operations. Under sets_lock. */
static int add_sockets(void)
{
	struct set *set = &sets[nr_sets];

	if (sockets_added || !(READ_ONCE(iot_fs.kinds) & BIT(IOT_KIND_SOCKET)))
		return 0;
	if (nr_sets == MAX_SETS) {
		nr_missed++;
		return 0;
	}
	sockets_added = true;
	set->named.read_iter = (void *)iot_hook_symbol("sock_read_iter");
	set->named.write_iter = (void *)iot_hook_symbol("sock_write_iter");
	if (has_functions(&set->named))
		return add(&set->named, false);
	nr_missed++;
	return 0;
}

/** iot_rw_refresh() - hook what the filter wants and is not hooked yet */
int iot_rw_refresh(void)
{
	int err = 0;

	mutex_lock(&sets_lock);
	walk_supers(add_super, &err);
	if (!err)
		err = add_sockets();
	mutex_unlock(&sets_lock);
	return err;
}

/** iot_rw_stop() - unhook all */
void iot_rw_stop(void)
{
	mutex_lock(&sets_lock);
	while (nr_sets) {
		struct set *set = &sets[nr_sets - 1];

		WRITE_ONCE(nr_sets, nr_sets - 1);
		WRITE_ONCE(set->fop, NULL);
		iot_vfs_disable(&set->hooks);
		nr_missed += iot_vfs_missed(&set->hooks);
		iot_vfs_put(&set->hooks);
	}
	sockets_added = false;
	mutex_unlock(&sets_lock);
}

/** iot_rw_start() - hook all filesystems. Context: task, may sleep long. */
int iot_rw_start(void)
{
	int err;

	if (!walk_supers)
		walk_supers = (void *)iot_hook_symbol("iterate_supers");
	if (!walk_supers) {
		pr_err("this kernel has no iterate_supers: category fs cannot find the filesystems\n");
		return -EOPNOTSUPP;
	}
	err = iot_rw_refresh();
	if (err)
		iot_rw_stop();
	return err;
}

/**
 * iot_rw_is_new() - may opening this file bring functions that are not hooked?
 *
 * A device says only then what its functions are. Not of a FIFO, which may wait
 * for long when it is opened: those are hooked without a file. Context: any.
 */
bool iot_rw_is_new(const struct inode *inode)
{
	if (S_ISCHR(inode->i_mode))
		return READ_ONCE(iot_fs.kinds) & BIT(IOT_KIND_DEVICE);
	return !S_ISFIFO(inode->i_mode) && !is_known(inode->i_fop) &&
	       has_functions(inode->i_fop) && is_wanted(inode);
}

/**
 * iot_rw_see() - a file was opened: hook its functions if they are new
 *
 * Context: task, may sleep long the first time that a kind of file is opened.
 */
void iot_rw_see(const struct file *file)
{
	struct inode *inode = file_inode(file);

	if (likely(is_known(file->f_op)) || iot_fs_off() || !has_functions(file->f_op) ||
	    !is_wanted(inode))
		return;
	mutex_lock(&sets_lock);
	if (!iot_fs_off() && !is_known(file->f_op) &&
	    add(file->f_op, S_ISREG(inode->i_mode) && iot_vfs_sleeps_bounded(inode->i_sb)))
		nr_missed++;
	mutex_unlock(&sets_lock);
}

/** iot_rw_missed() - calls that could not be followed */
unsigned long iot_rw_missed(void)
{
	unsigned long missed;
	unsigned int i;

	mutex_lock(&sets_lock);
	missed = nr_missed;
	for (i = 0; i < nr_sets; i++)
		missed += iot_vfs_missed(&sets[i].hooks);
	mutex_unlock(&sets_lock);
	return missed;
}
