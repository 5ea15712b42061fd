/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What vfs.c hooks: reads and writes (vfs_iter.c), splice, copy and clone (vfs_range.c), other
 * operations (vfs_other.c).
 */
#ifndef IOT_VFS_TYPES_H
#define IOT_VFS_TYPES_H

#include "hook/hook.h"

struct inode;
struct kiocb;

enum iot_vfs_op {
	IOT_VFS_READ,		/* ->read_iter */
	IOT_VFS_WRITE,		/* ->write_iter */
	IOT_VFS_SPLICE,		/* ->splice_read that does not use ->read_iter */
	IOT_VFS_SPLICE_IN,	/* ->splice_write that does not use ->write_iter */
	IOT_VFS_COPY,		/* ->copy_file_range */
	IOT_VFS_REMAP,		/* ->remap_file_range */
	IOT_VFS_FSYNC,		/* ->fsync, for category block, too */
	IOT_VFS_FALLOCATE,	/* ->fallocate */
	IOT_VFS_SETATTR,	/* ->setattr of the inode */
	IOT_VFS_IOCTL,		/* ->unlocked_ioctl of a block device */
	IOT_VFS_IOCTL_COMPAT,	/* ->compat_ioctl of a block device */
	IOT_VFS_OPS
};

extern const struct iot_hook_type iot_vfs_iter_types[2];
extern const struct iot_hook_type iot_vfs_generic_types[2];
extern const struct iot_hook_type iot_vfs_range_types[IOT_VFS_FSYNC - IOT_VFS_SPLICE];
extern const struct iot_hook_type iot_vfs_other_types[IOT_VFS_OPS - IOT_VFS_FSYNC];

/*
 * Calls with one of these flags, IOCB_*, are tracked while they last: direct ones and, while a
 * target of `add -a` runs, O_SYNC writes.
 */
extern int iot_vfs_tracked_flags;

/* vfs_iter.c */
void iot_vfs_init(void);
bool iot_vfs_is_uring(const struct kiocb *iocb);

/* vfs_other.c */
void *iot_vfs_setattr(const struct inode *inode);
unsigned long iot_vfs_unsure(void);

/** iot_vfs_is_entry_of() - check whether @ip is the ftrace entry site of @func, or its start */
static __always_inline bool iot_vfs_is_entry_of(unsigned long ip, const void *func)
{
	return ip - (unsigned long)func <= IOT_ENTRY_SKIP;
}

#endif /* IOT_VFS_TYPES_H */
