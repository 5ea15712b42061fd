// SPDX-License-Identifier: GPL-2.0
/*
 * Lets a target follow the paths under which it is listed, as tail -F does.
 *
 * All names in a path are watched (file/watch.c, file/name_hooks.c). If the last name leads to
 * another file, the task that made the change adds the file to the target before it can use the
 * file: so it is traced from its first read or write on. If another name changes, or the last one
 * leads to something other than a file, a worker looks the path up again. It also does so after a
 * mount or unmount, for which it checks every second.
 *
 * The file to which a path led before stays in the target until the path leads to another file. So
 * writes to a deleted or renamed file are recorded until its successor exists.
 *
 * A file belongs to one target only. If a path leads to a file of another target, and a path of
 * that target leads there too, the events are in that target's log. If none does, as after mv b a
 * of two targets, the file changes to this target.
 *
 * A target follows its paths only to files that its hooks see: those of its filesystem.
 *
 * A look-up may wait forever for a disk, or for a filesystem below an overlayfs. So each one has
 * its own worker (core/aside.c), and one worker, the dispatcher, starts them one after another. It
 * waits only briefly for a look-up, and then continues without it. Paths through a filesystem where
 * a look-up is stuck are tried again when that one has ended, and every second.
 *
 * A task that makes a change holds the lock of the directory. Here it waits for the lock of
 * targets, and for the disk if the right to read the file cannot be determined without it, but for
 * no server.
 */
#include <linux/atomic.h>
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/kdev_t.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include "compat/compat.h"
#include "compat/watch.h"
#include "core/aside.h"
#include "core/param.h"
#include "file/name_hooks.h"
#include "file/paths.h"
#include "file/sb.h"
#include "file/watch.h"
#include "proc/entry_link.h"
#include "proc/follow.h"
#include "proc/path_walk.h"
#include "proc/target.h"
#include "proc/target_path.h"

#define PAUSE_MS	20	/* at least, after all paths that have changed were looked up */
#define BUSY		(HZ / 20)	/* for which paths are looked up without a pause */
#define POLL		HZ	/* between two looks at whether anything was mounted */
#define LEAVE		(HZ / 4)	/* after which a look-up is left behind */
#define MAX_LOOKS	64	/* look-ups at a time */

/* All under the lock of targets, unless noted. */
static u64 last_change;
static LIST_HEAD(stale);
static LIST_HEAD(blocked);	/* stale paths on whose way another look-up is stuck */
static unsigned int nr_elsewhere;	/* paths without file: it may be another target's */
static unsigned int nr_gone;	/* paths that lead to no file */
static unsigned int nr_following;	/* listed paths that follow */
static unsigned int mounts_seen;	/* by the worker only */
static int unsure;	/* without lock */

static atomic_t nr_looks;	/* look-ups in progress, without lock */
static atomic_t nr_ended;	/* look-ups that have ended, without lock */
static DECLARE_WAIT_QUEUE_HEAD(ended);

static struct workqueue_struct *workers;
static void look_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(look, look_work);

static void set_file(struct iot_target_path *tp, struct iot_target_file *f)
{
	nr_elsewhere += !f;
	nr_elsewhere -= !tp->file;
	tp->file = f;
}

static void set_here(struct iot_target_path *tp, bool here)
{
	nr_gone += !here;
	nr_gone -= !tp->here;
	tp->here = here;
	iot_name_hooks_set_gone(nr_gone);
}

/* Have a worker look a path up. One that is not listed is when it is. */
static void make_stale(struct iot_target_path *tp)
{
	if (!tp->follows)
		return;
	tp->stale = true;
	if (!tp->t || !tp->rooted || !list_empty(&tp->stale_node))
		return;
	list_add_tail(&tp->stale_node, &stale);
	mod_delayed_work(workers, &look, 0);
}

/* Is a path of its target known to lead to the file? */
static bool is_named(const struct iot_target_file *f)
{
	const struct iot_target_path *tp;

	list_for_each_entry(tp, &iot_target_of(f)->paths, list)
		if (tp->file == f && tp->here)
			return true;
	return false;
}

