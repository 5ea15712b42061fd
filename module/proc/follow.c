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
#include "proc/link.h"
#include "proc/path_walk.h"
#include "proc/target.h"

#define PAUSE_MS	20	/* at least, after all paths that have changed were looked up */
#define BUSY		(HZ / 20)	/* for which paths are looked up without a pause */
#define POLL		HZ	/* between two looks at whether anything was mounted */
#define LEAVE		(HZ / 4)	/* after which a look-up is left behind */
#define MAX_LOOKS	64	/* look-ups at a time */

/* All under the lock of targets, unless noted. */
static u64 last_change;
static LIST_HEAD(stale);
static LIST_HEAD(blocked);	/* stale links on whose way another look-up is stuck */
static unsigned int nr_elsewhere;	/* links without file: it may be another target's */
static unsigned int nr_gone;	/* links that lead to no file */
static unsigned int nr_following;	/* listed links that follow */
static unsigned int mounts_seen;	/* by the worker only */
static int unsure;	/* without lock */

static atomic_t nr_looks;	/* look-ups in progress, without lock */
static atomic_t nr_ended;	/* look-ups that have ended, without lock */
static DECLARE_WAIT_QUEUE_HEAD(ended);

static struct workqueue_struct *workers;
static void look_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(look, look_work);

static void set_file(struct iot_link *link, struct iot_target_file *f)
{
	nr_elsewhere += !f;
	nr_elsewhere -= !link->file;
	link->file = f;
}

static void set_here(struct iot_link *link, bool here)
{
	nr_gone += !here;
	nr_gone -= !link->here;
	link->here = here;
	iot_name_hooks_set_gone(nr_gone);
}

/* Have a worker look a link up. One that is not listed is when it is. */
static void make_stale(struct iot_link *link)
{
	if (!link->follows)
		return;
	link->stale = true;
	if (!link->t || !link->rooted || !list_empty(&link->stale_node))
		return;
	list_add_tail(&link->stale_node, &stale);
	mod_delayed_work(workers, &look, 0);
}

/* Is a path of its target known to lead to the file? */
static bool is_named(const struct iot_target_file *f)
{
	const struct iot_link *link;

	list_for_each_entry(link, &iot_target_of(f)->links, list)
		if (link->file == f && link->here)
			return true;
	return false;
}

/* Retire a file that no link has any more. */
static void release_file(struct iot_target_file *f)
{
	const struct iot_link *link;

	list_for_each_entry(link, &iot_target_of(f)->links, list)
		if (link->file == f)
			return;
	iot_target_file_retire(f);
	iot_follow_released();
}

