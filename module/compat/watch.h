/* SPDX-License-Identifier: GPL-2.0 */
/* What watching names needs of the kernel: marks of fsnotify, and look-ups of one name. */
#ifndef IOT_COMPAT_WATCH_H
#define IOT_COMPAT_WATCH_H

#include <linux/fs.h>
#include <linux/fsnotify_backend.h>
#include <linux/namei.h>
#include "compat/config.h"

#ifndef IOT_HAVE_PATH_LOOKUP_DECLARED
/* exported, but declared in fs/internal.h */
int vfs_path_lookup(struct dentry *dentry, struct vfsmount *mnt, const char *name,
		    unsigned int flags, struct path *path);
#endif

#ifdef IOT_HAVE_FSNOTIFY_GROUPS
static inline struct fsnotify_mark *iot_find_mark(struct inode *inode,
						  struct fsnotify_group *group)
{
#ifdef IOT_HAVE_FSNOTIFY_FIND_OBJECT
	return fsnotify_find_mark(inode, FSNOTIFY_OBJ_TYPE_INODE, group);
#else
	return fsnotify_find_mark(&inode->i_fsnotify_marks, group);
#endif
}
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
