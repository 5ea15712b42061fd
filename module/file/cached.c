// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the file of a path among the names that the kernel has in memory.
 *
 * After a call has looked a name up, its components are cached, and lead to the same files as in
 * the call. But the kernel's own walk, even with LOOKUP_CACHED, asks filesystems whether a name is
 * still valid. Some must contact a server for this: FUSE and NFS with expired entries, 9p, an
 * overlayfs above them. This walk contacts none.
 *
 * It takes only the locks of single entries. It ends at a symbolic link whose target is not in
 * memory, at a magic link of /proc, and at an automount.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/limits.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/path.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/stringhash.h>
#include "compat/compat.h"
#include "file/cached.h"

#define LINKS_MAX	40	/* as MAXSYMLINKS */

/* A walk: where it is, whose reference it holds, and the text that is left. */
struct walk {
	struct path root;
	struct path at;
	const char *rest;
	char *text;		/* PATH_MAX bytes for the targets of links */
	unsigned int links;
};

/* Replace where the walk is; takes over the reference. */
static void go_to(struct walk *w, struct vfsmount *mnt, struct dentry *dentry)
{
	struct path path = { .mnt = mntget(mnt), .dentry = dentry };

	path_put(&w->at);
	w->at = path;
}

static void go_up(struct walk *w)
{
	while (!path_equal(&w->at, &w->root)) {
		if (w->at.dentry != w->at.mnt->mnt_root) {
			go_to(w, w->at.mnt, dget_parent(w->at.dentry));
			return;
		}
		if (!follow_up(&w->at))
			return;
	}
}

/* May the task search the directory? What cannot be told without waiting is for the call to say. */
static int may_search(const struct path *path)
{
	struct inode *inode = d_backing_inode(path->dentry);
	int err;

	if (!d_can_lookup(path->dentry))
		return -ENOTDIR;
	/* MAY_NOT_BLOCK is for walks under RCU: an ACL is read without a reference. */
	rcu_read_lock();
	err = iot_inode_permission(path->mnt, inode, MAY_EXEC | MAY_NOT_BLOCK);
	rcu_read_unlock();
	return err == -ECHILD ? 0 : err;
}

/* Go to an entry of the directory, and to what is mounted there. Return: 0, -EAGAIN, -ENOENT. */
static int go_down(struct walk *w, const char *text, unsigned int len)
{
	struct dentry *dir = w->at.dentry, *dentry;
	struct qstr name = QSTR_INIT(text, len);

	name.hash = full_name_hash(dir, text, len);
	if ((dir->d_flags & DCACHE_OP_HASH) && dir->d_op->d_hash(dir, &name))
		return -ENOENT;
	dentry = d_lookup(dir, &name);
	if (!dentry)
		return -EAGAIN;
	go_to(w, w->at.mnt, dentry);
	while (d_mountpoint(w->at.dentry) && follow_down_one(&w->at))
		;
	return d_is_negative(w->at.dentry) ? -ENOENT : 0;
}

/*
 * Go on with the target of the symbolic link that the walk is at. Takes over the reference to
 * @parent, the directory that the link is in.
 */
static int go_along(struct walk *w, struct path *parent)
{
	const char *target = READ_ONCE(d_backing_inode(w->at.dentry)->i_link);
	size_t rest = strlen(w->rest), len = target ? strlen(target) : 0;

	if (!len || ++w->links > LINKS_MAX || len + 1 + rest >= PATH_MAX) {
		path_put(parent);
		return len ? -ELOOP : -EAGAIN;
	}
	/* @w->rest may be a part of @w->text */
	memmove(w->text + len + 1, w->rest, rest + 1);
	memcpy(w->text, target, len);
	w->text[len] = '/';
	w->rest = w->text;
	path_put(&w->at);
	w->at = *parent;
	return 0;
}

static int step(struct walk *w, const char *name, unsigned int len, bool follow)
{
	struct path parent = w->at;
	int err = may_search(&w->at);

	if (err)
		return err;
	if (len == 1 && name[0] == '.')
		return 0;
	if (len == 2 && name[0] == '.' && name[1] == '.') {
		go_up(w);
		return 0;
	}
	path_get(&parent);
	err = go_down(w, name, len);
	if (!err && d_is_symlink(w->at.dentry) && (follow || *w->rest))
		return go_along(w, &parent);
	path_put(&parent);
	return err;
}

static void restart_at_root(struct walk *w)
{
	if (*w->rest != '/')
		return;
	path_get(&w->root);
	path_put(&w->at);
	w->at = w->root;
}

static int walk(struct walk *w, bool follow)
{
	const char *name;
	int err = 0;

	restart_at_root(w);
	while (!err) {
		unsigned int links = w->links;

		w->rest += strspn(w->rest, "/");
		if (!*w->rest)
			break;
		name = w->rest;
		w->rest += strcspn(w->rest, "/");
		err = step(w, name, w->rest - name, follow);
		if (!err && w->links != links)
			restart_at_root(w);
	}
	return err;
}

/**
 * iot_cached_find() - find the file that a text leads to among the names in memory
 * @base:	the directory that a relative text starts from; NULL if the text is absolute
 * @follow:	follow a symbolic link at its end
 *
 * For a name that the current task has just had looked up. Its rights to search directories apply.
 * Context: task, may sleep for memory, waits for no filesystem.
 * Return: 0 with a reference to @path held; -EAGAIN if a part is not in memory; -ENOENT, -ENOTDIR,
 * -EACCES, -ELOOP, -ENOMEM.
 */
int iot_cached_find(const struct path *base, const char *text, bool follow, struct path *path)
{
	struct walk w = { .rest = text };
	int err;

	w.text = kmalloc(PATH_MAX, GFP_KERNEL);
	if (!w.text)
		return -ENOMEM;
	get_fs_root(current->fs, &w.root);
	w.at = base ? *base : w.root;
	path_get(&w.at);
	err = walk(&w, follow);
	path_put(&w.root);
	if (err)
		path_put(&w.at);
	else
		*path = w.at;
	kfree(w.text);
	return err;
}
