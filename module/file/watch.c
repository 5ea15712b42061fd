// SPDX-License-Identifier: GPL-2.0
/*
 * Names in directories that come to stand for something else: created, renamed, deleted.
 *
 * A directory in which a name is watched has a mark of fsnotify, as one that a program watches
 * with inotify. The mark keeps the directory's inode in memory. It goes when the directory is
 * deleted or its filesystem unmounted, and holds up neither. All names that are watched in a
 * directory share its mark, so a change of a name that nobody watches costs one look-up in a hash
 * table, however many names there are.
 *
 * Lifetime: a directory is freed by fsnotify, after the last of its watches has let go of it, and
 * after all tasks that fsnotify sent to us. A watch that has ended is freed by a worker, as
 * letting go of an inode may take long.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/jhash.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/rhashtable.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include "compat/watch.h"
#include "file/watch.h"

#ifdef IOT_HAVE_FSNOTIFY_GROUPS
#define EVENTS	(FS_CREATE | FS_DELETE | FS_MOVED_FROM | FS_MOVED_TO | FS_UNMOUNT)

/**
 * struct iot_watch_dir - a directory in which names are watched
 * @mark:	by which fsnotify knows it
 * @users:	watches in it; the mark goes with the last
 */
struct iot_watch_dir {
	struct fsnotify_mark mark;
	refcount_t users;
};

/**
 * struct iot_watch_name - a name that is watched in a directory
 * @node:	in the table of names, under RCU
 * @watches:	list of struct iot_watch, never empty while it is in the table; under @names_lock
 * @dir:	the directory, compared only: the watches keep it in memory
 */
struct iot_watch_name {
	struct rhash_head node;
	struct list_head watches;
	struct rcu_head rcu;
	const struct iot_watch_dir *dir;
	unsigned int len;
	char text[];
};

/* What a name is looked up by. */
struct name_key {
	const struct iot_watch_dir *dir;
	const char *name;
	unsigned int len;
};

static const struct iot_watch_ops *watch_ops;
static struct fsnotify_group *group;
static struct rhashtable names;
static DEFINE_SPINLOCK(names_lock);	/* serialises changes of @names */
static atomic_t nr_dirs;
static LLIST_HEAD(dead);

static u32 hash_of(const struct iot_watch_dir *dir, const char *name, unsigned int len, u32 seed)
{
	return jhash(name, len, jhash(&dir, sizeof(dir), seed));
}

static u32 hash_key(const void *data, u32 len, u32 seed)
{
	const struct name_key *key = data;

	return hash_of(key->dir, key->name, key->len, seed);
}

static u32 hash_name(const void *data, u32 len, u32 seed)
{
	const struct iot_watch_name *n = data;

	return hash_of(n->dir, n->text, n->len, seed);
}

static int compare(struct rhashtable_compare_arg *arg, const void *data)
{
	const struct name_key *key = arg->key;
	const struct iot_watch_name *n = data;

	return n->dir != key->dir || n->len != key->len || memcmp(n->text, key->name, key->len);
}

static const struct rhashtable_params params = {
	.head_offset = offsetof(struct iot_watch_name, node),
	.hashfn = hash_key,
	.obj_hashfn = hash_name,
	.obj_cmpfn = compare,
	.automatic_shrinking = true,
};

static struct iot_watch_dir *dir_of(struct fsnotify_mark *mark)
{
	return container_of(mark, struct iot_watch_dir, mark);
}

static bool is_watched(const struct iot_watch_dir *dir, const struct qstr *name)
{
	const struct name_key key = { .dir = dir, .name = name->name, .len = name->len };
	bool found;

	rcu_read_lock();
	found = rhashtable_lookup(&names, &key, params);
	rcu_read_unlock();
	return found;
}

static enum iot_watch_change change_of(u32 mask)
{
	if (mask & (FS_CREATE | FS_MOVED_TO))
		return IOT_WATCH_MADE;
	return mask & FS_DELETE ? IOT_WATCH_DELETED : IOT_WATCH_MOVED;
}

