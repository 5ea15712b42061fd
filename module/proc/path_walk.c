// SPDX-License-Identifier: GPL-2.0
/*
 * Looks a path up name by name. Each name is watched before it is looked up, so that a change of
 * any of them is seen: either the result is right, or the path is stale. Symbolic links on the way,
 * and "..", are inserted into the text, and the walk begins again.
 *
 * A walk waits for the filesystems on its way. A worker's walk avoids filesystems that contact a
 * server. But a disk may stop answering, too, and the filesystems below an overlayfs are not known.
 * So each walk has its own worker (follow.c), and none enters a filesystem where another walk is
 * stuck.
 */
#include <linux/stddef.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/delayed_call.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/jiffies.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/magic.h>
#include <linux/namei.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include "compat/compat.h"
#include "compat/watch.h"
#include "file/sb.h"
#include "file/watch.h"
#include "proc/path_walk.h"
#include "proc/target.h"
#include "proc/target_path.h"

#define MAX_TURNS	40	/* symbolic links and "..", as the kernel's MAXSYMLINKS */
#define STUCK		(HZ / 4)	/* after which a worker's walk is stuck at a name */

/**
 * struct walk - a look-up in progress
 * @tp:	not listed; owns the watches
 * @by_worker:	no task is there that could be killed
 * @at:		where it has come to
 * @text:	the path, PATH_MAX bytes
 * @next:	what is left of it
 * @turns:	number of texts that it had
 * @list:	in the list of the walks by workers
 * @in:		filesystem where it is; compared only. Under walks_lock, as @since
 * @since:	jiffies when it began to look for a name there
 */
struct walk {
	struct iot_target_path *tp;
	bool by_worker;
	struct path at;
	char *text;
	char *next;
	unsigned int turns;
	struct list_head list;
	const struct super_block *in;
	unsigned long since;
};

static DEFINE_SPINLOCK(walks_lock);
static LIST_HEAD(walks);

/* Get the root of process 1. A worker of the kernel may have one where nothing is mounted. */
static int initial_root(struct path *root)
{
	struct task_struct *init;
	int err = -ESRCH;

	rcu_read_lock();
	init = get_pid_task(find_pid_ns(1, &init_pid_ns), PIDTYPE_PID);
	rcu_read_unlock();
	if (!init)
		return err;
	task_lock(init);
	if (init->fs) {
		get_fs_root(init->fs, root);
		err = 0;
	}
	task_unlock(init);
	put_task_struct(init);
	return err;
}

/**
 * iot_path_walk_is_rooted() - check whether a worker of the kernel finds what current finds
 *
 * A process in a mount namespace of its own, or below another root, sees another tree.
 */
bool iot_path_walk_is_rooted(void)
{
	struct path mine, initial;
	bool same;

	if (initial_root(&initial))
		return false;
	get_fs_root(current->fs, &mine);
	same = path_equal(&mine, &initial);
	path_put(&initial);
	path_put(&mine);
	return same;
}

/* A look-up in this filesystem waits for no server, which might be the program of a user. */
static bool may_enter(const struct super_block *sb)
{
	return sb->s_user_ns == &init_user_ns &&
	       (iot_sb_sleeps_bounded(sb) || sb->s_magic == OVERLAYFS_SUPER_MAGIC);
}

/* Is another worker's walk stuck in a filesystem? Under walks_lock. */
static bool is_stuck_in(const struct walk *w, const struct super_block *sb)
{
	const struct walk *other;

	list_for_each_entry(other, &walks, list)
		if (other != w && other->in == sb && time_after(jiffies, other->since + STUCK))
			return true;
	return false;
}

/*
 * May the walk wait for a filesystem? Return: 0; -EXDEV: it may ask a server; -EAGAIN: another walk
 * is stuck there.
 */
static int enter(struct walk *w, const struct super_block *sb)
{
	bool stuck;

	if (!w->by_worker)
		return 0;
	if (!may_enter(sb))
		return -EXDEV;
	spin_lock(&walks_lock);
	stuck = is_stuck_in(w, sb);
	if (!stuck) {
		w->in = sb;
		w->since = jiffies;
	}
	spin_unlock(&walks_lock);
	return stuck ? -EAGAIN : 0;
}

