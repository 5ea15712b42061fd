/* SPDX-License-Identifier: GPL-2.0 */
/* What watching names needs of the kernel: functions that change them, and look-ups of one name. */
#ifndef IOT_COMPAT_WATCH_H
#define IOT_COMPAT_WATCH_H

#include <linux/fs.h>
#include <linux/namei.h>
#include "compat/config.h"

#ifndef IOT_HAVE_PATH_LOOKUP_DECLARED
/* exported, but declared in fs/internal.h */
int vfs_path_lookup(struct dentry *dentry, struct vfsmount *mnt, const char *name,
		    unsigned int flags, struct path *path);
#endif

/* Which argument of vfs_create() is the dentry, from 0 on. */
#ifdef IOT_HAVE_VFS_CREATE_DENTRY
#define IOT_VFS_CREATE_ARG	1
#define IOT_VFS_CREATE_PROTO	"int (_, struct dentry *, ...)"
#else
#define IOT_VFS_CREATE_ARG	2
#define IOT_VFS_CREATE_PROTO	"int (_, struct inode *, struct dentry *, ...)"
#endif

/* Check whether current may read a file, whatever the mount. */
static inline int iot_inode_readable(struct inode *inode)
{
#ifdef IOT_HAVE_INODE_PERMISSION_IDMAP
	return inode_permission(&nop_mnt_idmap, inode, MAY_READ);
#else
	return inode_permission(&init_user_ns, inode, MAY_READ);
#endif
}

#endif /* IOT_COMPAT_WATCH_H */