/* Context: the task that makes the change. */
static int handle(struct fsnotify_mark *mark, u32 mask, struct inode *inode, struct inode *dir,
		  const struct qstr *name, u32 cookie)
{
	if (mask & FS_UNMOUNT)
		watch_ops->unmounted();
	else if (name && is_watched(dir_of(mark), name))
		watch_ops->changed(dir_of(mark), name, change_of(mask), inode);
	return 0;
}

/* Context: no task is in handle() with it any more. */
static void free_dir(struct fsnotify_mark *mark)
{
	kfree(dir_of(mark));
	atomic_dec(&nr_dirs);
}

static const struct fsnotify_ops group_ops = {
	.handle_inode_event = handle,
	.free_mark = free_dir,
};

static struct iot_watch_dir *dir_find(struct inode *inode)
{
	struct fsnotify_mark *mark = iot_find_mark(inode, group);
	struct iot_watch_dir *dir = NULL;

	if (!mark)
		return NULL;
	if (refcount_inc_not_zero(&dir_of(mark)->users))
		dir = dir_of(mark);
	fsnotify_put_mark(mark);
	return dir;
}

/* Context: the caller holds a reference to the inode. Return: NULL if there is no memory. */
static struct iot_watch_dir *dir_get(struct inode *inode)
{
	struct iot_watch_dir *dir;
	int err;

	do {
		dir = dir_find(inode);
		if (dir)
			return dir;
		dir = kzalloc(sizeof(*dir), GFP_KERNEL);
		if (!dir)
			return NULL;
		atomic_inc(&nr_dirs);
		refcount_set(&dir->users, 1);
		fsnotify_init_mark(&dir->mark, group);
		dir->mark.mask = EVENTS;
		err = fsnotify_add_inode_mark(&dir->mark, inode, 0);
		if (!err)
			return dir;
		fsnotify_put_mark(&dir->mark);
		cond_resched();
	} while (err == -EEXIST); /* another task was first, or its mark is just going */
	return NULL;
}

static void dir_put(struct iot_watch_dir *dir)
{
	if (!refcount_dec_and_test(&dir->users))
		return;
	fsnotify_destroy_mark(&dir->mark, group);
	fsnotify_put_mark(&dir->mark);
}

static void free_dead(struct work_struct *work)
{
	struct llist_node *list = llist_del_all(&dead);
	struct iot_watch *w, *next;

	llist_for_each_entry_safe(w, next, list, dead) {
		dir_put(w->dir);
		kfree(w->name);
		kfree(w);
		cond_resched();
	}
}

static DECLARE_WORK(dead_work, free_dead);

/** iot_watch_possible() - check whether names can be watched */
bool iot_watch_possible(void)
{
	return group;
}

/**
 * iot_watch_new() - prepare to watch a name
 * @dir:	a directory that the caller holds a reference to
 * @len:	of the name
 *
 * Context: task, may sleep, without locks. Return: a watch, or NULL if there is no memory.
 */
struct iot_watch *iot_watch_new(struct inode *dir, const char *name, unsigned int len)
{
	struct iot_watch *w = kzalloc(sizeof(*w), GFP_KERNEL);
	struct iot_watch_name *n = kzalloc(struct_size(n, text, len + 1), GFP_KERNEL);

	if (!w || !n)
		goto free;
	w->dir = dir_get(dir);
	if (!w->dir)
		goto free;
	INIT_LIST_HEAD(&w->list);
	INIT_LIST_HEAD(&w->same);
	INIT_LIST_HEAD(&n->watches);
	n->dir = w->dir;
	n->len = len;
	memcpy(n->text, name, len);
	w->name = n;
	return w;
free:
	kfree(n);
	kfree(w);
	return NULL;
}