/*
 * Wait until no call is changing a name in the directory that began before the hooks were
 * attached, and so is not seen: it holds the directory's lock. Return: 0, or -EINTR if killed.
 */
static int wait_for_changes(struct inode *dir)
{
	int err;

	if (!may_enter(dir->i_sb))
		return 0;
	err = down_read_killable(&dir->i_rwsem);
	if (!err)
		up_read(&dir->i_rwsem);
	return err;
}

static int watch(struct walk *w, const char *name, size_t len, bool last)
{
	struct inode *dir = d_inode(w->at.dentry);
	struct iot_watch *watch = iot_watch_new(dir, name, len);
	int err = -ENODEV;

	if (!watch)
		return -ENOMEM;
	watch->owner = w->tp;
	watch->last = last;
	if (iot_targets_enter_surely()) {
		err = iot_watch_begin(watch, dir);
		if (!err)
			list_add_tail(&watch->list, &w->tp->watches);
		iot_targets_leave();
	}
	if (err)
		iot_watch_free(watch);
	return err;
}

static int begin(struct walk *w)
{
	struct path root;
	int err;

	if (w->turns > MAX_TURNS)
		return -ELOOP;
	err = w->by_worker ? initial_root(&root) : kern_path("/", LOOKUP_DIRECTORY, &root);
	if (err)
		return err;
	if (w->turns++)
		path_put(&w->at);
	w->at = root;
	w->next = w->text;
	return 0;
}

/* Replace the text up to @rest by @head and @body, and begin again. */
static int turn(struct walk *w, const char *head, size_t head_len, const char *body,
		const char *rest)
{
	char *text = kmalloc(PATH_MAX, GFP_KERNEL);
	int len;

	if (!text)
		return -ENOMEM;
	len = snprintf(text, PATH_MAX, "%.*s/%s%s", (int)head_len, head, body, rest);
	if (len < PATH_MAX)
		memcpy(w->text, text, len + 1);
	kfree(text);
	return len < PATH_MAX ? begin(w) : -ENAMETOOLONG;
}

/*
 * Follow the symbolic link @link, whose name is between @name and @rest. One that is no text, as
 * those of /proc, is refused: it leads to an object, whatever its name.
 */
static int follow(struct walk *w, struct dentry *link, const char *name, const char *rest)
{
	DEFINE_DELAYED_CALL(done);
	const char *body;
	int err;

	if (d_inode(link)->i_op->readlink)
		return -EOPNOTSUPP;
	err = enter(w, link->d_sb);
	if (err)
		return err;
	body = vfs_get_link(link, &done);
	if (IS_ERR_OR_NULL(body))
		err = body ? PTR_ERR(body) : -EOPNOTSUPP;
	else
		err = turn(w, w->text, *body == '/' ? 0 : name - w->text, body, rest);
	do_delayed_call(&done);
	return err;
}

/* Go up from the directory whose path is the text before @name. */
static int go_up(struct walk *w, const char *name, const char *rest)
{
	const char *end = name;

	while (end > w->text && end[-1] == '/')
		end--;
	while (end > w->text && end[-1] != '/')
		end--;
	return turn(w, w->text, end - w->text, "", rest);
}