/* Take a file, which no path leads to, from its target. */
static void take_away(struct iot_target_file *f)
{
	struct iot_link *link;

	list_for_each_entry(link, &iot_target_of(f)->links, list)
		if (link->file == f)
			set_file(link, NULL);
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
static void lose(struct iot_link *link)
{
	set_here(link, false);
}

/* The path leads to a file that may be traced. */
static void arrive(struct iot_link *link, struct inode *inode, u64 st_ino)
{
	struct iot_target_file *f = file_for(link->t, inode, st_ino);
	struct iot_target_file *old = link->file;

	if (IS_ERR(f)) {
		lose(link);
		make_stale(link);
		return;
	}
	set_file(link, f);
	set_here(link, true);
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
static bool ask_and_arrive(struct iot_link *link, struct inode *inode)
{
	const struct cred *cred = get_cred(link->cred);
	unsigned long serial = link->serial;
	bool may;

	iot_targets_leave();
	may = may_read(cred, inode);
	put_cred(cred);
	if (!iot_targets_enter_surely())
		return false;
	link = iot_link_by_serial(serial);
	if (link && may)
		arrive(link, inode, inode->i_ino);
	else if (link)
		lose(link);
	return true;
}

/* Return: false if unloading; the lock of targets is not held then. */
static bool last_changed(struct iot_link *link, enum iot_name_change change, struct inode *inode)
{
	if (change == IOT_NAME_DELETED || change == IOT_NAME_MOVED) {
		lose(link);
		if (change == IOT_NAME_MOVED)
			make_stale(link);
		return true;
	}
	if (change == IOT_NAME_OPENED) /* and possibly deleted since */
		make_stale(link);
	if (!inode || !is_seen(link->t, inode)) {
		lose(link);
		make_stale(link);
		return true;
	}
	if (!iot_path_walk_reads_all(link->cred))
		return ask_and_arrive(link, inode);
	arrive(link, inode, inode->i_ino);
	return true;
}

/**
 * struct next - a search for a link whose last name has changed
 * @change:	number of the change
 * @link:	found
 */
struct next {
	u64 change;
	struct iot_link *link;
};

/* Marks those as stale that a worker has to look up. */
static bool is_next(struct iot_watch *w, void *data)
{
	struct next *next = data;
	struct iot_link *link = w->owner;

	if (!link->follows || link->asked == next->change)
		return false;
	link->asked = next->change;
	if (!w->last && (link->rooted || !link->t))
		link->astray = true;
	if (!link->t || link->astray || !w->last) {
		make_stale(link);
		return false;
	}
	next->link = link;
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
		if (!last_changed(next.link, change, inode))
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
 * struct look - a link that is looked up again
 * @aside:	the worker that does it
 * @begin:	jiffies
 * @serial:	of the link
 * @looks:	as of the link, when it began: a later look-up knows better
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
	struct iot_link *copy;
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

/* Give a link the watches of its copy, and the copy those of the link. */
static void exchange_watches(struct iot_link *link, struct iot_link *copy)
{
	LIST_HEAD(watches);
	struct iot_watch *w;

	list_splice_init(&link->watches, &watches);
	list_splice_init(&copy->watches, &link->watches);
	list_splice_init(&watches, &copy->watches);
	list_for_each_entry(w, &link->watches, list)
		w->owner = link;
	list_for_each_entry(w, &copy->watches, list)
		w->owner = copy;
}

/* Look a link up later. It is in no list. */
static void block(struct iot_link *link)
{
	link->stale = true;
	if (list_empty(&link->stale_node))
		list_add_tail(&link->stale_node, &blocked);
}

/* Use what was found. Context: under the lock of targets. */
static void looked_up(struct iot_link *link, const struct look *l)
{
	struct inode *inode = l->err ? NULL : d_inode(l->found.path.dentry);

	if (l->err == -EAGAIN) {
		block(link);
		return;
	}
	if (l->err == -ENOMEM) {
		make_stale(link);
		return;
	}
	exchange_watches(link, l->copy);
	link->astray = false;
	if (l->copy->stale) { /* what was found may be old */
		link->astray = l->copy->astray;
		make_stale(link);
		return;
	}
	if (inode && l->found.may && is_seen(link->t, inode))
		arrive(link, inode, l->found.ino);
	else if (l->err != -EXDEV && l->err != -EOPNOTSUPP)
		lose(link);
}

/* Have what was blocked tried again. Context: under the lock of targets */
static void unblock(void)
{
	list_splice_tail_init(&blocked, &stale);
}

/* Begin to look a link up. Context: under the lock of targets. Return: NULL: no memory */
static struct look *look_begin(struct iot_link *link)
{
	size_t size = strlen(link->path) + 1;
	struct look *l = kzalloc(struct_size(l, path, size), GFP_KERNEL);

	if (!l)
		return NULL;
	l->copy = iot_link_new(link->path);
	if (!l->copy) {
		kfree(l);
		return NULL;
	}
	memcpy(l->path, link->path, size);
	l->begin = jiffies;
	l->copy->follows = true;
	l->copy->cred = get_cred(link->cred);
	l->serial = link->serial;
	l->looks = ++link->looks;
	link->stale = false;
	list_del_init(&link->stale_node);
	return l;
}

/* Use what a look-up has found, and free its copy of the link. */
static void look_use(struct look *l)
{
	struct iot_link *link;

	if (!iot_targets_enter_surely()) { /* unloading */
		iot_link_free(l->copy);
		return;
	}
	link = iot_link_by_serial(l->serial);
	if (link && link->looks == l->looks)
		looked_up(link, l);
	iot_link_free(l->copy);
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
 * Look one stale link up, and wait for that, but not for ever.
 * Return: false if there is none, or no memory, or too many are stuck, or we are unloaded.
 */
static bool look_one(void)
{
	struct iot_link *link;
	struct look *l = NULL;
	int before;

	if (atomic_read(&nr_looks) >= MAX_LOOKS || !iot_targets_enter_surely())
		return false;
	link = list_first_entry_or_null(&stale, struct iot_link, stale_node);
	if (link)
		l = look_begin(link);
	iot_targets_leave();
	if (!l)
		return false;
	atomic_inc(&nr_looks);
	before = atomic_read(&nr_ended);
	if (iot_aside_begin(&l->aside, look_fn, "a worker looks up the path of a target,",
			    l->path)) {
		iot_link_free(l->copy);
		look_free(l);
		return false;
	}
	wait_event_timeout(ended, atomic_read(&nr_ended) != before, LEAVE);
	return true;
}

static void make_links_stale(struct iot_target *t, void *data)
{
	struct iot_link *link;

	list_for_each_entry(link, &t->links, list)
		make_stale(link);
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
 * iot_follow_prepare() - make a link for a file that is to be added
 * @text:	absolute path of the file
 * @path:	the file
 * @follows:	whether to follow the path, if that is possible
 *
 * Context: task, may sleep, without locks; with the rights that are to count.
 * Return: the link, for iot_follow_list() or iot_follow_discard(); NULL if there is no memory.
 */
struct iot_link *iot_follow_prepare(const char *text, const struct path *path, bool follows)
{
	struct iot_link *link = iot_link_new(text);
	struct path found;
	int err;

	if (!link || !follows || !d_is_reg(path->dentry) || is_idmapped_mnt(path->mnt))
		return link;
	err = iot_name_hooks_get();
	if (err == -ENOMEM) {
		iot_follow_discard(link);
		return NULL;
	}
	if (err)
		return link;
	link->hooked = true;
	link->cred = get_current_cred();
	link->follows = true;
	link->rooted = iot_path_walk_is_rooted();
	err = iot_path_walk(link, &found);
	if (!err) {
		link->stale |= d_inode(found.dentry) != d_inode(path->dentry);
		path_put(&found);
	} else if (err == -ENOMEM) {
		iot_follow_discard(link);
		return NULL;
	} else if (err == -EOPNOTSUPP) {
		link->follows = false;
	} else {
		link->stale = true;
	}
	return link;
}

/** iot_follow_discard() - free a link that was not listed. Context: task, without locks */
void iot_follow_discard(struct iot_link *link)
{
	bool entered = iot_targets_enter_surely();

	iot_link_free(link);
	if (entered)
		iot_targets_leave();
}

/**
 * iot_follow_list() - list a target under a path that leads to one of its files
 *
 * Context: under the lock of targets. Return: 0, or -ENOMEM and the link is not listed.
 */
int iot_follow_list(struct iot_link *link, struct iot_target *t, struct iot_target_file *f)
{
	int err = iot_link_add(link, t, &t->links, f);

	if (!link->rooted)
		link->astray = false;
	if (err || !link->follows)
		return err;
	nr_following++;
	queue_delayed_work(workers, &look, POLL);
	if (link->stale)
		make_stale(link);
	return 0;
}

/** iot_follow_renew() - note what a listed path leads to. Context: under the lock of targets */
void iot_follow_renew(struct iot_link *link, struct inode *inode)
{
	if (link->follows && is_seen(link->t, inode))
		arrive(link, inode, inode->i_ino);
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
 * iot_follow_drop() - remove a link of a target, and the file that only it led to
 *
 * Context: under the lock of targets.
 */
void iot_follow_drop(struct iot_link *link)
{
	struct iot_target_file *f = link->file;

	set_here(link, true);
	nr_following -= link->follows;
	nr_elsewhere -= !f;
	iot_link_drop(link);
	if (f && !list_empty(&iot_target_of(f)->links))
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