/* Retire a file that no path has any more. */
static void release_file(struct iot_target_file *f)
{
	const struct iot_target_path *tp;

	list_for_each_entry(tp, &iot_target_of(f)->paths, list)
		if (tp->file == f)
			return;
	iot_target_file_retire(f);
	iot_follow_released();
}

/* Take a file, which no path leads to, from its target. */
static void take_away(struct iot_target_file *f)
{
	struct iot_target_path *tp;

	list_for_each_entry(tp, &iot_target_of(f)->paths, list)
		if (tp->file == f)
			set_file(tp, NULL);
	iot_target_file_retire(f);
}

/*
 * Get the file of the target that an inode is, which may be made so.
 * Return: NULL if it is that of another target, or -ENOMEM.
 */
static struct iot_target_file *file_for(struct iot_target *t, struct inode *inode, u64 st_ino)
{
	struct iot_target_file *f = iot_target_file_lookup(inode);

	if (f && iot_target_of(f) == t)
		return f;
	if (f && is_named(f))
		return NULL;
	if (f)
		take_away(f);
	f = iot_target_file_new(&t->files, inode, t->st_dev, st_ino);
	if (!f)
		return ERR_PTR(-ENOMEM);
	if (!iot_target_file_add(f)) {
		f->entry_link = iot_entry_link_make(t->parent, t->name.text, inode->i_sb, st_ino);
		return f;
	}
	iot_target_file_free(f);
	return ERR_PTR(-ENOMEM);
}

/* The path leads to no file that can be traced. */
static void lose(struct iot_target_path *tp)
{
	set_here(tp, false);
}

/* The path leads to a file that may be traced. */
static void arrive(struct iot_target_path *tp, struct inode *inode, u64 st_ino)
{
	struct iot_target_file *f = file_for(tp->t, inode, st_ino);
	struct iot_target_file *old = tp->file;

	if (IS_ERR(f)) {
		lose(tp);
		make_stale(tp);
		return;
	}
	set_file(tp, f);
	set_here(tp, true);
	if (old && old != f)
		release_file(old);
}

/* Does the target see the reads and writes of this file? */
static bool is_seen(const struct iot_target *t, const struct inode *inode)
{
	return S_ISREG(inode->i_mode) && inode->i_fop == t->fop && inode->i_sb->s_dev == t->dev;
}

/* Context: no lock of ours is held. */
static bool may_read(const struct cred *cred, struct inode *inode)
{
	const struct cred *old;
	int err;

	if (!iot_sb_sleeps_bounded(inode->i_sb))
		return false;
	old = override_creds(cred);
	err = iot_inode_readable(inode);
	revert_creds(old);
	return !err;
}

/* Context: as of changed(). Releases the lock of targets meanwhile. Return: false if unloading. */
static bool ask_and_arrive(struct iot_target_path *tp, struct inode *inode)
{
	const struct cred *cred = get_cred(tp->cred);
	unsigned long serial = tp->serial;
	bool may;

	iot_targets_leave();
	may = may_read(cred, inode);
	put_cred(cred);
	if (!iot_targets_enter_surely())
		return false;
	tp = iot_target_path_by_serial(serial);
	if (tp && may)
		arrive(tp, inode, inode->i_ino);
	else if (tp)
		lose(tp);
	return true;
}

/* Return: false if unloading; the lock of targets is not held then. */
static bool last_changed(struct iot_target_path *tp, enum iot_name_change change,
			 struct inode *inode)
{
	if (change == IOT_NAME_DELETED || change == IOT_NAME_MOVED) {
		lose(tp);
		if (change == IOT_NAME_MOVED)
			make_stale(tp);
		return true;
	}
	if (change == IOT_NAME_OPENED) /* and possibly deleted since */
		make_stale(tp);
	if (!inode || !is_seen(tp->t, inode)) {
		lose(tp);
		make_stale(tp);
		return true;
	}
	if (!iot_path_walk_reads_all(tp->cred))
		return ask_and_arrive(tp, inode);
	arrive(tp, inode, inode->i_ino);
	return true;
}

