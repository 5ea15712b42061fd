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
#include "file/below.h"

/** struct iot_paths_file - how records identify a file, as stat(2) does */
struct iot_paths_file {
	u64 id;		/* id of its path, 0 if unknown */
	u64 ino;
	u32 dev;	/* device number as in records */
	u16 kind;	/* IOT_KIND_* */
	u16 kinds;	/* 1 << kind, and IOT_PATHS_* */
};

#define IOT_PATHS_BELOW	BIT(15)	/* it is below a directory whose contents are traced */
#define IOT_PATHS_UNSURE	BIT(14)	/* stat(2) may report another device and inode number */

/**
 * struct iot_path_key - what a path is looked up by
 * @dentry:	compared, never dereferenced; NULL for a text that led to no file
 * @mnt:	compared; dereferenced only if no mount has changed since (print_again() in
 *		paths.c). NULL if only the inode was known
 * @hash_len:	hash and length of the name, or of the text if @dentry is NULL
 */
struct iot_path_key {
	const struct dentry *dentry;
	const struct vfsmount *mnt;
	const struct dentry *parent;
	u64 hash_len;
	u64 ino;
};

#define IOT_PATH_COARSE	BIT_ULL(32)	/* device and inode are the kernel's, not stat(2)'s */
#define IOT_PATH_STALE	(BIT_ULL(33) | 1)	/* equals no stamp, as stamps are even */

/**
 * struct iot_path - one path; immutable except @stamp, @print and @mounts
 * @node:	in its bucket, under RCU
 * @key:	see above
 * @stamp:	iot_paths_stamp() for which the text is known to be valid, and IOT_PATH_*
 * @inode_node:	in the bucket of @inode, under RCU
 * @inode:	compared, never dereferenced; NULL if there is none
 * @generation:	of @inode: distinguishes it from a later inode at the same address
 * @len:	of the text, without NUL
 * @file:	the file that has the path
 * @print:	hash of all that determines the text (paths.c), 0 if not known
 * @mounts:	count of changes of mounts for which @print is known to be valid
 * @roots:	the directories that it is below, as in struct iot_below
 * @epoch:	as there; grows if @roots is 0
 * @text:	with its NUL; then the depth below each directory (iot_path_depths())
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
	u32 roots;
	u32 epoch;
	struct rcu_head rcu;
	char text[];
};

/** iot_path_depths() - get the depths below the directories of @roots, from the lowest bit */
static inline u16 *iot_path_depths(const struct iot_path *e)
{
	return (u16 *)PTR_ALIGN(e->text + e->len + 1, sizeof(u16));
}

/** iot_path_is_below() - is a path below a directory, or the directory itself? Context: any */
static inline bool iot_path_is_below(const struct iot_path *e, const struct iot_below_root *root)
{
	return (e->roots & BIT(root->slot)) && (s32)(READ_ONCE(e->epoch) - root->epoch) >= 0;
}

/**
 * struct iot_path_buckets - where entries are found, by a hash
 * @shift:	64 - number of bits of a bucket's index
 * @head:	the buckets
 */
struct iot_path_buckets {
	u64 shift;
	struct hlist_head head[];
};

/**
 * struct iot_path_table - how entries are looked up
 * @keys:	buckets of keys, under RCU; never NULL: while there is no table, they are empty
 * @inodes:	the same for inodes
 * @mounts:	count of changes of mounts anywhere
 * @secret:	secret odd numbers: a process that can choose dentries and names cannot choose
 *		buckets
 */
struct iot_path_table {
	struct iot_path_buckets __rcu *keys;
	struct iot_path_buckets __rcu *inodes;
	const unsigned int *mounts;
	u64 secret[2];
};

extern struct iot_path_table iot_path_table;

/* Entries that a bucket holds; a newer one removes the oldest. */
#define IOT_PATH_WAYS	8

/* These two get a bucket. Context: under RCU. */
static __always_inline struct hlist_head *iot_path_head(const struct dentry *dentry,
							const struct vfsmount *mnt,
							u64 hash_len)
{
	struct iot_path_buckets *b = rcu_dereference_raw_check(iot_path_table.keys);
	u64 hash = ((u64)dentry ^ (u64)mnt ^ hash_len) * iot_path_table.secret[0];

	return &b->head[hash >> b->shift];
}

static __always_inline struct hlist_head *iot_path_inode_head(const struct inode *inode)
{
	struct iot_path_buckets *b = rcu_dereference_raw_check(iot_path_table.inodes);

	return &b->head[((u64)inode * iot_path_table.secret[0]) >> b->shift];
}

/** struct iot_paths_stats - counts of the table since the module was loaded */
struct iot_paths_stats {
	u64 entries;	/* paths in the table */
	u64 resolved;	/* paths that were added */
	u64 evicted;	/* paths that were evicted */
	u64 missed;	/* events without a path: no memory, or it could not be found */
	size_t bytes;
};

int iot_path_table_init(void);
void iot_path_table_exit(void);
void iot_path_table_open(void);
void iot_path_table_close(void);
void iot_path_table_release(void);

u64 iot_path_table_keep(const struct iot_path *like, const char *text,
			const struct iot_below *below, gfp_t gfp);
const struct iot_path *iot_path_table_at(u64 id);
void iot_path_table_forget(void);
void iot_path_table_outdate(void);
u64 iot_path_table_oldest(u64 *last);
unsigned long *iot_path_table_marks(void);
void iot_path_table_mark(unsigned long *marks, u64 id);
void iot_path_table_sweep(const unsigned long *marks, u64 end);
void iot_path_table_stats(struct iot_paths_stats *stats);

#endif /* IOT_PATH_TABLE_H */
