/* SPDX-License-Identifier: GPL-2.0 */
/* The hooks of a filesystem's reads and writes. */
#ifndef IOT_VFS_H
#define IOT_VFS_H

#include <linux/fs.h>
#include "probe/vfs_types.h"

struct iot_hook;

/**
 * struct iot_vfs_hooks - the hooks of a filesystem that a target or category fs holds
 * @hook:	indexed by operation; NULL where the filesystem has no such
 *		operation
 * @block:	the data goes to a block device
 */
struct iot_vfs_hooks {
	struct iot_hook *hook[IOT_VFS_OPS];
	bool block;
};

int iot_vfs_get(struct iot_vfs_hooks *hooks, struct inode *inode);
int iot_vfs_get_rw(struct iot_vfs_hooks *hooks, const struct file_operations *fop,
		   bool bounded);
struct iot_hook *iot_vfs_get_fsync(const struct file_operations *fop);
int iot_vfs_get_other(struct iot_vfs_hooks *hooks, const struct inode *inode);
void iot_vfs_put(struct iot_vfs_hooks *hooks);
int iot_vfs_enable(struct iot_vfs_hooks *hooks);
void iot_vfs_disable(struct iot_vfs_hooks *hooks);
int iot_vfs_enable_other(struct iot_vfs_hooks *hooks);
void iot_vfs_disable_other(struct iot_vfs_hooks *hooks);
unsigned long iot_vfs_missed(const struct iot_vfs_hooks *hooks);

#endif /* IOT_VFS_H */
