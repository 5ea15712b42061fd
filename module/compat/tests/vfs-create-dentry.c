/* vfs_create() does not take the directory, 7.x */
#include <linux/fs.h>
int iot_test(struct mnt_idmap *m, struct dentry *d, struct delegated_inode *g)
{
	return vfs_create(m, d, 0, g);
}