/**
 * struct next - a search for a path whose last name has changed
 * @change:	number of the change
 * @tp:	found
 */
struct next {
	u64 change;
	struct iot_target_path *tp;
};

/* Marks those as stale that a worker has to look up. */
static bool is_next(struct iot_watch *w, void *data)
{
	struct next *next = data;
	struct iot_target_path *tp = w->owner;

	if (!tp->follows || tp->asked == next->change)
		return false;
	tp->asked = next->change;
	if (!w->last && (tp->rooted || !tp->t))
		tp->astray = true;
	if (!tp->t || tp->astray || !w->last) {
		make_stale(tp);
		return false;
	}
	next->tp = tp;
	return true;
}

/* Context: see struct iot_name_ops. */
static void changed(struct inode *dir, const struct qstr *name, enum iot_name_change change,
		    struct inode *inode)
{
	struct next next;

	if (!iot_targets_enter_surely())
		return;
	next.change = ++last_change;
	while (iot_watch_each(dir, name, is_next, &next))
		if (!last_changed(next.tp, change, inode))
			return;
	iot_targets_leave();
}

static void look_at_all(void)
{
	WRITE_ONCE(unsure, 1);
	mod_delayed_work(workers, &look, 0);
}

static const struct iot_name_ops name_ops = {
	.changed = changed,
	.unsure = look_at_all,
};

/**
 * struct look - a path that is looked up again
 * @aside:	the worker that does it
 * @begin:	jiffies
 * @serial:	of the path
 * @looks:	as of the path, when it began: a later look-up knows better
 * @copy:	has the new watches
 * @err:	of the look-up
 * @found:	what was found if @err is 0
 * @path:	for the message that names it
 */
struct look {
	struct iot_aside aside;
	unsigned long begin;
	unsigned long serial;
	unsigned long looks;
	struct iot_target_path *copy;
	int err;
	struct iot_path_walk_found found;
	char path[];
};

static void look_up(struct look *l)
{
	const struct cred *old = override_creds(l->copy->cred);

	l->err = iot_path_walk_by_worker(l->copy, &l->found);
	revert_creds(old);
}

/* Give a path the watches of its copy, and the copy those of the path. */
static void exchange_watches(struct iot_target_path *tp, struct iot_target_path *copy)
{
	LIST_HEAD(watches);
	struct iot_watch *w;

	list_splice_init(&tp->watches, &watches);
	list_splice_init(&copy->watches, &tp->watches);
	list_splice_init(&watches, &copy->watches);
	list_for_each_entry(w, &tp->watches, list)
		w->owner = tp;
	list_for_each_entry(w, &copy->watches, list)
		w->owner = copy;
}

/* Look a path up later. It is in no list. */
static void block(struct iot_target_path *tp)
{
	tp->stale = true;
	if (list_empty(&tp->stale_node))
		list_add_tail(&tp->stale_node, &blocked);
}

/* Use what was found. Context: under the lock of targets. */
static void looked_up(struct iot_target_path *tp, const struct look *l)
{
	struct inode *inode = l->err ? NULL : d_inode(l->found.path.dentry);

	if (l->err == -EAGAIN) {
		block(tp);
		return;
	}
	if (l->err == -ENOMEM) {
		make_stale(tp);
		return;
	}
	exchange_watches(tp, l->copy);
	tp->astray = false;
	if (l->copy->stale) { /* what was found may be old */
		tp->astray = l->copy->astray;
		make_stale(tp);
		return;
	}
	if (inode && l->found.may && is_seen(tp->t, inode))
		arrive(tp, inode, l->found.ino);
	else if (l->err != -EXDEV && l->err != -EOPNOTSUPP)
		lose(tp);
}

/* Have what was blocked tried again. Context: under the lock of targets */
static void unblock(void)
{
	list_splice_tail_init(&blocked, &stale);
}

