/* SPDX-License-Identifier: GPL-2.0 */
/* What is hooked for a target, at the VFS and at the block layer. */
#ifndef IOT_PROBE_H
#define IOT_PROBE_H

#include <linux/fs.h>

struct iot_hook;
struct iot_target;

enum iot_vfs_op {
	IOT_VFS_READ,		/* ->read_iter */
	IOT_VFS_WRITE,		/* ->write_iter */
	IOT_VFS_SPLICE,		/* ->splice_read that does not use ->read_iter */
	IOT_VFS_SPLICE_IN,	/* ->splice_write that does not use ->write_iter */
	IOT_VFS_COPY,		/* ->copy_file_range */
	IOT_VFS_REMAP,		/* ->remap_file_range */
	IOT_VFS_OPS
};

/**
 * struct iot_vfs_hooks - the hooks of a filesystem that a target holds
 * @hook:	NULL where the filesystem has no such operation
 * @block:	its data goes to a block device
 */
struct iot_vfs_hooks {
	struct iot_hook *hook[IOT_VFS_OPS];
	bool block;
};

void iot_vfs_init(void);
int iot_vfs_get(struct iot_vfs_hooks *hooks, struct inode *inode);
int iot_vfs_get_rw(struct iot_vfs_hooks *hooks, const struct file_operations *fop,
		   bool bounded);
bool iot_vfs_sleeps_bounded(const struct super_block *sb);
bool iot_vfs_is_uring(const struct kiocb *iocb);
void iot_vfs_put(struct iot_vfs_hooks *hooks);
int iot_vfs_enable(struct iot_vfs_hooks *hooks);
void iot_vfs_disable(struct iot_vfs_hooks *hooks);
unsigned long iot_vfs_missed(const struct iot_vfs_hooks *hooks);

/**
 * struct iot_direct - a direct read or write under way in the current task
 * @id:		of the target
 * @sb:		its superblock, for the time of the call
 * @offset:	byte where the call starts
 * @file:	for the time of the call
 */
struct iot_direct {
	u64 id;
	struct super_block *sb;
	const struct file *file;
	u64 offset;
};

const struct iot_direct *iot_vfs_direct(void);

int iot_block_attach(void);
void iot_block_detach(void);
unsigned long iot_block_missed(void);
void iot_block_count_missed(void);

/* probe_fs_path.c */
int iot_name_init(void);
void iot_name_exit(void);

#endif /* IOT_PROBE_H */
