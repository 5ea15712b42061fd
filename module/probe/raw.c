// SPDX-License-Identifier: GPL-2.0
/*
 * READ and WRITE of category fs for files that have ->read and ->write: many files of
 * /proc and debugfs, and some devices. read(2), pread(2) and the like prefer these
 * functions to ->read_iter (vfs_read(), fs/read_write.c). They may sleep without bound,
 * so they are followed by kretprobes.
 *
 * Contexts: task; handlers may not sleep.
 */
#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/timekeeping.h>
#include "hook/hook.h"
#include "hook/kretprobe.h"
#include "hook/redirect.h"
#include "record/rw.h"
#include "probe/raw.h"

/**
 * struct raw_call - a call in progress, in the data of its kretprobe
 * @start:	CLOCK_MONOTONIC ns
 * @offset:	bytes
 * @requested:	bytes
 */
struct raw_call {
	struct iot_rw rw;
	u64 start;
	u64 offset;
	u64 requested;
	bool write;
};

/* A file's ->read may call the ->read of another file: only the file's own one counts. */
static bool is_own(const struct kretprobe_instance *ri, const struct file *file, bool write)
{
	unsigned long own = write ? (unsigned long)file->f_op->write :
				    (unsigned long)file->f_op->read;

	return (unsigned long)get_kretprobe((struct kretprobe_instance *)ri)->kp.addr - own <=
	       IOT_ENTRY_SKIP;
}

static bool is_wanted(const struct file *file, bool write)
{
	int ki_flags = file->f_flags & O_DIRECT ? IOCB_DIRECT : 0;

	return iot_rw_wants(file, write, &ki_flags);
}

/* ->read(file, buffer, count, position); ->write has the same arguments */
static int entry(struct kretprobe_instance *ri, struct pt_regs *regs, bool write)
{
	const struct file *file = (void *)regs_get_kernel_argument(regs, 0);
	const loff_t *position = (void *)regs_get_kernel_argument(regs, 3);
	struct raw_call *call = (struct raw_call *)ri->data;

	if (!is_own(ri, file, write) || !is_wanted(file, write))
		return 1;
	iot_rw_begin(&call->rw, file, false);
	if (!call->rw.wanted)
		return 1;
	call->offset = position ? *position : 0;
	call->requested = regs_get_kernel_argument(regs, 2);
	call->write = write;
	call->start = ktime_get_mono_fast_ns();
	return 0;
}

static int entry_read(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return entry(ri, regs, false);
}

static int entry_write(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return entry(ri, regs, true);
}

static int exit_call(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct raw_call *call = (struct raw_call *)ri->data;

	iot_rw_end(&call->rw, call->start, call->offset, call->requested,
		   (s64)regs_return_value(regs), call->write, 0);
	return 0;
}

static const struct iot_hook_type types[IOT_RAW_OPS] = {
	{ .name = "read", .entry = entry_read, .exit = exit_call,
	  .data_size = sizeof(struct raw_call) },
	{ .name = "write", .entry = entry_write, .exit = exit_call,
	  .data_size = sizeof(struct raw_call) },
};

/**
 * iot_raw_get() - take references to the hooks that @fop needs, without enabling them
 * @hooks:	zeroed by the caller
 *
 * Return: 0, or -ENOMEM with no reference held.
 */
int iot_raw_get(struct iot_raw_hooks *hooks, const struct file_operations *fop)
{
	void *func[IOT_RAW_OPS] = { fop->read, fop->write };
	unsigned int i;

	for (i = 0; i < IOT_RAW_OPS; i++) {
		if (!func[i])
			continue;
		hooks->hook[i] = iot_hook_get(&types[i], func[i], false);
		if (!hooks->hook[i]) {
			iot_raw_put(hooks);
			return -ENOMEM;
		}
	}
	return 0;
}

/** iot_raw_put() - drop the references that iot_raw_get() took */
void iot_raw_put(struct iot_raw_hooks *hooks)
{
	iot_hooks_put(hooks->hook, IOT_RAW_OPS);
}

/**
 * iot_raw_enable() - enable the hooks
 *
 * Context: task, may sleep for seconds. Return: 0, or an error with no hook
 * enabled.
 */
int iot_raw_enable(struct iot_raw_hooks *hooks)
{
	return iot_hooks_enable(hooks->hook, IOT_RAW_OPS);
}
