/* SPDX-License-Identifier: GPL-2.0 */
/* Differences between kernels in io_uring; see compat.h. */
#ifndef IOT_COMPAT_IO_URING_H
#define IOT_COMPAT_IO_URING_H

#include <linux/file.h>
#include <linux/fs.h>
#include <linux/io_uring_types.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <trace/events/io_uring.h>
#include <uapi/linux/eventpoll.h>
#include "compat/config.h"
#include "core/btf.h"

#ifdef IOT_HAVE_IO_URING_SOCKOPT
#include <linux/io_uring/cmd.h>
#endif

/* The file of a struct fd, a word since 6.12. */
#ifndef fd_file
#define fd_file(f)	((f).file)
#endif

/* Flags that not every kernel has. */
#ifndef IORING_SETUP_NO_SQARRAY
#define IORING_SETUP_NO_SQARRAY		0
#endif

/*
 * Is a request that would block tried again, wherever it completed? So since 6.14, which also has
 * this feature. Before, only if the submitter itself completed it: io_rw_should_reissue() in
 * io_uring/rw.c.
 */
#ifdef IORING_FEAT_RW_ATTR
#define IOT_URING_RETRIES_ANYWHERE	true
#else
#define IOT_URING_RETRIES_ANYWHERE	false
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

/* Define the probe @name of the tracepoint of a cqe. It passes the cqe's fields to @complete. */
#ifdef IOT_HAVE_IO_URING_COMPLETE_CQE
#define iot_uring_completed(name, complete)						\
static void name(void *data, struct io_ring_ctx *ctx, void *req, struct io_uring_cqe *cqe)	\
{											\
	complete(ctx, req, READ_ONCE(cqe->user_data), READ_ONCE(cqe->res),		\
		 READ_ONCE(cqe->flags));						\
}
#else
#define iot_uring_completed(name, complete)						\
static void name(void *data, void *ctx, void *req, u64 user_data, int result,		\
		 unsigned int cflags, u64 extra1, u64 extra2)				\
{											\
	complete(ctx, req, user_data, result, cflags);					\
}
#endif

#ifdef IOT_HAVE_IO_URING_ASYNC_BOOL
#define iot_uring_queued(name) name(void *data, struct io_kiocb *req, bool hashed)
#else
#define iot_uring_queued(name) name(void *data, struct io_kiocb *req, int rw)
#endif

/*
 * The ring that the current task has registered at index @n, NULL if that is not known.
 * Context: the task. The result is valid until the task unregisters the ring.
 */
static inline struct file *iot_uring_registered(unsigned int n)
{
#ifdef IOT_HAVE_IO_URING_REGISTERED_RINGS
	const struct io_uring_task *task = current->io_uring;

	if (task && n < ARRAY_SIZE(task->registered_rings))
		return task->registered_rings[array_index_nospec(n,
						ARRAY_SIZE(task->registered_rings))];
#endif
	return NULL;
}

/*
 * The file in slot @n of a ring's file table, or NULL if it is not known; then the file is taken
 * from the request when it completes. @in_node: from iot_uring_file_in_node().
 * Context: the lock of the ring is held.
 */
static inline struct file *iot_uring_fixed_file(const struct io_ring_ctx *ctx, unsigned int n,
						int in_node)
{
	/* the lowest bits are flags: FFS_MASK, io_uring/filetable.h */
#if defined(IOT_HAVE_IO_URING_FILE_TABLE)
	if (n >= ctx->nr_user_files)
		return NULL;
	n = array_index_nospec(n, ctx->nr_user_files);
	return (struct file *)(ctx->file_table.files[n].file_ptr & ~7UL);
#elif defined(IOT_HAVE_IO_URING_FILE_NODES)
	const struct io_rsrc_data *data = &ctx->file_table.data;
	const char *node;

	if (in_node < 0 || n >= data->nr)
		return NULL;
	node = (const char *)data->nodes[array_index_nospec(n, data->nr)];
	return node ? (struct file *)(*(const unsigned long *)(node + in_node) & ~7UL) : NULL;
#else
	return NULL;
#endif
}

