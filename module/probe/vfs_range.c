// SPDX-License-Identifier: GPL-2.0
/*
 * Splice, copy and clone of targets. They may bypass ->read_iter and ->write_iter, so
 * ->splice_read, ->splice_write, ->copy_file_range and ->remap_file_range have hooks of
 * their own where the filesystem has these operations.
 *
 * Contexts: handlers of kretprobes, in task context with preemption off.
 */
#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include "hook/hook.h"
#include "record/io.h"
#include "probe/vfs_range.h"
#include "probe/vfs_types.h"

/* Copy and clone move a range from one file to another. Splice has one end only, in @in. */
struct range_call {
	struct iot_vfs_range in;
	struct iot_vfs_range out;
};

/**
 * iot_vfs_range_is_own() - check whether the function that a kretprobe is on is the file's own
 * @func:	the file's own function
 *
 * The function of one filesystem may call that of another, but a call must be recorded only once.
 */
bool iot_vfs_range_is_own(struct kretprobe_instance *ri, const void *func)
{
	return iot_vfs_is_entry_of((unsigned long)get_kretprobe(ri)->kp.addr, func);
}

/**
 * iot_vfs_range_begin() - begin a call, which other probes can look up until it ends
 * @r:		in the kretprobe's data
 * @id:		of the target, or 0 if the call is not to be recorded
 * @op:		IOT_OP_*
 *
 * Context: the kretprobe's entry handler.
 */
void iot_vfs_range_begin(struct kretprobe_instance *ri, struct iot_vfs_range *r, u64 id,
			 u64 offset, u64 len, u8 op, u16 flags)
{
	memset(r, 0, sizeof(*r));
	r->direct.id = id;
	r->direct.offset = offset;
	r->direct.op = op;
	r->direct.range = op <= IOT_OP_WRITE;
	r->requested = len;
	r->flags = flags;
	r->start = ktime_get_mono_fast_ns();
	iot_direct_begin(&r->direct);
	iot_direct_own(&r->direct, get_kretprobe(ri));
}

/**
 * iot_vfs_range_end() - end a call and record it
 * @r:		after iot_vfs_range_begin(), or zero
 * @wanted:	if false, or if a part of the call was recorded instead, it is not recorded
 *
 * Context: the kretprobe's exit handler.
 */
void iot_vfs_range_end(struct iot_vfs_range *r, s64 result, bool wanted)
{
	iot_direct_end(&r->direct);
	if (r->direct.id && wanted && !r->direct.inner)
		iot_io_record(r->direct.id, r->start, r->direct.offset, r->requested, result,
			      r->direct.op, r->flags);
}

static bool range_begin(struct kretprobe_instance *ri, struct iot_vfs_range *r,
			struct file *file, u64 offset, u64 len, u8 op, u16 flags)
{
	u64 id = iot_io_target(file_inode(file));

	if (id)
		iot_vfs_range_begin(ri, r, id, offset, len, op, flags);
	else
		memset(r, 0, sizeof(*r));
	return id;
}

static int splice_probe_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct range_call *call = (struct range_call *)ri->data;
	struct file *in = (void *)regs_get_kernel_argument(regs, 0);
	loff_t *ppos = (void *)regs_get_kernel_argument(regs, 1);

	call->out.direct.id = 0;
	if (!iot_vfs_range_is_own(ri, in->f_op->splice_read))
		return 1;
	return !range_begin(ri, &call->in, in, *ppos,
			    regs_get_kernel_argument(regs, 3), IOT_OP_READ,
			    IOT_IO_SPLICE);
}

static int splice_in_probe_entry(struct kretprobe_instance *ri,
				 struct pt_regs *regs)
{
	struct range_call *call = (struct range_call *)ri->data;
	struct file *out = (void *)regs_get_kernel_argument(regs, 1);
	loff_t *ppos = (void *)regs_get_kernel_argument(regs, 2);

	call->out.direct.id = 0;
	if (!iot_vfs_range_is_own(ri, out->f_op->splice_write))
		return 1;
	return !range_begin(ri, &call->in, out, *ppos,
			    regs_get_kernel_argument(regs, 3), IOT_OP_WRITE,
			    IOT_IO_SPLICE);
}

