// SPDX-License-Identifier: GPL-2.0
/*
 * Operations on a target other than reads and writes: ->fsync and ->fallocate of its file,
 * ->setattr of its inode, which sets its size, and the ioctls that discard, erase and zero a range
 * of a block device. Targets of `add -a` use these hooks, and category block uses that of ->fsync.
 *
 * These functions are called once, whatever the source: system calls, io_uring, libaio,
 * msync(MS_SYNC), madvise(MADV_REMOVE), open with O_TRUNC, the NFS server, a loop device on the
 * file. Calls that the VFS refuses before are not recorded, as with reads and writes.
 *
 * Contexts: handlers of kretprobes, in task context with preemption off.
 */
#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <uapi/linux/falloc.h>
#include "hook/hook.h"
#include "file/direct.h"
#include "record/categories.h"
#include "record/io.h"
#include "record/wants.h"
#include "probe/vfs_range.h"
#include "probe/vfs_types.h"

/** iot_vfs_setattr() - get the function that sets an inode's size. Context: any */
void *iot_vfs_setattr(const struct inode *inode)
{
	/* as notify_change() */
	return inode->i_op->setattr ?: simple_setattr;
}

/* Begin a call, if it is for a target. Return: what the kretprobe's entry handler has to. */
static int begin(struct kretprobe_instance *ri, struct inode *inode, u64 offset, u64 len, u8 op)
{
	struct iot_vfs_range *r = (struct iot_vfs_range *)ri->data;
	u64 id = iot_io_other_target(inode);

	if (!id)
		return 1;
	iot_vfs_range_begin(ri, r, id, offset, len, op, 0);
	r->direct.sb = inode->i_sb;
	return 0;
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

/*
 * ->fsync(file, first byte, last byte, datasync), for a target, and for category block, which
 * names the file that a flush is for. Only flushes that the current task submits are for it.
 */
static int fsync_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct iot_vfs_range *r = (struct iot_vfs_range *)ri->data;
	const struct file *file = (void *)regs_get_kernel_argument(regs, 0);
	u64 start = regs_get_kernel_argument(regs, 1);
	u64 end = regs_get_kernel_argument(regs, 2);
	bool datasync = (int)regs_get_kernel_argument(regs, 3);
	u64 id = iot_io_other_target(file_inode(file));
	bool named = iot_category_wants(&iot_category_block, IOT_ANY_OP), part;

	if ((!id && !named) || !iot_vfs_range_is_own(ri, file->f_op->fsync))
		return 1;
	part = id && is_part(id, end);
	iot_vfs_range_begin(ri, r, id, start, end == LLONG_MAX ? 0 : end - start + 1,
			    datasync ? IOT_OP_FDATASYNC : IOT_OP_FSYNC, 0);
	r->direct.sb = file_inode(file)->i_sb;
	r->direct.file = file;
	r->direct.inner = part;
	if (named && !r->direct.tracked)
		iot_direct_miss_by_block();
	return 0;
}

/* Newer kernels have FALLOC_FL_WRITE_ZEROES. */
#define WRITE_ZEROES	0x80

/* One of the modes is set, or none; a hole never changes the size. */
static u8 op_of_mode(int mode)
{
	bool keep = mode & FALLOC_FL_KEEP_SIZE;

	if (mode & FALLOC_FL_PUNCH_HOLE)
		return IOT_OP_PUNCH_HOLE;
	if (mode & (FALLOC_FL_ZERO_RANGE | WRITE_ZEROES))
		return keep ? IOT_OP_ZERO_RANGE_KEEP_SIZE : IOT_OP_ZERO_RANGE;
	if (mode & FALLOC_FL_COLLAPSE_RANGE)
		return IOT_OP_COLLAPSE_RANGE;
	if (mode & FALLOC_FL_INSERT_RANGE)
		return IOT_OP_INSERT_RANGE;
	if (mode & FALLOC_FL_UNSHARE_RANGE)
		return IOT_OP_UNSHARE_RANGE;
	return keep ? IOT_OP_ALLOCATE_KEEP_SIZE : IOT_OP_ALLOCATE;
}

/* ->fallocate(file, mode, offset, length) */
static int fallocate_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct file *file = (void *)regs_get_kernel_argument(regs, 0);
	int mode = regs_get_kernel_argument(regs, 1);

	if (!iot_vfs_range_is_own(ri, file->f_op->fallocate))
		return 1;
	return begin(ri, file_inode(file), regs_get_kernel_argument(regs, 2),
		     regs_get_kernel_argument(regs, 3), op_of_mode(mode));
}

