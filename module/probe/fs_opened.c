// SPDX-License-Identifier: GPL-2.0
/*
 * The open files that the kernel uses for itself (fs_kernel.c): their RELEASE has the flag KERNEL.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_FS_CALLS /* left_out.h */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include "core/table.h"
#include "file/paths.h"
#include "probe/fs_frame.h"

/**
 * struct opened - an open file whose RELEASE has the flag KERNEL, by the address of its struct file
 * @time:	when it was opened, CLOCK_MONOTONIC ns
 * @uid:	effective user that opened it, in the kernel's view
 * @pid:	process that opened it
 *
 * It ends with its RELEASE. One that is displaced has a RELEASE without the flag.
 */
struct opened {
	u64 time;
	u32 uid;
	u32 pid;
};

#define OPENED_BITS	9

IOT_TABLE_STORE(opened, struct opened, OPENED_BITS);
static struct iot_table opened = {
	IOT_TABLE_OF(struct opened, time, uid, pid),
	IOT_TABLE_STORED(opened, OPENED_BITS),
};

/**
 * iot_kernel_note_opened() - note a file that the kernel has opened for itself
 * @f:		of the call that opened it
 * @file:	the caller has it open, so no other one has its address
 *
 * Context: task.
 */
void iot_kernel_note_opened(const struct iot_frame *f, const struct file *file)
{
	struct opened *o;

	preempt_disable_notrace();
	o = iot_table_new(&opened, file);
	if (o) {
		o->time = f->e.time;
		o->uid = __kuid_val(current_euid());
		o->pid = current->tgid;
		iot_table_keep(o);
	}
	preempt_enable_notrace();
}

static bool take_opened(const struct file *file)
{
	struct opened *o;

	if (iot_table_is_empty(&opened))
		return false;
	preempt_disable_notrace();
	o = iot_table_take(&opened, file);
	if (o)
		iot_table_drop(&opened, o);
	preempt_enable_notrace();
	return o;
}

/** iot_kernel_forget() - forget all open files. Context: task, no probe is running */
void iot_kernel_forget(void)
{
	iot_table_clear(&opened);
}

/**
 * iot_kernel_release_flags() - get IOT_CALL_KERNEL if the kernel had a file for itself
 *
 * One that it has opened before the category was started is known by its mount only. Context:
 * __fput().
 */
u32 iot_kernel_release_flags(const struct file *file)
{
	bool own = take_opened(file) || (file->f_mode & FMODE_NOACCOUNT) ||
		   iot_paths_is_internal(file->f_path.mnt);

	return own ? IOT_CALL_KERNEL : 0;
}
#endif