static int splice_probe_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct range_call *call = (struct range_call *)ri->data;

	iot_vfs_range_end(&call->in, (s64)regs_return_value(regs), true);
	return 0;
}

/* @op_out: IOT_OP_* of the second file; the first one is read */
static int pair_entry(struct kretprobe_instance *ri, struct pt_regs *regs, u8 op_out, u16 flags)
{
	struct range_call *call = (struct range_call *)ri->data;
	struct file *in = (void *)regs_get_kernel_argument(regs, 0);
	struct file *out = (void *)regs_get_kernel_argument(regs, 2);
	u64 len = regs_get_kernel_argument(regs, 4);
	bool traced;

	traced = range_begin(ri, &call->in, in, regs_get_kernel_argument(regs, 1),
			     len, IOT_OP_READ, flags);
	traced |= range_begin(ri, &call->out, out, regs_get_kernel_argument(regs, 3),
			      len, op_out, flags);
	return !traced;
}

/* The hook is that of the file written to: vfs_copy_file_range(), fs/read_write.c. */
static int copy_probe_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct file *out = (void *)regs_get_kernel_argument(regs, 2);

	return iot_vfs_range_is_own(ri, out->f_op->copy_file_range) ?
	       pair_entry(ri, regs, IOT_OP_WRITE, IOT_IO_CLONE) : 1;
}

/* After -EOPNOTSUPP and -EXDEV vfs_copy_file_range() falls back to splicing, which is recorded. */
static int copy_probe_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct range_call *call = (struct range_call *)ri->data;
	s64 ret = regs_return_value(regs);
	bool wanted = ret != -EOPNOTSUPP && ret != -EXDEV;

	iot_vfs_range_end(&call->in, ret, wanted);
	iot_vfs_range_end(&call->out, ret, wanted);
	return 0;
}

/*
 * The hook is that of the file read: vfs_clone_file_range(), fs/remap_range.c. Deduplication
 * moves nothing: the kernel reads both ranges and compares them.
 */
static int remap_probe_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct file *in = (void *)regs_get_kernel_argument(regs, 0);

	if (!iot_vfs_range_is_own(ri, in->f_op->remap_file_range))
		return 1;
	if (regs_get_kernel_argument(regs, 5) & REMAP_FILE_DEDUP)
		return pair_entry(ri, regs, IOT_OP_READ, IOT_IO_KERNEL);
	return pair_entry(ri, regs, IOT_OP_WRITE, IOT_IO_CLONE);
}

/*
 * A clone that fails is not recorded: the caller then tries a copy or transfers nothing. What is
 * compared and differs has been read, up to there.
 */
static int remap_probe_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct range_call *call = (struct range_call *)ri->data;
	s64 ret = regs_return_value(regs);
	bool wanted = ret > 0 || ret == -EBADE;

	iot_vfs_range_end(&call->in, ret, wanted);
	iot_vfs_range_end(&call->out, ret, wanted);
	return 0;
}

/* Indexed by operation, from IOT_VFS_SPLICE on. */
const struct iot_hook_type iot_vfs_range_types[IOT_VFS_FSYNC - IOT_VFS_SPLICE] = {
	[IOT_VFS_SPLICE - IOT_VFS_SPLICE] = {
		.name = "splice_read",
		.entry = splice_probe_entry, .exit = splice_probe_exit,
		.forget = iot_direct_forget,
		.data_size = sizeof(struct range_call),
	},
	[IOT_VFS_SPLICE_IN - IOT_VFS_SPLICE] = {
		.name = "splice_write",
		.entry = splice_in_probe_entry, .exit = splice_probe_exit,
		.forget = iot_direct_forget,
		.data_size = sizeof(struct range_call),
	},
	[IOT_VFS_COPY - IOT_VFS_SPLICE] = {
		.name = "copy_file_range",
		.entry = copy_probe_entry, .exit = copy_probe_exit,
		.forget = iot_direct_forget,
		.data_size = sizeof(struct range_call),
	},
	[IOT_VFS_REMAP - IOT_VFS_SPLICE] = {
		.name = "remap_file_range",
		.entry = remap_probe_entry, .exit = remap_probe_exit,
		.forget = iot_direct_forget,
		.data_size = sizeof(struct range_call),
	},
};
