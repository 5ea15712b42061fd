// SPDX-License-Identifier: GPL-2.0
/*
 * Extended attributes by io_uring. No function that io_uring shares with the system calls covers
 * the whole call, so the functions of the requests themselves are hooked. The arguments of a
 * request are in a struct that no header declares; its layout is taken from the kernel's BTF.
 * Without BTF such requests are missed.
 *
 * Contexts: a worker of io_uring, as these requests always have one; a wrapper may sleep, a
 * kretprobe's handler may not.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_FS_CALLS /* left_out.h */
#include <linux/fcntl.h>
#include <linux/io_uring_types.h>
#include <linux/sched.h>
#include "compat/io_uring.h"
#include "probe/fs_frame.h"

static struct iot_uring_xattr at;

/** iot_uring_look() - find where requests for extended attributes keep arguments. May sleep */
void iot_uring_look(void)
{
	at = iot_uring_xattr_at();
}

static const void *member(const struct iot_frame *f, int offset)
{
	const struct io_kiocb *req = (const struct io_kiocb *)f->a[0];

	return (const char *)&req->cmd + offset;
}

static bool take_request(struct iot_frame *f)
{
	if (at.name < 0 || at.size < 0 || at.flags < 0) {
		iot_fs_count_missed();
		return false;
	}
	f->e.requested = *(const size_t *)member(f, at.size);
	if (f->call->op == IOT_FS_SETXATTR)
		f->e.flags = *(const u32 *)member(f, at.flags) & ~IOT_CALL_COMMON;
	return true;
}

/* io_setxattr(request, flags), io_getxattr() */
bool iot_uring_begin_xattr(struct iot_frame *f)
{
	return take_request(f) &&
	       (!iot_name_take(f, &f->name[0], AT_FDCWD, *(const u64 *)member(f, at.name)) ||
		iot_name_resolve(f, IOT_LOOKUP_FOLLOW, IOT_SEARCH_LOOKUP));
}

/* io_fsetxattr(request, flags), io_fgetxattr() */
bool iot_uring_begin_fxattr(struct iot_frame *f)
{
	const struct file *file = ((const struct io_kiocb *)f->a[0])->file;

	return take_request(f) && iot_fs_file(&f->e, &file->f_path, f->may_sleep);
}

/*
 * The result is in the request, which its caller completes after the call. A request that would
 * have to wait is made again by a worker.
 */
void iot_uring_end_xattr(struct iot_frame *f, s64 result)
{
	const struct io_kiocb *req = (const struct io_kiocb *)f->a[0];

	if (result != -EAGAIN)
		iot_fs_end(&f->e, req->cqe.res);
}

#endif /* IOT_WITHOUT_FS_CALLS */
