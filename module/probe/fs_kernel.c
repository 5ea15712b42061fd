// SPDX-License-Identifier: GPL-2.0
/*
 * Files that the kernel opens for itself: core dumps, acct(2), swapon(2), firmware, the NFS and SMB
 * servers, cachefiles, what overlayfs and eCryptfs open below them. Their OPEN, CREATE and RELEASE
 * have the flag KERNEL.
 *
 * So have files that the kernel opens for a call without an operation of its own: for fanotify's
 * events, mq_open(2), and ioctls that return a descriptor. Files that calls with an operation open
 * (open(2) and the like, exec, io_uring) are not seen here.
 *
 * Nothing is looked up: an open file has a path, and a file that could not be opened has the name
 * of the attempt.
 *
 * Contexts: task; a wrapper may sleep, a kretprobe's handler may not. __fput() may run in a thread
 * of the kernel.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_FS_CALLS /* left_out.h */
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "compat/compat.h"
#include "core/task.h"
#include "file/paths.h"
#include "probe/fs_frame.h"

/* All is known after the call. */
bool iot_kernel_begin_open(struct iot_frame *f)
{
	return true;
}

/* file_open_root(root, name, flags, mode): open_by_handle_at(2) passes no name, has an event */
bool iot_kernel_wants_name(const u64 *a)
{
	return *(const char *)a[1];
}

/* dentry_open(path, flags, cred): a descriptor by O_PATH is none of the kernel's, opens nothing */
bool iot_kernel_wants_open(const u64 *a)
{
	return !((u32)a[1] & O_PATH);
}

/* open_with_fake_path(path, flags, inode, cred): overlayfs passes a path that is not the inode's */
bool iot_kernel_wants_own_path(const u64 *a)
{
	const struct path *path = (const struct path *)a[0];

	return d_backing_inode(path->dentry) == (const struct inode *)a[2];
}

/* The name that could not be opened: the kernel's own copy, valid until the call returns. */
static const char *name_of(const struct iot_frame *f)
{
	const struct filename *name;

	switch (f->call->opens) {
	case IOT_OPENS_TEXT:
		return (const char *)f->a[0];
	case IOT_OPENS_TEXT_AT:
		return (const char *)f->a[1];
	case IOT_OPENS_NAME:
		name = (const struct filename *)f->a[0];
		return IS_ERR_OR_NULL(name) ? NULL : name->name;
	}
	return NULL;
}

/* Record why nothing was opened. A path that a file server looked up before has no name here. */
static bool record_refused(struct iot_frame *f)
{
	const struct path *path = (const struct path *)f->a[0];
	const char *text;

	if (f->call->opens == IOT_OPENS_PATH)
		return iot_fs_file(&f->e, path, f->may_sleep);
	text = name_of(f);
	if (!text)
		return true;
	f->name[0].dfd = AT_FDCWD;
	f->name[0].text = f->may_sleep ? kstrdup(text, GFP_KERNEL) : NULL;
	if (f->name[0].text)
		iot_name_record(f, &f->name[0], false);
	else
		iot_fs_name(&f->e, text, strlen(text), false, f->may_sleep);
	return true;
}

void iot_kernel_end_open(struct iot_frame *f, s64 result)
{
	const struct file *file = (const struct file *)result;
	bool created = false, wanted;

	if (IS_ERR(file)) {
		wanted = record_refused(f);
	} else {
		created = f->call->op == IOT_FS_CREATE || (file->f_mode & FMODE_CREATED);
		wanted = iot_fs_file(&f->e, &file->f_path, f->may_sleep);
		iot_kernel_note_opened(f, file);
		result = 0;
	}
	f->e.op = created || f->call->op == IOT_FS_CREATE ? IOT_FS_CREATE : IOT_FS_OPEN;
	f->e.flags = iot_open_flags(f->e.flags & ~IOT_CALL_COMMON) | IOT_CALL_KERNEL;
	f->e.flags2 = f->e.op == IOT_FS_CREATE ? f->e.flags2 & 07777 : 0;
	if (wanted && iot_fs_wants_op(f->e.op))
		iot_fs_end(&f->e, result);
}

#endif /* IOT_WITHOUT_FS_CALLS */