/* Begin to look a path up. Context: under the lock of targets. Return: NULL: no memory */
static struct look *look_begin(struct iot_target_path *tp)
{
	size_t size = strlen(tp->path) + 1;
	struct look *l = kzalloc(struct_size(l, path, size), GFP_KERNEL);

	if (!l)
		return NULL;
	l->copy = iot_target_path_new(tp->path);
	if (!l->copy) {
		kfree(l);
		return NULL;
	}
	memcpy(l->path, tp->path, size);
	l->begin = jiffies;
	l->copy->follows = true;
	l->copy->cred = get_cred(tp->cred);
	l->serial = tp->serial;
	l->looks = ++tp->looks;
	tp->stale = false;
	list_del_init(&tp->stale_node);
	return l;
}

/* Use what a look-up has found, and free its copy of the path. */
static void look_use(struct look *l)
{
	struct iot_target_path *tp;

	if (!iot_targets_enter_surely()) { /* unloading */
		iot_target_path_free(l->copy);
		return;
	}
	tp = iot_target_path_by_serial(l->serial);
	if (tp && tp->looks == l->looks)
		looked_up(tp, l);
	iot_target_path_free(l->copy);
	if (time_after(jiffies, l->begin + LEAVE) && !list_empty(&blocked))
		mod_delayed_work(workers, &look, 0);
	iot_targets_leave();
}

static void look_free(struct look *l)
{
	atomic_dec(&nr_looks);
	kfree(l);
}

/* The last release of a file may wait, too. */
static void look_fn(struct work_struct *work)
{
	struct look *l = container_of(iot_aside_of(work), struct look, aside);

	look_up(l);
	look_use(l);
	atomic_inc(&nr_ended);
	wake_up(&ended);
	if (!l->err)
		path_put(&l->found.path);
	iot_aside_end(&l->aside);
	look_free(l);
}

/*
 * Look one stale path up, and wait for that, but not for ever.
 * Return: false if there is none, or no memory, or too many are stuck, or we are unloaded.
 */
static bool look_one(void)
{
	struct iot_target_path *tp;
	struct look *l = NULL;
	int before;

	if (atomic_read(&nr_looks) >= MAX_LOOKS || !iot_targets_enter_surely())
		return false;
	tp = list_first_entry_or_null(&stale, struct iot_target_path, stale_node);
	if (tp)
		l = look_begin(tp);
	iot_targets_leave();
	if (!l)
		return false;
	atomic_inc(&nr_looks);
	before = atomic_read(&nr_ended);
	if (iot_aside_begin(&l->aside, look_fn, "a worker looks up the path of a target,",
			    l->path)) {
		iot_target_path_free(l->copy);
		look_free(l);
		return false;
	}
	wait_event_timeout(ended, atomic_read(&nr_ended) != before, LEAVE);
	return true;
}

static void make_links_stale(struct iot_target *t, void *data)
{
	struct iot_target_path *tp;

	list_for_each_entry(tp, &t->paths, list)
		make_stale(tp);
}

/*
 * Look all paths up if what is mounted may have changed, or a name that is not known. Try again
 * what was blocked.
 */
static void look_for_changes(void)
{
	unsigned int mounts = iot_paths_mounts();
	bool any = xchg(&unsure, 0) || mounts != mounts_seen;

	mounts_seen = mounts;
	if (!iot_targets_enter_surely())
		return;
	unblock();
	if (any)
		iot_target_for_each(make_links_stale, NULL);
	iot_targets_leave();
}

/*
 * The dispatcher. Who changes names all the time gets half of the time of one CPU at most, and the
 * module is held for no more than that, also where there is always another path to look up.
 */
static void look_work(struct work_struct *work)
{
	unsigned long begin = jiffies;
	bool any = false, more;

	look_for_changes();
	do {
		more = look_one();
		any |= more;
		cond_resched();
	} while (more && time_before(jiffies, begin + BUSY));
	if (any)
		msleep(max_t(unsigned int, PAUSE_MS, jiffies_to_msecs(jiffies - begin)));
	if (!iot_targets_enter_surely())
		return;
	if (nr_following)
		queue_delayed_work(workers, &look, more ? 0 : POLL);
	iot_targets_leave();
}