/* Look up one name in the directory where the walk is. */
static int look_up(struct walk *w, const char *name, size_t len, struct path *found)
{
	char *copy;
	int err;

	copy = kmemdup_nul(name, len, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	err = vfs_path_lookup(w->at.dentry, w->at.mnt, copy, 0, found);
	kfree(copy);
	return err;
}

/* Go on by the name between @name and @rest. */
static int step(struct walk *w, const char *name, const char *rest)
{
	bool last = !rest[strspn(rest, "/")];
	size_t len = rest - name;
	struct path found;
	int err;

	if (len == 1 && *name == '.')
		return 0;
	if (len == 2 && !memcmp(name, "..", 2))
		return go_up(w, name, rest);
	if (!d_can_lookup(w->at.dentry))
		return -ENOTDIR;
	err = watch(w, name, len, last);
	if (!err)
		err = enter(w, w->at.dentry->d_sb);
	if (!err)
		err = wait_for_changes(d_inode(w->at.dentry));
	if (!err)
		err = look_up(w, name, len, &found);
	if (err)
		return err;
	if (d_is_symlink(found.dentry)) {
		err = follow(w, found.dentry, name, rest);
		path_put(&found);
		return err;
	}
	path_put(&w->at);
	w->at = found;
	return 0;
}

/* Return: 0 and the path is in @w->at, which the caller puts, or an error. */
static int walk(struct walk *w)
{
	int err;

	if (*w->tp->path != '/')
		return -EOPNOTSUPP;
	w->text = kmalloc(PATH_MAX, GFP_KERNEL);
	if (!w->text)
		return -ENOMEM;
	strscpy(w->text, w->tp->path, PATH_MAX);
	err = begin(w);
	if (err)
		goto free_text;
	while (!err) {
		char *name = w->next + strspn(w->next, "/");

		if (!*name)
			break;
		w->next = name + strcspn(name, "/");
		err = step(w, name, w->next);
		cond_resched();
	}
	if (err)
		path_put(&w->at);
free_text:
	kfree(w->text);
	return err;
}

/**
 * iot_path_walk() - look up the path of a target, and watch all its names
 * @tp:	not listed; its path is absolute
 * @found:	what the path leads to
 *
 * Context: task, may sleep, without locks; with the rights of current. Waits for the filesystems on
 * the way.
 * Return: 0, and the caller puts @found; -ENOMEM; -EOPNOTSUPP if it is not known what the path
 * leads to; or the error of the look-up.
 */
int iot_path_walk(struct iot_target_path *tp, struct path *found)
{
	struct walk w = { .tp = tp };
	int err = walk(&w);

	if (!err)
		*found = w.at;
	return err;
}

/** iot_path_walk_reads_all() - check whether a process with these rights may read any file */
bool iot_path_walk_reads_all(const struct cred *cred)
{
	return cred->user_ns == &init_user_ns &&
	       (cap_raised(cred->cap_effective, CAP_DAC_OVERRIDE) ||
		cap_raised(cred->cap_effective, CAP_DAC_READ_SEARCH));
}

/* Find out about the file that the path leads to. Return: 0, or an error of enter(). */
static int inspect(struct walk *w, struct iot_path_walk_found *found)
{
	struct inode *inode = d_inode(w->at.dentry);
	struct kstat stat;
	int err = enter(w, inode->i_sb);

	found->ino = inode->i_ino;
	found->may = iot_path_walk_reads_all(current_cred());
	if (err == -EXDEV)
		return 0;
	if (err)
		return err;
	if (iot_sb_sleeps_bounded(inode->i_sb))
		found->may = !iot_inode_permission(w->at.mnt, inode, MAY_READ);
	if (!vfs_getattr(&w->at, &stat, STATX_INO, AT_STATX_DONT_SYNC))
		found->ino = stat.ino;
	return 0;
}

/**
 * iot_path_walk_by_worker() - as iot_path_walk(), but avoid filesystems that may ask a server
 * @found:	what the path leads to
 *
 * Context: a worker that nobody waits for.
 * Return: as iot_path_walk(); -EXDEV if it is not known what the path leads to; -EAGAIN if another
 * walk is stuck in a filesystem on the way: try again later.
 */
int iot_path_walk_by_worker(struct iot_target_path *tp, struct iot_path_walk_found *found)
{
	struct walk w = { .tp = tp, .by_worker = true };
	int err;

	spin_lock(&walks_lock);
	list_add(&w.list, &walks);
	spin_unlock(&walks_lock);
	err = walk(&w);
	if (!err) {
		err = inspect(&w, found);
		if (err)
			path_put(&w.at);
		else
			found->path = w.at;
	}
	spin_lock(&walks_lock);
	list_del(&w.list);
	spin_unlock(&walks_lock);
	return err;
}