/* ->setattr(idmap, dentry, attributes) */
static int setattr_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct inode *inode = d_inode((struct dentry *)regs_get_kernel_argument(regs, 1));
	const struct iattr *attr = (void *)regs_get_kernel_argument(regs, 2);

	if (!(attr->ia_valid & ATTR_SIZE) || !iot_vfs_range_is_own(ri, iot_vfs_setattr(inode)))
		return 1;
	return begin(ri, inode, attr->ia_size, 0, IOT_OP_TRUNCATE);
}

/**
 * struct ioctl_call - a call whose range is in the program's memory
 * @r:		what all calls have
 * @user:	first byte and length
 * @range:	the same, as it was when the call began; not known if @unknown
 */
struct ioctl_call {
	struct iot_vfs_range r;
	const u64 __user *user;
	u64 range[2];
	bool unknown;
};

/* Calls whose range is not known for sure */
static atomic_long_t nr_unsure;

/** iot_vfs_unsure() - count the calls on devices that are not recorded for that reason */
unsigned long iot_vfs_unsure(void)
{
	return atomic_long_read(&nr_unsure);
}

/* Return: the operation, or IOT_OP_READ if the ioctl is another one. */
static u8 op_of_ioctl(unsigned int cmd)
{
	switch (cmd) {
	case BLKDISCARD:
		return IOT_OP_DISCARD;
	case BLKSECDISCARD:
		return IOT_OP_SECURE_ERASE;
	case BLKZEROOUT:
		return IOT_OP_WRITE_ZEROES;
	}
	return IOT_OP_READ;
}

static bool is_own_ioctl(struct kretprobe_instance *ri, const struct file_operations *fop)
{
	return iot_vfs_range_is_own(ri, fop->unlocked_ioctl) ||
	       iot_vfs_range_is_own(ri, fop->compat_ioctl);
}

/* ->unlocked_ioctl(file, command, address of the range) */
static int ioctl_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct file *file = (void *)regs_get_kernel_argument(regs, 0);
	u8 op = op_of_ioctl(regs_get_kernel_argument(regs, 1));
	struct ioctl_call *call = (struct ioctl_call *)ri->data;

	if (op == IOT_OP_READ || !is_own_ioctl(ri, file->f_op))
		return 1;
	call->user = (const u64 __user *)regs_get_kernel_argument(regs, 2);
	call->unknown = copy_from_user_nofault(call->range, call->user, sizeof(call->range));
	if (call->unknown)
		memset(call->range, 0, sizeof(call->range));
	return begin(ri, file_inode(file), call->range[0], call->range[1], op);
}

/* Is the range still the same? Otherwise the kernel may have read another one than we did. */
static bool is_unchanged(const struct ioctl_call *call)
{
	u64 again[ARRAY_SIZE(call->range)];

	return !call->unknown && !copy_from_user_nofault(again, call->user, sizeof(again)) &&
	       !memcmp(again, call->range, sizeof(again));
}

/* With -EFAULT there is no range. */
static int ioctl_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct ioctl_call *call = (struct ioctl_call *)ri->data;
	int result = regs_return_value(regs);
	bool sure = result == -EFAULT || is_unchanged(call);

	if (!sure)
		atomic_long_inc(&nr_unsure);
	iot_vfs_range_end(&call->r, result, sure);
	return 0;
}

/* The functions return an int, ->fallocate a long that is one. */
static int probe_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	iot_vfs_range_end((struct iot_vfs_range *)ri->data, (int)regs_return_value(regs), true);
	return 0;
}

#define OTHER(function, at_entry, at_exit, data)		\
	{							\
		.name = function,				\
		.entry = at_entry, .exit = at_exit,		\
		.forget = iot_direct_forget,			\
		.data_size = sizeof(struct data),		\
	}

/* Indexed by operation, from IOT_VFS_FSYNC on. */
const struct iot_hook_type iot_vfs_other_types[IOT_VFS_OPS - IOT_VFS_FSYNC] = {
	[IOT_VFS_FSYNC - IOT_VFS_FSYNC] =
		OTHER("fsync", fsync_entry, probe_exit, iot_vfs_range),
	[IOT_VFS_FALLOCATE - IOT_VFS_FSYNC] =
		OTHER("fallocate", fallocate_entry, probe_exit, iot_vfs_range),
	[IOT_VFS_SETATTR - IOT_VFS_FSYNC] =
		OTHER("setattr", setattr_entry, probe_exit, iot_vfs_range),
	[IOT_VFS_IOCTL - IOT_VFS_FSYNC] =
		OTHER("ioctl", ioctl_entry, ioctl_exit, ioctl_call),
	[IOT_VFS_IOCTL_COMPAT - IOT_VFS_FSYNC] =
		OTHER("compat_ioctl", ioctl_entry, ioctl_exit, ioctl_call),
};
