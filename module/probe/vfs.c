// SPDX-License-Identifier: GPL-2.0
/*
 * The hooks of a filesystem's reads and writes, which its targets and category fs share, and of
 * the other operations of targets.
 */
#include <linux/fs.h>
#include <linux/mutex.h>
#include "compat/compat.h"
#include "hook/hook.h"
#include "file/sb.h"
#include "probe/vfs.h"

static const struct iot_hook_type *type_of(int op, void *func)
{
	if (op >= IOT_VFS_FSYNC)
		return &iot_vfs_other_types[op - IOT_VFS_FSYNC];
	if (op >= IOT_VFS_SPLICE)
		return &iot_vfs_range_types[op - IOT_VFS_SPLICE];
	if (func == generic_file_read_iter || func == generic_file_write_iter)
		return &iot_vfs_generic_types[op];
	return &iot_vfs_iter_types[op];
}

static int get_hooks(struct iot_vfs_hooks *hooks, void *func[IOT_VFS_OPS], bool bounded)
{
	int i;

	for (i = 0; i < IOT_VFS_OPS; i++) {
		if (!func[i])
			continue;
		hooks->hook[i] = iot_hook_get(type_of(i, func[i]), func[i], bounded);
		if (!hooks->hook[i]) {
			iot_vfs_put(hooks);
			return -ENOMEM;
		}
	}
	return 0;
}

/**
 * iot_vfs_get_rw() - get the hooks of reads and writes only, without enabling them
 * @hooks:	zeroed
 * @fop:	file_operations of any kind of file
 * @bounded:	calls sleep for a bounded time
 */
int iot_vfs_get_rw(struct iot_vfs_hooks *hooks, const struct file_operations *fop,
		   bool bounded)
{
	void *func[IOT_VFS_OPS] = {
		[IOT_VFS_READ] = fop->read_iter,
		[IOT_VFS_WRITE] = fop->write_iter,
	};

	return get_hooks(hooks, func, bounded);
}

/**
 * iot_vfs_get() - get the hooks that a file needs, without enabling them
 * @hooks:	zeroed
 * @inode:	of the file
 *
 * Return: 0, -ENOMEM, or -EOPNOTSUPP if reads and writes of the filesystem do not go
 * through ->read_iter and ->write_iter.
 */
int iot_vfs_get(struct iot_vfs_hooks *hooks, struct inode *inode)
{
	const struct file_operations *fop = inode->i_fop;
	void *func[IOT_VFS_OPS] = {
		[IOT_VFS_READ] = fop->read_iter,
		[IOT_VFS_WRITE] = fop->write_iter,
		[IOT_VFS_SPLICE] = fop->splice_read,
		[IOT_VFS_SPLICE_IN] = fop->splice_write,
		[IOT_VFS_COPY] = fop->copy_file_range,
		[IOT_VFS_REMAP] = fop->remap_file_range,
	};
	int err;

	if (!func[IOT_VFS_READ])
		return -EOPNOTSUPP;
	if (func[IOT_VFS_SPLICE] == iot_splice_by_read_iter)
		func[IOT_VFS_SPLICE] = NULL;
	if (func[IOT_VFS_SPLICE_IN] == iter_file_splice_write)
		func[IOT_VFS_SPLICE_IN] = NULL;
	err = get_hooks(hooks, func, iot_sb_sleeps_bounded(inode->i_sb));
	if (err)
		return err;
	hooks->block = inode->i_sb->s_type->fs_flags & FS_REQUIRES_DEV;
	return 0;
}

/** iot_vfs_get_fsync() - get the hook of ->fsync, without enabling it. Return: NULL: no memory */
struct iot_hook *iot_vfs_get_fsync(const struct file_operations *fop)
{
	return iot_hook_get(type_of(IOT_VFS_FSYNC, fop->fsync), fop->fsync, false);
}

/**
 * iot_vfs_get_other() - get the hooks of all other operations of a file, without enabling them
 * @hooks:	zeroed
 * @inode:	of the file
 *
 * Return: 0 or -ENOMEM.
 */
int iot_vfs_get_other(struct iot_vfs_hooks *hooks, const struct inode *inode)
{
	const struct file_operations *fop = inode->i_fop;
	void *func[IOT_VFS_OPS] = {
		[IOT_VFS_FSYNC] = fop->fsync,
		[IOT_VFS_FALLOCATE] = fop->fallocate,
	};

	if (S_ISBLK(inode->i_mode)) {
		func[IOT_VFS_IOCTL] = fop->unlocked_ioctl;
		func[IOT_VFS_IOCTL_COMPAT] = fop->compat_ioctl;
	} else {
		func[IOT_VFS_SETATTR] = iot_vfs_setattr(inode);
	}
	return get_hooks(hooks, func, false);
}

void iot_vfs_put(struct iot_vfs_hooks *hooks)
{
	iot_hooks_put(hooks->hook, IOT_VFS_OPS);
}

/** iot_vfs_enable() - enable all hooks, or none and return an error */
int iot_vfs_enable(struct iot_vfs_hooks *hooks)
{
	return iot_hooks_enable(hooks->hook, IOT_VFS_OPS);
}

void iot_vfs_disable(struct iot_vfs_hooks *hooks)
{
	iot_hooks_disable(hooks->hook, IOT_VFS_OPS);
}

static unsigned int nr_other;	/* enabled sets of iot_vfs_get_other(), under other_lock */
static DEFINE_MUTEX(other_lock);

static void count_other(int n)
{
	mutex_lock(&other_lock);
	nr_other += n;
	WRITE_ONCE(iot_vfs_tracked_flags, IOCB_DIRECT | (nr_other ? IOCB_DSYNC : 0));
	mutex_unlock(&other_lock);
}

/**
 * iot_vfs_enable_other() - enable the hooks of iot_vfs_get_other()
 *
 * From now on O_SYNC writes are tracked: the ->fsync that they end with is a part of them.
 */
int iot_vfs_enable_other(struct iot_vfs_hooks *hooks)
{
	int err;

	count_other(1);
	err = iot_vfs_enable(hooks);
	if (err)
		count_other(-1);
	return err;
}

void iot_vfs_disable_other(struct iot_vfs_hooks *hooks)
{
	iot_vfs_disable(hooks);
	count_other(-1);
}

/** iot_vfs_missed() - count the calls of the filesystem that the hooks missed */
unsigned long iot_vfs_missed(const struct iot_vfs_hooks *hooks)
{
	unsigned long missed = 0;
	int i;

	for (i = 0; i < IOT_VFS_OPS; i++)
		if (hooks->hook[i])
			missed += iot_hook_missed(hooks->hook[i]);
	return missed;
}