/*
 * Since 6.13 a slot is a node, struct io_rsrc_node of io_uring/rsrc.h. Only the kernel's BTF
 * has its layout. Context: task, may sleep. Return: the file's offset in the node in bytes, or
 * an error.
 */
static inline int iot_uring_file_in_node(void)
{
#ifdef IOT_HAVE_IO_URING_FILE_NODES
	return iot_btf_member("io_rsrc_node", "file_ptr", "long");
#else
	return -ENOENT;
#endif
}

/**
 * struct iot_uring_sockopt - a request for an option of a socket, as the sqe has it when it is read
 * @file:	the socket's
 * @value:	address of the value in the program
 * @length:	of the value or its buffer
 * @fd:		descriptor, or index in the ring's file table if @fixed
 * @may_retry:	a call that returns -EAGAIN is made again, by a worker
 */
struct iot_uring_sockopt {
	struct file *file;
	u64 value;
	s32 level;
	s32 option;
	s32 length;
	s32 fd;
	bool get;
	bool fixed;
	bool compat;
	bool may_retry;
};

/*
 * Read what io_uring_cmd_sock(cmd, issue_flags) is asked for. The sqe may be in memory that the
 * program can write to. Context: that of the call. Return: false if it is no option.
 */
static inline bool iot_uring_sockopt(const unsigned long *args, struct iot_uring_sockopt *o)
{
#ifdef IOT_HAVE_IO_URING_SOCKOPT
	struct io_uring_cmd *cmd = (struct io_uring_cmd *)args[0];
	const struct io_kiocb *req = cmd_to_io_kiocb(cmd);
	const struct io_uring_sqe *sqe = cmd->sqe;
	u32 issue_flags = args[1];

	if (cmd->cmd_op != SOCKET_URING_OP_GETSOCKOPT &&
	    cmd->cmd_op != SOCKET_URING_OP_SETSOCKOPT)
		return false;
	o->get = cmd->cmd_op == SOCKET_URING_OP_GETSOCKOPT;
	o->file = cmd->file;
	o->value = READ_ONCE(sqe->optval);
	o->level = READ_ONCE(sqe->level);
	o->option = READ_ONCE(sqe->optname);
	o->length = READ_ONCE(sqe->optlen);
	o->fd = req->cqe.fd;
	o->fixed = req->flags & REQ_F_FIXED_FILE;
	o->compat = issue_flags & IO_URING_F_COMPAT;
	o->may_retry = issue_flags & IO_URING_F_NONBLOCK;
	return true;
#else
	return false;
#endif
}

/*
 * Where a request for extended attributes keeps what it asks for, in bytes from its struct
 * io_cmd_data: struct io_xattr of io_uring/xattr.c. Less than 0: not known.
 */
struct iot_uring_xattr {
	int name;	/* a struct filename * */
	int size;	/* a size_t */
	int flags;	/* an unsigned int */
};

/* Context: task, may sleep. Only the kernel's BTF has these offsets. */
static inline struct iot_uring_xattr iot_uring_xattr_at(void)
{
	struct iot_uring_xattr at;
	int context = iot_btf_member("io_xattr", "ctx", "struct kernel_xattr_ctx");
	const char *type = context < 0 ? "xattr_ctx" : "kernel_xattr_ctx";

	if (context < 0) /* before 6.13 */
		context = iot_btf_member("io_xattr", "ctx", "struct xattr_ctx");
	at.name = iot_btf_member("io_xattr", "filename", "struct filename *");
	if (at.name < 0) /* since 7.0; a struct with the pointer alone */
		at.name = iot_btf_member("io_xattr", "filename", "struct delayed_filename");
	at.size = iot_btf_member(type, "size", "long");
	at.flags = iot_btf_member(type, "flags", "int");
	if (context < 0 || at.size < 0 || at.flags < 0)
		return (struct iot_uring_xattr){ -ENOENT, -ENOENT, -ENOENT };
	at.size += context;
	at.flags += context;
	return at;
}