/** iot_watch_begin() - be told of changes of the name from now on. Return: 0 or -ENOMEM */
int iot_watch_begin(struct iot_watch *w)
{
	struct iot_watch_name *own = w->name, *known;
	const struct name_key key = { .dir = w->dir, .name = own->text, .len = own->len };

	spin_lock(&names_lock);
	known = rhashtable_lookup_get_insert_key(&names, &key, &own->node, params);
	if (known && !IS_ERR(known))
		w->name = known;
	if (!IS_ERR(known))
		list_add_tail(&w->same, &w->name->watches);
	spin_unlock(&names_lock);
	if (IS_ERR(known))
		return -ENOMEM;
	if (known)
		kfree(own);
	return 0;
}

/** iot_watch_end() - undo iot_watch_begin(), and free it. Context: any that may sleep */
void iot_watch_end(struct iot_watch *w)
{
	struct iot_watch_name *n = w->name;

	spin_lock(&names_lock);
	list_del(&w->same);
	w->name = NULL;
	if (list_empty(&n->watches)) {
		rhashtable_remove_fast(&names, &n->node, params);
		kfree_rcu(n, rcu);
	}
	spin_unlock(&names_lock);
	iot_watch_free(w);
}

/** iot_watch_free() - free a watch that has not begun. Context: any */
void iot_watch_free(struct iot_watch *w)
{
	if (llist_add(&w->dead, &dead))
		schedule_work(&dead_work);
}

/**
 * iot_watch_each() - call @fn for the watches of a name until it returns true
 *
 * Context: task. None of these watches begins or ends while @fn runs, which must not sleep.
 * Return: whether it has returned true.
 */
bool iot_watch_each(struct iot_watch_dir *dir, const struct qstr *name,
		    bool (*fn)(struct iot_watch *w, void *data), void *data)
{
	const struct name_key key = { .dir = dir, .name = name->name, .len = name->len };
	struct iot_watch_name *n;
	struct iot_watch *w;
	bool done = false;

	spin_lock(&names_lock);
	n = rhashtable_lookup_fast(&names, &key, params);
	if (n) {
		list_for_each_entry(w, &n->watches, same) {
			done = fn(w, data);
			if (done)
				break;
		}
	}
	spin_unlock(&names_lock);
	return done;
}

/** iot_watch_init() - at load. Return: 0 or -ENOMEM */
int iot_watch_init(const struct iot_watch_ops *ops)
{
	int err = rhashtable_init(&names, &params);

	if (err)
		return err;
	watch_ops = ops;
	group = fsnotify_alloc_group(&group_ops, 0);
	if (!IS_ERR(group))
		return 0;
	err = PTR_ERR(group);
	group = NULL;
	rhashtable_destroy(&names);
	return err;
}

/**
 * iot_watch_exit() - wait until no task is in here any more
 *
 * Context: unload, no watch is left. The last directory's memory is freed by fsnotify's worker,
 * which calls us: it is waited for once more when it has been in here for the last time.
 */
void iot_watch_exit(void)
{
	if (!group)
		return;
	flush_work(&dead_work);
	while (atomic_read(&nr_dirs)) {
		fsnotify_wait_marks_destroyed();
		msleep(20);
	}
	fsnotify_wait_marks_destroyed();
	fsnotify_put_group(group);
	group = NULL;
	rhashtable_destroy(&names);
}
#else
bool iot_watch_possible(void)
{
	return false;
}

struct iot_watch *iot_watch_new(struct inode *dir, const char *name, unsigned int len)
{
	return NULL;
}

int iot_watch_begin(struct iot_watch *w)
{
	return -EOPNOTSUPP;
}

void iot_watch_end(struct iot_watch *w)
{
}

void iot_watch_free(struct iot_watch *w)
{
}

bool iot_watch_each(struct iot_watch_dir *dir, const struct qstr *name,
		    bool (*fn)(struct iot_watch *w, void *data), void *data)
{
	return false;
}

int iot_watch_init(const struct iot_watch_ops *ops)
{
	return 0;
}

void iot_watch_exit(void)
{
}
#endif
