/* 4609e1f18e19 ("fs: port ->permission() to pass mnt_idmap"), 6.3 */
#include <linux/fs.h>
#include <linux/mount.h>
int iot_test(struct vfsmount *mnt, struct inode *inode)
{
	return inode_permission(mnt_idmap(mnt), inode, MAY_READ);
}
