// SPDX-License-Identifier: GPL-2.0
/* The paths under which targets are listed, and their index. */
#include <linux/cred.h>
#include <linux/jhash.h>
#include <linux/rcupdate.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/xarray.h>
#include "file/name_hooks.h"
#include "file/watch.h"
#include "proc/target_path.h"

/* All listed paths, under the lock of targets. The index has a secret hash. */
static struct rhltable by_path;
static DEFINE_XARRAY(by_serial);	/* those that follow */
static unsigned long last_serial;

static u32 hash_path(const void *path, u32 len, u32 seed)
{
	return jhash(path, strlen(path), seed);
}

static u32 hash_target_path(const void *tp, u32 len, u32 seed)
{
	return hash_path(((const struct iot_target_path *)tp)->path, 0, seed);
}

static int compare_target_path(struct rhashtable_compare_arg *arg, const void *tp)
{
	return strcmp(((const struct iot_target_path *)tp)->path, arg->key);
}

static const struct rhashtable_params path_params = {
	.head_offset = offsetof(struct iot_target_path, node),
	.hashfn = hash_path,
	.obj_hashfn = hash_target_path,
	.obj_cmpfn = compare_target_path,
	.automatic_shrinking = true,
};

/** iot_target_path_find() - find that path of a target, or of any if @t is NULL, or NULL */
struct iot_target_path *iot_target_path_find(struct iot_target *t, const char *path)
{
	struct rhlist_head *list, *pos;
	struct iot_target_path *tp, *found = NULL;

	rcu_read_lock();
	list = rhltable_lookup(&by_path, path, path_params);
	rhl_for_each_entry_rcu(tp, pos, list, node) {
		if (!t || tp->t == t) {
			found = tp;
			break;
		}
	}
	rcu_read_unlock();
	return found;
}

/** iot_target_path_by_serial() - find a listed path that follows, or NULL */
struct iot_target_path *iot_target_path_by_serial(unsigned long serial)
{
	return xa_load(&by_serial, serial);
}

/** iot_target_path_new() - make a path that is not listed yet. Return: NULL: no memory */
struct iot_target_path *iot_target_path_new(const char *path)
{
	size_t len = strlen(path) + 1;
	struct iot_target_path *tp;

	tp = kzalloc(struct_size(tp, path, len), GFP_KERNEL);
	if (!tp)
		return NULL;
	INIT_LIST_HEAD(&tp->list);
	INIT_LIST_HEAD(&tp->stale_node);
	INIT_LIST_HEAD(&tp->watches);
	tp->here = true;
	memcpy(tp->path, path, len);
	return tp;
}

/** iot_target_path_free() - free a path that is not listed. Context: under the lock of targets */
void iot_target_path_free(struct iot_target_path *tp)
{
	struct iot_watch *w, *next;

	list_for_each_entry_safe(w, next, &tp->watches, list)
		iot_watch_end(w);
	if (tp->hooked)
		iot_name_hooks_put();
	put_cred(tp->cred);
	kfree(tp);
}

/** iot_target_path_copy() - append a copy of a path to a list, to be freed by kfree() */
int iot_target_path_copy(struct list_head *paths, const char *path)
{
	struct iot_target_path *tp = iot_target_path_new(path);

	if (!tp)
		return -ENOMEM;
	list_add_tail(&tp->list, paths);
	return 0;
}

/** iot_target_path_add() - append a path to the list of a target, as leading to its file @f */
int iot_target_path_add(struct iot_target_path *tp, struct iot_target *t, struct list_head *paths,
			struct iot_target_file *f)
{
	tp->t = t;
	tp->file = f;
	tp->serial = ++last_serial;
	if (tp->follows &&
	    xa_err(xa_store(&by_serial, tp->serial, tp, GFP_KERNEL)))
		return -ENOMEM;
	if (rhltable_insert_key(&by_path, tp->path, &tp->node, path_params)) {
		xa_erase(&by_serial, tp->serial);
		return -ENOMEM;
	}
	list_add_tail(&tp->list, paths);
	return 0;
}

/** iot_target_path_drop() - remove a path of a target and free it */
void iot_target_path_drop(struct iot_target_path *tp)
{
	rhltable_remove(&by_path, &tp->node, path_params);
	if (tp->follows)
		xa_erase(&by_serial, tp->serial);
	list_del(&tp->list);
	list_del(&tp->stale_node);
	iot_target_path_free(tp);
}

/** iot_target_path_init() - set up the index at load. Return: 0 or -ENOMEM */
int iot_target_path_init(void)
{
	return rhltable_init(&by_path, &path_params);
}

/** iot_target_path_exit() - free the index, when no path is left */
void iot_target_path_exit(void)
{
	xa_destroy(&by_serial);
	rhltable_destroy(&by_path);
}
