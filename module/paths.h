/* SPDX-License-Identifier: GPL-2.0 */
/* Paths that records name by number: resolved once, kept in a bounded table. */
#ifndef IOT_PATHS_H
#define IOT_PATHS_H

#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/path.h>
#include <linux/rculist.h>
#include <linux/types.h>

struct seq_file;
struct proc_ops;

/** struct iot_paths_stats - of the table, since the module was loaded */
struct iot_paths_stats {
	u64 entries;	/* paths it holds */
	u64 resolved;	/* paths it was given */
	u64 evicted;	/* paths that made room for others */
	u64 missed;	/* events without path: no memory, or not to be had then */
	size_t bytes;
};

/** struct iot_paths_file - what records say of a file, as stat(2) does */
struct iot_paths_file {
	u64 id;		/* of its path, 0 unknown */
	u64 ino;
	u32 dev;	/* as in records */
	u16 kind;	/* IOT_KIND_* */
	u16 kinds;	/* 1 << kind */
};

/**
 * struct iot_path_key - what a path is found by
 * @dentry:	compared, never followed; NULL for a text that led to no file
 * @hash:	of the text, where @dentry is NULL
 */
struct iot_path_key {
	const struct dentry *dentry;
	const struct vfsmount *mnt;
	const struct dentry *parent;
	u64 hash_len;
	u64 ino;
	u32 hash;
};

/**
 * struct iot_path - one path; immutable but for @moves
 * @node:	in its bucket, under RCU
 * @key:	see above
 * @moves:	count of renames up to which the text is known to be right; odd:
 *		so are device and inode, but as the kernel calls them, not stat(2)
 * @len:	of the text, without NUL
 * @file:	what it is the path of
 */
struct iot_path {
	struct hlist_node node;
	struct iot_path_key key;
	unsigned int moves;
	u32 len;
	struct iot_paths_file file;
	struct rcu_head rcu;
	char text[];
};

#define IOT_PATHS_BITS	14

extern struct hlist_head iot_paths_buckets[];

static __always_inline struct hlist_head *iot_paths_bucket(const struct dentry *dentry)
{
	return &iot_paths_buckets[hash_ptr(dentry, IOT_PATHS_BITS)];
}

/* How many renames there were: the count of rename_lock (fs/dcache.c). */
static __always_inline unsigned int iot_paths_moves(void)
{
	return READ_ONCE(rename_lock.seqcount.seqcount.sequence);
}

static __always_inline bool iot_paths_is(const struct iot_path_key *key,
					 const struct path *path)
{
	const struct dentry *dentry = path->dentry;
	const struct inode *inode = d_backing_inode(dentry);

	return key->dentry == dentry && key->mnt == path->mnt &&
	       key->parent == READ_ONCE(dentry->d_parent) &&
	       key->hash_len == READ_ONCE(dentry->d_name.hash_len) &&
	       key->ino == inode->i_ino;
}

/**
 * iot_paths_find() - the path of an open file, if it is known, or NULL
 * @moves:	what its entry has to have: iot_paths_moves()
 * @ignored:	bits of it that do not matter: 1 where one may not sleep, to whom an
 *		entry is good that was made without
 *
 * Context: task, preemption off; the result is good until it is on again. The
 * dentry is not negative.
 */
static __always_inline const struct iot_path *iot_paths_find(const struct path *path,
							     unsigned int moves,
							     unsigned int ignored)
{
	const struct iot_path *p;

	hlist_for_each_entry_rcu_notrace(p, iot_paths_bucket(path->dentry), node)
		if (iot_paths_is(&p->key, path) &&
		    (READ_ONCE(p->moves) | ignored) == (moves | ignored))
			return p;
	return NULL;
}

u16 iot_paths_kind(const struct inode *inode);

int iot_paths_init(void);
void iot_paths_exit(void);

void iot_paths_resolve(const struct path *path, unsigned int moves, bool may_sleep,
		       struct iot_paths_file *file);
void iot_paths_of_inode(struct inode *inode, struct iot_paths_file *file);
char *iot_paths_text(const struct path *path, char *buf, int size);
u64 iot_paths_name(const char *text, size_t len, bool may_sleep);
void iot_paths_show(struct seq_file *m, u64 id);
void iot_paths_stats(struct iot_paths_stats *stats);

extern const struct proc_ops iot_paths_ops;

/**
 * iot_paths_of() - the number of a file's path, and what stat(2) calls the file
 * @path:	held by the caller
 * @may_sleep:	the caller may
 * @file:	filled; its id is 0, and counted, where the path cannot be had; its
 *		kinds are none where it is no program's, but the kernel's own
 *
 * Context: task.
 */
static __always_inline void iot_paths_of(const struct path *path, bool may_sleep,
					 struct iot_paths_file *file)
{
	unsigned int moves = iot_paths_moves();
	const struct iot_path *known = NULL;

	preempt_disable_notrace();
	if (likely(d_backing_inode(path->dentry)))
		known = iot_paths_find(path, moves, may_sleep ? 0 : 1);
	if (likely(known))
		*file = known->file;
	preempt_enable_notrace();
	if (unlikely(!known))
		iot_paths_resolve(path, moves, may_sleep, file);
}

#endif /* IOT_PATHS_H */