/**
 * iot_follow_prepare() - make the path of a target for a file that is to be added
 * @text:	absolute path of the file
 * @path:	the file
 * @follows:	whether to follow the path, if that is possible
 *
 * Context: task, may sleep, without locks; with the rights that are to count.
 * Return: the path, for iot_follow_list() or iot_follow_discard(); NULL if there is no memory.
 */
struct iot_target_path *iot_follow_prepare(const char *text, const struct path *path, bool follows)
{
	struct iot_target_path *tp = iot_target_path_new(text);
	struct path found;
	int err;

	if (!tp || !follows || !d_is_reg(path->dentry) || is_idmapped_mnt(path->mnt))
		return tp;
	err = iot_name_hooks_get();
	if (err == -ENOMEM) {
		iot_follow_discard(tp);
		return NULL;
	}
	if (err)
		return tp;
	tp->hooked = true;
	tp->cred = get_current_cred();
	tp->follows = true;
	tp->rooted = iot_path_walk_is_rooted();
	err = iot_path_walk(tp, &found);
	if (!err) {
		tp->stale |= d_inode(found.dentry) != d_inode(path->dentry);
		path_put(&found);
	} else if (err == -ENOMEM) {
		iot_follow_discard(tp);
		return NULL;
	} else if (err == -EOPNOTSUPP) {
		tp->follows = false;
	} else {
		tp->stale = true;
	}
	return tp;
}

/** iot_follow_discard() - free a path that was not listed. Context: task, without locks */
void iot_follow_discard(struct iot_target_path *tp)
{
	bool entered = iot_targets_enter_surely();

	iot_target_path_free(tp);
	if (entered)
		iot_targets_leave();
}

/**
 * iot_follow_list() - list a target under a path that leads to one of its files
 *
 * Context: under the lock of targets. Return: 0, or -ENOMEM and the path is not listed.
 */
int iot_follow_list(struct iot_target_path *tp, struct iot_target *t, struct iot_target_file *f)
{
	int err = iot_target_path_add(tp, t, &t->paths, f);

	if (!tp->rooted)
		tp->astray = false;
	if (err || !tp->follows)
		return err;
	nr_following++;
	queue_delayed_work(workers, &look, POLL);
	if (tp->stale)
		make_stale(tp);
	return 0;
}

/** iot_follow_renew() - note what a listed path leads to. Context: under the lock of targets */
void iot_follow_renew(struct iot_target_path *tp, struct inode *inode)
{
	if (tp->follows && is_seen(tp->t, inode))
		arrive(tp, inode, inode->i_ino);
}

/**
 * iot_follow_released() - a file is no target's any more: paths that lead to it may take it
 *
 * Context: under the lock of targets.
 */
void iot_follow_released(void)
{
	if (nr_elsewhere)
		iot_target_for_each(make_links_stale, NULL);
}

/**
 * iot_follow_drop() - remove a path of a target, and the file that only it led to
 *
 * Context: under the lock of targets.
 */
void iot_follow_drop(struct iot_target_path *tp)
{
	struct iot_target_file *f = tp->file;

	set_here(tp, true);
	nr_following -= tp->follows;
	nr_elsewhere -= !f;
	iot_target_path_drop(tp);
	if (f && !list_empty(&iot_target_of(f)->paths))
		release_file(f);
}

/** iot_follow_init() - at load. Return: 0 or -ENOMEM */
int iot_follow_init(void)
{
	int err;

	workers = alloc_workqueue("iotracer_names", WQ_UNBOUND, 1);
	if (!workers)
		return -ENOMEM;
	iot_name_hooks_init(&name_ops);
	err = iot_watch_init();
	if (err)
		destroy_workqueue(workers);
	return err;
}

/** iot_follow_exit() - stop the dispatcher. Context: unload, no target, hook or look-up is left */
void iot_follow_exit(void)
{
	cancel_delayed_work_sync(&look);
	iot_watch_exit();
	destroy_workqueue(workers);
}
