/* SPDX-License-Identifier: GPL-2.0 */
/* What kernels call differently in io_uring; see compat.h. */
#ifndef IOT_COMPAT_IO_URING_H
#define IOT_COMPAT_IO_URING_H

#include <linux/fs.h>
#include <linux/io_uring_types.h>
#include <linux/sched.h>
#include <trace/events/io_uring.h>
#include "compat/config.h"

/* Flags that not every kernel has. */
#ifndef IORING_SETUP_NO_SQARRAY
#define IORING_SETUP_NO_SQARRAY		0
#endif

/* The tracepoint of a request that has been taken from the ring. */
#ifdef IOT_HAVE_IO_URING_SUBMIT_REQ
#define IOT_URING_SUBMIT_POINT	"io_uring_submit_req"
#define iot_uring_submitted(name) name(void *data, struct io_kiocb *req)
#define iot_uring_check_submit	check_trace_callback_type_io_uring_submit_req
#else
#define IOT_URING_SUBMIT_POINT	"io_uring_submit_sqe"
#define iot_uring_submitted(name) name(void *data, struct io_kiocb *req, bool force_nonblock)
#define iot_uring_check_submit	check_trace_callback_type_io_uring_submit_sqe
#endif

/*
 * A ring that the task has registered under a number, NULL where that cannot be known.
 * Context: the task; good as long as it does not unregister it.
 */
static inline struct file *iot_uring_registered(unsigned int n)
{
#ifdef IOT_HAVE_IO_URING_REGISTERED_RINGS
	const struct io_uring_task *task = current->io_uring;

	if (task && n < ARRAY_SIZE(task->registered_rings))
		return task->registered_rings[n];
#endif
	return NULL;
}

/* The file in a place of a ring's table. Context: the lock of the ring is held */
static inline struct file *iot_uring_fixed_file(const struct io_ring_ctx *ctx, unsigned int n)
{
	/* flags in the lowest bits: FFS_MASK, io_uring/filetable.h */
	return n < ctx->nr_user_files ?
	       (struct file *)(ctx->file_table.files[n].file_ptr & ~7UL) : NULL;
}

#endif /* IOT_COMPAT_IO_URING_H */
