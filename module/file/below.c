// SPDX-License-Identifier: GPL-2.0
/*
 * Traced directories, and the paths below them.
 *
 * A directory is identified by its key (key.h): no reference to it is held, and the tree is never
 * walked downwards. When a path is resolved (paths.c), the walk goes up from the file to the root
 * of its filesystem, and compares each directory on the way. A filesystem mounted below a directory
 * is not below it. The result is stored with the path.
 *
 * When a directory is added, all paths must be resolved again. This begins an epoch; each path has
 * the epoch in which it was resolved. Epochs do not wrap, because beginning one takes milliseconds,
 * and the right to add directories. A slot may have belonged to another directory before. So the
 * bit of a slot is valid only in paths of the epoch in which its directory was added, or of a later
 * one.
 */
#include <linux/bitops.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <linux/mount.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include "file/below.h"

u32 iot_below_any;
u32 iot_below_now;

static DEFINE_MUTEX(roots_lock);	/* serialises changes of what follows */
static struct iot_below_root __rcu *roots[IOT_BELOW_MAX];

/*
 * Directories on the way up that are compared at most. A path that has more names has no text
 * either, so events of it name no path.
 */
#define STEPS_MAX	(PATH_MAX / 2)

/* Compare a directory with those that are traced. Context: any, under RCU. */
static void compare(struct iot_below *below, struct inode *inode, u16 depth)
{
	unsigned long bits = READ_ONCE(iot_below_any);
	const struct iot_below_root *root;
	unsigned int slot;

	for_each_set_bit(slot, &bits, IOT_BELOW_MAX) {
		root = rcu_dereference(roots[slot]);
		if (!root || !iot_key_is(&root->key, inode))
			continue;
		below->roots |= BIT(slot);
		below->depth[slot] = depth;
	}
}

/** iot_below_may_be() - check whether a directory of a filesystem may be traced. Context: any */
bool iot_below_may_be(const struct super_block *sb)
{
	unsigned long bits = READ_ONCE(iot_below_any);
	const struct iot_below_root *root;
	unsigned int slot;
	bool may = false;

	if (likely(!bits))
		return false;
	rcu_read_lock();
	for_each_set_bit(slot, &bits, IOT_BELOW_MAX) {
		root = rcu_dereference(roots[slot]);
		/* a key without device number may be of any filesystem */
		may |= root && (!root->key.dev || root->key.dev == sb->s_dev);
	}
	rcu_read_unlock();
	return may;
}

/**
 * iot_below_find() - find the directories that a path is below
 * @path:	the caller holds a reference, or an RCU read-side critical section keeps it alive
 *
 * Context: any. A rename at the same time may lead to a wrong result; the caller notices the
 * rename.
 */
void iot_below_find(const struct path *path, struct iot_below *below)
{
	const struct dentry *dentry = path->dentry, *parent;
	bool elsewhere = false;
	struct inode *inode;
	unsigned int depth;

	iot_below_none(below);
	if (!READ_ONCE(iot_below_any))
		return;
	rcu_read_lock();
	for (depth = 0;; depth++) {
		below->deep = depth == STEPS_MAX;
		if (below->deep)
			break;
		inode = d_inode_rcu(dentry);
		if (inode && (!depth || S_ISDIR(inode->i_mode)))
			compare(below, inode, elsewhere ? IOT_BELOW_ELSEWHERE : depth);
		parent = READ_ONCE(dentry->d_parent);
		if (parent == dentry)
			break;
		/* from here on, the text of the path has the names of the mount point */
		elsewhere |= dentry == path->mnt->mnt_root;
		dentry = parent;
	}
	rcu_read_unlock();
}

/**
 * iot_below_add() - begin to find what is below a directory
 * @root:	filled in; the caller frees it an RCU grace period after iot_below_remove()
 * @dir:	the caller holds a reference
 *
 * The caller then calls iot_path_table_forget(). Context: task, sleeps. Return: 0, or -ENOSPC if
 * IOT_BELOW_MAX directories are traced.
 */
int iot_below_add(struct iot_below_root *root, struct inode *dir)
{
	int err = -ENOSPC;

	memset(root, 0, sizeof(*root));
	iot_key_make(&root->key, dir);
	mutex_lock(&roots_lock);
	if (iot_below_any != U32_MAX) {
		root->slot = ffz(iot_below_any);
		root->epoch = iot_below_now + 1;
		rcu_assign_pointer(roots[root->slot], root);
		WRITE_ONCE(iot_below_any, iot_below_any | BIT(root->slot));
		smp_store_release(&iot_below_now, root->epoch); /* after the directory */
		err = 0;
	}
	mutex_unlock(&roots_lock);
	return err;
}

/** iot_below_advance() - begin an epoch without a new directory. As iot_below_add() otherwise */
void iot_below_advance(void)
{
	mutex_lock(&roots_lock);
	WRITE_ONCE(iot_below_now, iot_below_now + 1);
	mutex_unlock(&roots_lock);
}

/** iot_below_remove() - undo iot_below_add(). Context: task, sleeps */
void iot_below_remove(struct iot_below_root *root)
{
	mutex_lock(&roots_lock);
	RCU_INIT_POINTER(roots[root->slot], NULL);
	synchronize_rcu(); /* nobody compares with it any more, then its slot is free */
	WRITE_ONCE(iot_below_any, iot_below_any & ~BIT(root->slot));
	mutex_unlock(&roots_lock);
}
