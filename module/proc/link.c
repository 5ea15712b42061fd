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
#include "proc/link.h"

/* All listed links, under the lock of targets. The index has a secret hash. */
static struct rhltable by_path;
static DEFINE_XARRAY(by_serial);	/* those that follow */
static unsigned long last_serial;

static u32 hash_path(const void *path, u32 len, u32 seed)
{
	return jhash(path, strlen(path), seed);
}

static u32 hash_link(const void *link, u32 len, u32 seed)
{
	return hash_path(((const struct iot_link *)link)->path, 0, seed);
}

static int compare_link(struct rhashtable_compare_arg *arg, const void *link)
{
	return strcmp(((const struct iot_link *)link)->path, arg->key);
}

static const struct rhashtable_params path_params = {
	.head_offset = offsetof(struct iot_link, node),
	.hashfn = hash_path,
	.obj_hashfn = hash_link,
	.obj_cmpfn = compare_link,
	.automatic_shrinking = true,
};

/** iot_link_find() - find the link of a target, or of any if it is NULL, with that path, or NULL */
struct iot_link *iot_link_find(struct iot_target *t, const char *path)
{
	struct rhlist_head *list, *pos;
	struct iot_link *link, *found = NULL;

	rcu_read_lock();
	list = rhltable_lookup(&by_path, path, path_params);
	rhl_for_each_entry_rcu(link, pos, list, node) {
		if (!t || link->t == t) {
			found = link;
			break;
		}
	}
	rcu_read_unlock();
	return found;
}

/** iot_link_by_serial() - find a listed link that follows, or NULL */
struct iot_link *iot_link_by_serial(unsigned long serial)
{
	return xa_load(&by_serial, serial);
}

/** iot_link_new() - make a link that is not listed yet. Return: NULL if there is no memory */
struct iot_link *iot_link_new(const char *path)
{
	size_t len = strlen(path) + 1;
	struct iot_link *link;

	link = kzalloc(struct_size(link, path, len), GFP_KERNEL);
	if (!link)
		return NULL;
	INIT_LIST_HEAD(&link->list);
	INIT_LIST_HEAD(&link->stale_node);
	INIT_LIST_HEAD(&link->watches);
	link->here = true;
	memcpy(link->path, path, len);
	return link;
}

/** iot_link_free() - free a link that is not listed. Context: under the lock of targets */
void iot_link_free(struct iot_link *link)
{
	struct iot_watch *w, *next;

	list_for_each_entry_safe(w, next, &link->watches, list)
		iot_watch_end(w);
	if (link->hooked)
		iot_name_hooks_put();
	put_cred(link->cred);
	kfree(link);
}

/** iot_link_copy() - append a copy of a link to a list, to be freed by kfree() */
int iot_link_copy(struct list_head *links, const char *path)
{
	struct iot_link *link = iot_link_new(path);

	if (!link)
		return -ENOMEM;
	list_add_tail(&link->list, links);
	return 0;
}

/** iot_link_add() - append a link to the list of a target, as leading to its file @f */
int iot_link_add(struct iot_link *link, struct iot_target *t, struct list_head *links,
		 struct iot_target_file *f)
{
	link->t = t;
	link->file = f;
	link->serial = ++last_serial;
	if (link->follows &&
	    xa_err(xa_store(&by_serial, link->serial, link, GFP_KERNEL)))
		return -ENOMEM;
	if (rhltable_insert_key(&by_path, link->path, &link->node, path_params)) {
		xa_erase(&by_serial, link->serial);
		return -ENOMEM;
	}
	list_add_tail(&link->list, links);
	return 0;
}

/** iot_link_drop() - remove a link of a target and free it */
void iot_link_drop(struct iot_link *link)
{
	rhltable_remove(&by_path, &link->node, path_params);
	if (link->follows)
		xa_erase(&by_serial, link->serial);
	list_del(&link->list);
	list_del(&link->stale_node);
	iot_link_free(link);
}

/** iot_link_init() - set up the index at load. Return: 0 or -ENOMEM */
int iot_link_init(void)
{
	return rhltable_init(&by_path, &path_params);
}

/** iot_link_exit() - free the index, when no link is left */
void iot_link_exit(void)
{
	xa_destroy(&by_serial);
	rhltable_destroy(&by_path);
}
