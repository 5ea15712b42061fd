/* SPDX-License-Identifier: GPL-2.0 */
/* Walks through all filesystems, and their files in memory, that wait for none of them. */
#ifndef IOT_SUPERS_H
#define IOT_SUPERS_H

#include <linux/types.h>

struct inode;
struct super_block;

/* What to do with a file that a walk has come to. */
enum iot_inode_wish {
	IOT_INODE_PASS,		/* go on */
	IOT_INODE_VISIT,	/* call @visit, then go on */
	IOT_INODE_STOP,		/* end the walk */
};

/**
 * struct iot_inodes_ops - what is called for the files of a filesystem that are in memory
 * @look:	under the lock of the filesystem's list of files: must not sleep
 * @visit:	a reference to the file is held; may sleep, but not wait for the filesystem
 */
struct iot_inodes_ops {
	enum iot_inode_wish (*look)(struct inode *inode, void *data);
	void (*visit)(struct inode *inode, void *data);
};

/**
 * struct iot_supers_left - what a walk has left out
 * @busy:	number of filesystems that were passed by though files may be open there
 * @closing:	number of those that are just being unmounted, and have files in memory
 */
struct iot_supers_left {
	unsigned int busy;
	unsigned int closing;
};

int iot_supers_walk(bool (*fn)(struct super_block *sb, void *data), void *data,
		    struct iot_supers_left *left);
bool iot_inodes_walk(struct super_block *sb, const struct iot_inodes_ops *ops, void *data);

#endif /* IOT_SUPERS_H */
