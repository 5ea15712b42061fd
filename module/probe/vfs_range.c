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
#include "file/direct.h"
#include "record/io.h"
#include "probe/vfs_types.h"

/**
 * struct end - one end of a call in progress
 * @direct:	what other probes look up during the call; its id is 0 if this end is no
 *		target
 * @start:	CLOCK_MONOTONIC ns
 * @requested:	bytes
 * @op:		IOT_OP_*
 * @flags:	IOT_IO_*
 */
struct end {
	struct iot_direct direct;
	u64 start;
	u64 requested;
	u8 op;
	u16 flags;
};

/* Copy and clone move a range from one file to another. Splice has one end only, in @in. */
struct range_call {
	struct end in;
	struct end out;
};

/*
 * Is the hooked function the file's own? It may call the function of another filesystem, but a
 * call must be recorded only once.
 */
static bool is_own_range(struct kretprobe_instance *ri, const void *func)
{
	return iot_vfs_is_entry_of((unsigned long)get_kretprobe(ri)->kp.addr, func);
}

static bool range_begin(struct kretprobe_instance *ri, struct end *r,
			struct file *file, u64 offset, u64 len, u8 op, u16 flags)
{
	u64 id = iot_io_target(file_inode(file));

	memset(r, 0, sizeof(*r));
	if (!id)
		return false;
	r->direct.id = id;
	r->direct.offset = offset;
	r->direct.range = true;
	r->requested = len;
	r->op = op;
	r->flags = flags;
	r->start = ktime_get_mono_fast_ns();
	iot_direct_begin(&r->direct);
	iot_direct_own(&r->direct, get_kretprobe(ri));
	return true;
}

static void range_end(struct end *r, s64 result, bool wanted)
{
	if (!r->direct.id)
		return;
	iot_direct_end(&r->direct);
	if (wanted && !r->direct.inner)
		iot_io_record(r->direct.id, r->start, r->direct.offset, r->requested, result,
			      r->op, r->flags);
}

static int splice_probe_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct range_call *call = (struct range_call *)ri->data;
	struct file *in = (void *)regs_get_kernel_argument(regs, 0);
	loff_t *ppos = (void *)regs_get_kernel_argument(regs, 1);

	call->out.direct.id = 0;
	if (!is_own_range(ri, in->f_op->splice_read))
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
	if (!is_own_range(ri, out->f_op->splice_write))
		return 1;
	return !range_begin(ri, &call->in, out, *ppos,
			    regs_get_kernel_argument(regs, 3), IOT_OP_WRITE,
			    IOT_IO_SPLICE);
}

static int splice_probe_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct range_call *call = (struct range_call *)ri->data;

	range_end(&call->in, (s64)regs_return_value(regs), true);
	return 0;
}

static int pair_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct range_call *call = (struct range_call *)ri->data;
	struct file *in = (void *)regs_get_kernel_argument(regs, 0);
	struct file *out = (void *)regs_get_kernel_argument(regs, 2);
	u64 len = regs_get_kernel_argument(regs, 4);
	bool traced;

	traced = range_begin(ri, &call->in, in, regs_get_kernel_argument(regs, 1),
			     len, IOT_OP_READ, IOT_IO_CLONE);
	traced |= range_begin(ri, &call->out, out, regs_get_kernel_argument(regs, 3),
			      len, IOT_OP_WRITE, IOT_IO_CLONE);
	return !traced;
}

/* The hook is that of the file written to: vfs_copy_file_range(), fs/read_write.c. */
static int copy_probe_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct file *out = (void *)regs_get_kernel_argument(regs, 2);

	return is_own_range(ri, out->f_op->copy_file_range) ? pair_entry(ri, regs) : 1;
}

/* After -EOPNOTSUPP and -EXDEV vfs_copy_file_range() falls back to splicing, which is recorded. */
static int copy_probe_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct range_call *call = (struct range_call *)ri->data;
	s64 ret = regs_return_value(regs);
	bool wanted = ret != -EOPNOTSUPP && ret != -EXDEV;

	range_end(&call->in, ret, wanted);
	range_end(&call->out, ret, wanted);
	return 0;
}

/*
 * The hook is that of the file read: vfs_clone_file_range(), fs/remap_range.c.
 * Deduplication only compares, and moves nothing.
 */
static int remap_probe_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct file *in = (void *)regs_get_kernel_argument(regs, 0);

	if ((regs_get_kernel_argument(regs, 5) & REMAP_FILE_DEDUP) ||
	    !is_own_range(ri, in->f_op->remap_file_range))
		return 1;
	return pair_entry(ri, regs);
}

/* A clone that fails is not recorded: the caller then tries a copy or transfers nothing. */
static int remap_probe_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct range_call *call = (struct range_call *)ri->data;
	s64 ret = regs_return_value(regs);

	range_end(&call->in, ret, ret > 0);
	range_end(&call->out, ret, ret > 0);
	return 0;
}

/* Indexed by operation, from IOT_VFS_SPLICE on. */
const struct iot_hook_type iot_vfs_range_types[IOT_VFS_OPS - IOT_VFS_SPLICE] = {
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
