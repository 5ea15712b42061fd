// SPDX-License-Identifier: GPL-2.0
/*
 * What neither reads nor writes a target: ->fsync and ->fallocate of its file, and ->setattr of
 * its inode, which sets its size. Only targets of `add -a` have these hooks.
 *
 * Every way in arrives at these functions once: system calls, io_uring, libaio, msync(MS_SYNC),
 * madvise(MADV_REMOVE), open with O_TRUNC, the NFS server, a loop device on the file. What the
 * VFS refuses before them is not recorded, as with reads and writes.
 *
 * Contexts: handlers of kretprobes, in task context with preemption off.
 */
#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <uapi/linux/falloc.h>
#include "hook/hook.h"
#include "file/direct.h"
#include "record/io.h"
#include "probe/vfs_range.h"
#include "probe/vfs_types.h"

/** iot_vfs_setattr() - get the function that sets an inode's size. Context: any */
void *iot_vfs_setattr(const struct inode *inode)
{
	/* as notify_change() */
	return inode->i_op->setattr ?: simple_setattr;
}

/*
 * Is the ->fsync a part of another call? It ends an O_SYNC write. Where that was asynchronous
 * direct I/O, a worker does it (iomap_dio_complete_work(), dio_aio_complete_work()). What else a
 * worker syncs is the whole file: an fsync of libaio, a flush of a loop device.
 */
static bool is_part(u64 id, u64 end)
{
	return iot_direct_is_within(id) || ((current->flags & PF_WQ_WORKER) && end != LLONG_MAX);
}

/* ->fsync(file, first byte, last byte, datasync) */
static int fsync_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct iot_vfs_range *r = (struct iot_vfs_range *)ri->data;
	const struct file *file = (void *)regs_get_kernel_argument(regs, 0);
	u64 start = regs_get_kernel_argument(regs, 1);
	u64 end = regs_get_kernel_argument(regs, 2);
	bool datasync = (int)regs_get_kernel_argument(regs, 3);
	u64 id = iot_io_other_target(file_inode(file));
	bool part;

	if (!id || !iot_vfs_range_is_own(ri, file->f_op->fsync))
		return 1;
	part = is_part(id, end);
	iot_vfs_range_begin(ri, r, id, start, end == LLONG_MAX ? 0 : end - start + 1,
			    datasync ? IOT_OP_FDATASYNC : IOT_OP_FSYNC, 0);
	r->direct.inner = part;
	return 0;
}

/* Newer kernels have FALLOC_FL_WRITE_ZEROES. */
#define WRITE_ZEROES	0x80

/* One of the modes is set, or none. */
static u8 op_of_mode(int mode)
{
	if (mode & FALLOC_FL_PUNCH_HOLE)
		return IOT_OP_PUNCH_HOLE;
	if (mode & (FALLOC_FL_ZERO_RANGE | WRITE_ZEROES))
		return IOT_OP_ZERO_RANGE;
	if (mode & FALLOC_FL_COLLAPSE_RANGE)
		return IOT_OP_COLLAPSE_RANGE;
	if (mode & FALLOC_FL_INSERT_RANGE)
		return IOT_OP_INSERT_RANGE;
	if (mode & FALLOC_FL_UNSHARE_RANGE)
		return IOT_OP_UNSHARE_RANGE;
	return IOT_OP_ALLOCATE;
}

/* ->fallocate(file, mode, offset, length) */
static int fallocate_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct file *file = (void *)regs_get_kernel_argument(regs, 0);
	int mode = regs_get_kernel_argument(regs, 1);

	if (!iot_vfs_range_is_own(ri, file->f_op->fallocate))
		return 1;
	return !iot_vfs_range_begin(ri, (struct iot_vfs_range *)ri->data,
				    iot_io_other_target(file_inode(file)),
				    regs_get_kernel_argument(regs, 2),
				    regs_get_kernel_argument(regs, 3), op_of_mode(mode),
				    mode & FALLOC_FL_KEEP_SIZE ? IOT_IO_KEEP_SIZE : 0);
}

/* ->setattr(idmap, dentry, attributes) */
static int setattr_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct inode *inode = d_inode((struct dentry *)regs_get_kernel_argument(regs, 1));
	const struct iattr *attr = (void *)regs_get_kernel_argument(regs, 2);

	if (!(attr->ia_valid & ATTR_SIZE) || !iot_vfs_range_is_own(ri, iot_vfs_setattr(inode)))
		return 1;
	return !iot_vfs_range_begin(ri, (struct iot_vfs_range *)ri->data,
				    iot_io_other_target(inode), attr->ia_size, 0,
				    IOT_OP_TRUNCATE, 0);
}

/* The functions return an int, ->fallocate a long that is one. */
static int probe_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	iot_vfs_range_end((struct iot_vfs_range *)ri->data, (int)regs_return_value(regs), true);
	return 0;
}

#define OTHER(function, handler)				\
	{							\
		.name = function,				\
		.entry = handler, .exit = probe_exit,		\
		.forget = iot_direct_forget,			\
		.data_size = sizeof(struct iot_vfs_range),	\
	}

/* Indexed by operation, from IOT_VFS_FSYNC on. */
const struct iot_hook_type iot_vfs_other_types[IOT_VFS_OPS - IOT_VFS_FSYNC] = {
	[IOT_VFS_FSYNC - IOT_VFS_FSYNC] = OTHER("fsync", fsync_entry),
	[IOT_VFS_FALLOCATE - IOT_VFS_FSYNC] = OTHER("fallocate", fallocate_entry),
	[IOT_VFS_SETATTR - IOT_VFS_FSYNC] = OTHER("setattr", setattr_entry),
};
