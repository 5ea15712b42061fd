/* SPDX-License-Identifier: GPL-2.0 */
/* The table of paths: its entries, how they are looked up, and the memory they may take. */
#ifndef IOT_PATH_TABLE_H
#define IOT_PATH_TABLE_H

#include <linux/cache.h>
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/path.h>
#include <linux/rculist.h>
#include <linux/types.h>

/** struct iot_paths_file - how records identify a file, as stat(2) does */
struct iot_paths_file {
	u64 id;		/* of its path, 0 if unknown */
	u64 ino;
	u32 dev;	/* as in records */
	u16 kind;	/* IOT_KIND_* */
	u16 kinds;	/* 1 << kind */
};

/**
 * struct iot_path_key - what a path is looked up by
 * @dentry:	compared, never dereferenced; NULL for a text that led to no file
 * @mnt:	compared; dereferenced only if no mount has changed since (print_again() in
 *		paths.c). NULL if only the inode was known
 * @hash_len:	of the name; of the text if @dentry is NULL
 */
struct iot_path_key {
	const struct dentry *dentry;
	const struct vfsmount *mnt;
	const struct dentry *parent;
	u64 hash_len;
	u64 ino;
};

#define IOT_PATH_COARSE	BIT_ULL(32)	/* device and inode as the kernel has them, not stat(2) */
#define IOT_PATH_STALE	(BIT_ULL(33) | 1)	/* no stamp at all: stamps are even */

/**
 * struct iot_path - one path; immutable except @stamp, @print and @mounts
 * @node:	in its bucket, under RCU
 * @key:	see above
 * @stamp:	iot_paths_stamp() for which the text is known to be right, and IOT_PATH_*
 * @inode_node:	in the bucket of @inode, under RCU
 * @inode:	compared, never dereferenced; NULL if there is none
 * @generation:	of @inode: distinguishes it from a later inode at the same address
 * @len:	of the text, without NUL
 * @file:	the file that has the path
 * @print:	hash of the dentries that the text follows from (paths.c), 0 if not known
 * @mounts:	count of changes of mounts for which @print is known to be right
 */
struct iot_path {
	struct hlist_node node;
	struct iot_path_key key;
	u64 stamp;

	struct hlist_node inode_node;
	const struct inode *inode;
	u32 generation;
	u32 len;
	struct iot_paths_file file;
	u64 print;

	u32 mounts;
	struct rcu_head rcu;
	char text[];
};

/**
 * struct iot_path_table - how entries are looked up; constant once the module is loaded
 * @heads:	buckets of keys
 * @inode_heads: buckets of inodes
 * @mounts:	count of changes of mounts anywhere
 * @secret:	secret odd numbers: a process that can choose dentries and names cannot choose
 *		buckets
 * @shift:	64 - number of bits of a bucket's index
 */
struct iot_path_table {
	struct hlist_head *heads;
	struct hlist_head *inode_heads;
	const unsigned int *mounts;
	u64 secret[2];
	unsigned int shift;
	unsigned int inode_shift;
};

extern struct iot_path_table iot_path_table;

/* An entry leaves its bucket when this many newer ones are in it. */
#define IOT_PATH_WAYS	8

static __always_inline struct hlist_head *iot_path_head(const struct dentry *dentry,
							const struct vfsmount *mnt,
							u64 hash_len)
{
	const struct iot_path_table *t = &iot_path_table;
	u64 hash = ((u64)dentry ^ (u64)mnt ^ hash_len) * t->secret[0];

	return &t->heads[hash >> t->shift];
}

static __always_inline struct hlist_head *iot_path_inode_head(const struct inode *inode)
{
	const struct iot_path_table *t = &iot_path_table;

	return &t->inode_heads[((u64)inode * t->secret[0]) >> t->inode_shift];
}

/** struct iot_paths_stats - counts of the table since the module was loaded */
struct iot_paths_stats {
	u64 entries;	/* paths in the table */
	u64 resolved;	/* paths that were added */
	u64 evicted;	/* paths that were evicted */
	u64 missed;	/* events without path: no memory, or not available then */
	size_t bytes;
};

int iot_path_table_init(void);
void iot_path_table_exit(void);
void iot_path_table_open(void);
void iot_path_table_close(void);
bool iot_path_table_is_open(void);

u64 iot_path_table_keep(const struct iot_path *like, const char *text, gfp_t gfp);
const struct iot_path *iot_path_table_at(u64 id);
u64 iot_path_table_oldest(u64 *last);
unsigned long *iot_path_table_marks(void);
void iot_path_table_mark(unsigned long *marks, u64 id);
void iot_path_table_sweep(const unsigned long *marks, u64 end);
void iot_path_table_stats(struct iot_paths_stats *stats);

#endif /* IOT_PATH_TABLE_H */
