// SPDX-License-Identifier: GPL-2.0
/*
 * A hash table of watched names in directories.
 *
 * A directory is identified by a key (key.h), so no reference to its filesystem is held: it can be
 * deleted and unmounted as if it were not watched. If another directory gets the same key later, a
 * change there is reported as well, though nobody watches it. So the receiver of a report looks the
 * path up.
 */
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/jhash.h>
#include <linux/rcupdate.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include "file/key.h"
#include "file/watch.h"

/**
 * struct iot_watch_name - a name that is watched in a directory
 * @node:	in the table of names, under RCU
 * @watches:	list of struct iot_watch, never empty while it is in the table; under @names_lock
 * @dir:	the directory
 */
struct iot_watch_name {
	struct rhash_head node;
	struct list_head watches;
	struct rcu_head rcu;
	struct iot_key dir;
	unsigned int len;
	char text[];
};

/* What a name is looked up by. */
struct name_key {
	struct inode *dir;
	const char *name;
	unsigned int len;
};

static struct rhashtable names;
static DEFINE_SPINLOCK(names_lock);	/* serialises changes of @names */

static u32 hash_of(u64 ino, const char *name, unsigned int len, u32 seed)
{
	return jhash(name, len, jhash_2words((u32)ino, (u32)(ino >> 32), seed));
}

static u32 hash_key(const void *data, u32 len, u32 seed)
{
	const struct name_key *key = data;

	return hash_of(key->dir->i_ino, key->name, key->len, seed);
}

static u32 hash_name(const void *data, u32 len, u32 seed)
{
	const struct iot_watch_name *n = data;

	return hash_of(n->dir.ino, n->text, n->len, seed);
}

static int compare(struct rhashtable_compare_arg *arg, const void *data)
{
	const struct name_key *key = arg->key;
	const struct iot_watch_name *n = data;

	return n->len != key->len || memcmp(n->text, key->name, key->len) ||
	       !iot_key_is(&n->dir, key->dir);
}

static const struct rhashtable_params params = {
	.head_offset = offsetof(struct iot_watch_name, node),
	.hashfn = hash_key,
	.obj_hashfn = hash_name,
	.obj_cmpfn = compare,
	.automatic_shrinking = true,
};

/**
 * iot_watch_has() - check whether a name is watched
 *
 * Context: any but interrupts; the inode stays.
 */
bool iot_watch_has(struct inode *dir, const struct qstr *name)
{
	const struct name_key key = { .dir = dir, .name = name->name, .len = name->len };
	bool found;

	rcu_read_lock();
	found = rhashtable_lookup(&names, &key, params);
	rcu_read_unlock();
	return found;
}

/**
 * iot_watch_new() - prepare to watch a name
 * @dir:	a directory that the caller holds a reference to
 * @len:	of the name
 *
 * Context: task, may sleep. Return: a watch, or NULL if there is no memory.
 */
struct iot_watch *iot_watch_new(struct inode *dir, const char *name, unsigned int len)
{
	struct iot_watch *w = kzalloc(sizeof(*w), GFP_KERNEL);
	struct iot_watch_name *n = kzalloc(struct_size(n, text, len + 1), GFP_KERNEL);

	if (!w || !n) {
		kfree(n);
		kfree(w);
		return NULL;
	}
	INIT_LIST_HEAD(&w->list);
	INIT_LIST_HEAD(&w->same);
	INIT_LIST_HEAD(&n->watches);
	iot_key_make(&n->dir, dir);
	n->len = len;
	memcpy(n->text, name, len);
	w->name = n;
	return w;
}

/**
 * iot_watch_begin() - be told of changes of the name from now on
 * @dir:	as for iot_watch_new()
 *
 * Context: task. Return: 0 or -ENOMEM.
 */
int iot_watch_begin(struct iot_watch *w, struct inode *dir)
{
	struct iot_watch_name *own = w->name, *known;
	const struct name_key key = { .dir = dir, .name = own->text, .len = own->len };

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

/** iot_watch_end() - undo iot_watch_begin(), and free the watch. Context: task */
void iot_watch_end(struct iot_watch *w)
{
	struct iot_watch_name *n = w->name;

	spin_lock(&names_lock);
	list_del(&w->same);
	if (list_empty(&n->watches)) {
		rhashtable_remove_fast(&names, &n->node, params);
		kfree_rcu(n, rcu);
	}
	spin_unlock(&names_lock);
	kfree(w);
}

/** iot_watch_free() - free a watch that has not begun. Context: any */
void iot_watch_free(struct iot_watch *w)
{
	kfree(w->name);
	kfree(w);
}

/**
 * iot_watch_each() - call @fn for the watches of a name until it returns true
 *
 * Context: task; the inode stays. None of these watches begins or ends while @fn runs, which must
 * not sleep. Return: whether it has returned true.
 */
bool iot_watch_each(struct inode *dir, const struct qstr *name,
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

/** iot_watch_init() - set up the table at load. Return: 0 or -ENOMEM */
int iot_watch_init(void)
{
	return rhashtable_init(&names, &params);
}

/** iot_watch_exit() - free the table, when no watch is left and no hook uses it */
void iot_watch_exit(void)
{
	rhashtable_destroy(&names);
}