/*
 * iot_uring_hold_rings() - try to keep ctx->rings, for readers without the lock of the ring
 *
 * Where rings can be resized (6.13), io_register_resize_rings() replaces them with both
 * the ring's uring_lock and its completion_lock held, and frees the old ones. Holding one
 * of the locks keeps them. Context: task. Preemption may be off, so this only tries.
 * Return: true if the rings stay until iot_uring_release_rings().
 */
#ifdef IOT_HAVE_IO_URING_RESIZE
static inline bool iot_uring_hold_rings(struct io_ring_ctx *ctx)
{
	if (!spin_trylock(&ctx->completion_lock))
		return false;
	if (ctx->rings)
		return true;
	spin_unlock(&ctx->completion_lock);
	return false;
}

static inline void iot_uring_release_rings(struct io_ring_ctx *ctx)
{
	spin_unlock(&ctx->completion_lock);
}
#else
static inline bool iot_uring_hold_rings(struct io_ring_ctx *ctx)
{
	return true;
}

static inline void iot_uring_release_rings(struct io_ring_ctx *ctx)
{
}
#endif

/*
 * The file offset that a read or write took from its sqe: struct io_rw of io_uring/rw.c
 * begins with the kiocb. Context: before the request is issued.
 */
static inline u64 iot_uring_offset(const struct io_kiocb *req)
{
	return ((const struct kiocb *)&req->cmd)->ki_pos;
}

/* What a request EPOLL_CTL has taken from its sqe: struct io_epoll, io_uring/epoll.c. */
struct iot_uring_epoll {
	struct file *file;
	int epfd;
	int op;
	int fd;
	struct epoll_event event;
};

static inline const struct iot_uring_epoll *iot_uring_epoll_of(const struct io_kiocb *req)
{
	return (const void *)&req->cmd;
}

#define iot_uring_epoll_has(member, type)					\
	(iot_btf_member("io_epoll", #member, type) ==				\
	 offsetof(struct iot_uring_epoll, member))

/* Is it as above? Without BTF it is taken to be. Context: task, may sleep. */
static inline bool iot_uring_epoll_fits(void)
{
	if (iot_btf_member("io_kiocb", "opcode", "char") < 0)
		return true;
	return iot_uring_epoll_has(epfd, "int") && iot_uring_epoll_has(op, "int") &&
	       iot_uring_epoll_has(fd, "int") && iot_uring_epoll_has(event, "struct epoll_event");
}

/* What a request CONNECT has taken from its sqe: struct io_connect, io_uring/net.c. */
struct iot_uring_connect {
	struct file *file;
	struct sockaddr __user *addr;
	int addr_len;
	bool in_progress;
};

static inline const struct iot_uring_connect *iot_uring_connect_of(const struct io_kiocb *req)
{
	return (const void *)&req->cmd;
}

#define iot_uring_connect_has(member, type)					\
	(iot_btf_member("io_connect", #member, type) ==				\
	 offsetof(struct iot_uring_connect, member))

/* Is it as above? Without BTF it is taken to be. Context: task, may sleep. */
static inline bool iot_uring_connect_fits(void)
{
	if (iot_btf_member("io_kiocb", "opcode", "char") < 0)
		return true;
	return iot_uring_connect_has(addr, "struct sockaddr *") &&
	       iot_uring_connect_has(addr_len, "int") &&
	       iot_uring_connect_has(in_progress, "char");
}

/*
 * The address of a request CONNECT in the kernel's memory, or NULL if it has not been copied there:
 * before 6.10, at the first attempt. Another thing than an address begins with no family.
 */
static inline const struct sockaddr_storage *iot_uring_connect_address(const struct io_kiocb *req)
{
	return req->flags & REQ_F_ASYNC_DATA ? req->async_data : NULL;
}

#endif /* IOT_COMPAT_IO_URING_H */
