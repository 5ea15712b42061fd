/* SPDX-License-Identifier: GPL-2.0 */
/* Paths that records name by id: resolved once, kept in a bounded table. */
#ifndef IOT_PATHS_H
#define IOT_PATHS_H

#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/path.h>
#include <linux/rculist.h>
#include <linux/types.h>
#include "file/path_table.h"

struct seq_file;

/**
 * struct iot_paths_reader - a reader that shows entries in the order of their ids
 * @node:	in the list of all readers, so that what this one has yet to show is kept
 * @next:	id of the next entry to show; changed by the reader only
 */
struct iot_paths_reader {
	struct list_head node;
	u64 next;
};

/*
 * Count the changes of what determines a path: renames, by the count of rename_lock
 * (fs/dcache.c), and mounts, by that of mount_lock. While a rename or a mount is in progress the
 * sum is odd; while both are, it has a value that it has at no other moment.
 */
static __always_inline u32 iot_paths_stamp(void)
{
	return READ_ONCE(rename_lock.seqcount.seqcount.sequence) +
	       READ_ONCE(*iot_path_table.mounts);
}

static __always_inline bool iot_paths_is(const struct iot_path *e, const struct path *path)
{
	const struct iot_path_key *key = &e->key;
	const struct dentry *dentry = path->dentry;
	const struct inode *inode = d_backing_inode(dentry);

	return key->dentry == dentry && key->mnt == path->mnt &&
	       key->parent == READ_ONCE(dentry->d_parent) &&
	       key->hash_len == READ_ONCE(dentry->d_name.hash_len) &&
	       e->inode == inode && key->ino == inode->i_ino &&
	       e->generation == inode->i_generation;
}

static __always_inline struct hlist_head *iot_paths_head(const struct path *path)
{
	return iot_path_head(path->dentry, path->mnt,
			     READ_ONCE(path->dentry->d_name.hash_len));
}

/**
 * iot_paths_find() - find the path of an open file, if nothing has changed since it was resolved
 * @path:	of the file; its dentry is not negative
 * @coarse:	the caller may not sleep, so IOT_PATH_COARSE is good enough
 *
 * Context: task, preemption off; the result is valid until preemption is on again. Return: the
 * path, or NULL.
 */
static __always_inline const struct iot_path *iot_paths_find(const struct path *path,
							     bool coarse)
{
	u64 mask = coarse ? U32_MAX : U64_MAX;
	u64 stamp = iot_paths_stamp();
	const struct iot_path *p;

	hlist_for_each_entry_rcu_notrace(p, iot_paths_head(path), node)
		if (iot_paths_is(p, path) && (READ_ONCE(p->stamp) & mask) == stamp)
			return p;
	return NULL;
}

u16 iot_paths_kind(const struct inode *inode);
bool iot_paths_is_internal(const struct vfsmount *mnt);

int iot_paths_init(void (*mark_needed)(unsigned long *marks));
void iot_paths_exit(void);
void iot_paths_get(void);
void iot_paths_put(void);
void iot_paths_tidy(void);

void iot_paths_resolve(const struct path *path, bool may_sleep, struct iot_paths_file *file);
const struct iot_path *iot_paths_find_again(const struct path *path, bool coarse);
bool iot_paths_needs_stat(const struct file *file);
void iot_paths_of_inode(struct inode *inode, struct iot_paths_file *file);
bool iot_paths_find_inode(const struct inode *inode, struct iot_paths_file *file);
char *iot_paths_text(const struct path *path, char *buf, int size);
u64 iot_paths_name(const char *text, size_t len, const struct iot_below *below, bool may_sleep);
u64 iot_paths_label_hash(const void *what, size_t size);
u64 iot_paths_label_find(u64 hash);
u64 iot_paths_label_keep(u64 hash, const char *text, size_t len, bool may_sleep);
void iot_paths_show(struct seq_file *m, u64 id);
void iot_paths_stats(struct iot_paths_stats *stats);

void iot_paths_reader_add(struct iot_paths_reader *rd);
void iot_paths_reader_remove(struct iot_paths_reader *rd);

/**
 * iot_paths_of() - get the id of a file's path, and how stat(2) identifies the file
 * @path:	the caller holds a reference
 * @may_sleep:	the caller may sleep
 * @file:	filled in. Its id is 0 if the path cannot be found, which is counted unless the
 *		mount is one of the kernel's own
 *
 * Context: task.
 */
static __always_inline void iot_paths_of(const struct path *path, bool may_sleep,
					 struct iot_paths_file *file)
{
	const struct iot_path *known = NULL;

	preempt_disable_notrace();
	if (likely(d_backing_inode(path->dentry)))
		known = iot_paths_find(path, !may_sleep);
	if (likely(known))
		*file = known->file;
	preempt_enable_notrace();
	if (unlikely(!known))
		iot_paths_resolve(path, may_sleep, file);
}

/** iot_paths_mounts() - get a number that changes with every change of mounts. Context: any */
static inline unsigned int iot_paths_mounts(void)
{
	return READ_ONCE(*iot_path_table.mounts);
}

#endif /* IOT_PATHS_H */
