/* SPDX-License-Identifier: GPL-2.0 */
/* What kind of filesystem a superblock is. */
#ifndef IOT_SB_H
#define IOT_SB_H

#include <linux/fs.h>
#include <linux/magic.h>

/**
 * iot_sb_sleeps_bounded() - check whether calls on a filesystem sleep for a bounded time
 *
 * A wrapper on a task's stack delays unloading for as long as the call sleeps. Calls on
 * other filesystems may wait for userspace or for a server. Context: any.
 */
static inline bool iot_sb_sleeps_bounded(const struct super_block *sb)
{
	if (sb->s_magic == FUSE_SUPER_MAGIC)
		return false;
	return (sb->s_type->fs_flags & FS_REQUIRES_DEV) ||
	       sb->s_magic == TMPFS_MAGIC || sb->s_magic == RAMFS_MAGIC;
}

#endif /* IOT_SB_H */
