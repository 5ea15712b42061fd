/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a mount is mounted. The kernel's struct mount (fs/mount.h) is its own; it begins
 * with these fields, and struct vfsmount follows, since 3.13. Whether that is so in this
 * kernel is not taken on trust: iot_mount_is_known() looks at a mount of which it is known
 * what has to be there. Where it is not so, nothing is read by these.
 */
#ifndef IOT_COMPAT_MOUNT_H
#define IOT_COMPAT_MOUNT_H

#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/shmem_fs.h>
#include "compat/config.h"

struct iot_mount_head {
	struct hlist_node hash;
	struct iot_mount_head *parent;	/* itself: the mount is at the root */
	struct dentry *mountpoint;
};

static __always_inline const struct iot_mount_head *iot_mount_head(const struct vfsmount *mnt)
{
	return (const struct iot_mount_head *)mnt - 1;
}

/*
 * Go from a mount to its parent, @dentry to where it is mounted there. Under RCU, and only
 * if iot_mount_is_known(). Return: false: it has none.
 */
static __always_inline bool iot_mount_up(const struct vfsmount **mnt,
					 const struct dentry **dentry)
{
	const struct iot_mount_head *head = iot_mount_head(*mnt);
	const struct iot_mount_head *parent = READ_ONCE(head->parent);

	if (parent == head)
		return false;
	*dentry = READ_ONCE(head->mountpoint);
	*mnt = (const struct vfsmount *)(parent + 1);
	return true;
}

/* The kernel's own mount of tmpfs is its own parent, mounted on its root. May sleep */
static inline bool iot_mount_is_known(void)
{
#ifdef IOT_HAVE_SHMEM_VMA_FLAGS
	struct file *file = shmem_file_setup("iotracer", 0, EMPTY_VMA_FLAGS);
#else
	struct file *file = shmem_file_setup("iotracer", 0, 0);
#endif
	const struct iot_mount_head *head;
	bool known;

	if (IS_ERR(file))
		return false;
	head = iot_mount_head(file->f_path.mnt);
	known = head->parent == head && head->mountpoint == file->f_path.mnt->mnt_root;
	fput(file);
	return known;
}

#endif /* IOT_COMPAT_MOUNT_H */
