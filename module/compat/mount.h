/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a mount is mounted. struct mount (fs/mount.h) is private to the kernel. Since 3.13
 * it begins with the fields of struct iot_mount_head, and struct vfsmount follows.
 * iot_mount_is_known() checks this for the running kernel, on a mount whose fields are known
 * in advance. If the check fails, none of these fields is read.
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
#include "core/btf.h"

struct iot_mount_head {
	struct hlist_node hash;
	struct iot_mount_head *parent;	/* the mount itself if it has no parent */
	struct dentry *mountpoint;
};

static __always_inline const struct iot_mount_head *iot_mount_head(const struct vfsmount *mnt)
{
	return (const struct iot_mount_head *)mnt - 1;
}

/*
 * Step from a mount to its parent. @dentry becomes the mountpoint in the parent.
 * Context: under RCU, and only if iot_mount_is_known(). Return: false if there is no parent.
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

/*
 * Where a mount keeps its namespace, in bytes from struct iot_mount_head, or an error. Only the
 * kernel's BTF has that. Context: task, may sleep.
 */
static inline int iot_mount_namespace_at(void)
{
	return iot_btf_member("mount", "mnt_ns", "struct mnt_namespace *");
}

/*
 * The namespace of a mount; NULL if it has none, an error if it is one of the kernel's own
 * (MNT_NS_INTERNAL). It may be freed at any time. @at: from iot_mount_namespace_at(), no error
 */
static inline const void *iot_mount_namespace(const struct vfsmount *mnt, int at)
{
	return READ_ONCE(*(const void * const *)((const char *)iot_mount_head(mnt) + at));
}

/*
 * Check the layout of struct mount on the kernel's internal mount of tmpfs, which is its own
 * parent and mounted on its own root. May sleep.
 */
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
