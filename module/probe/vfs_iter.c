// SPDX-License-Identifier: GPL-2.0
/*
 * Reads and writes by ->read_iter and ->write_iter: what is hooked and which fields are
 * filled, for targets and for category fs.
 *
 * Reads and writes of every kind arrive there once (read, pread, readv, libaio, io_uring,
 * splice into the file, sendfile on older kernels, NFS server ...), and only those for files
 * of the hooked filesystem.
 *
 * Who wants a call, and where the handler sends a read (a write as well):
 *
 *   category fs, its scopes, category block	file of a target	wrapper
 *   -------------------------------------------------------------------------------------
 *   nobody runs, or nobody wants the call	no			none, it passes
 *						yes			read_wrapper
 *   fs wants it, or may want it at its end	no			read_fs_wrapper
 *						yes			iot_vfs_read_any
 *   a scope may want it, the path is known,	no			read_scope_wrapper
 *   fs itself does not run			yes			iot_vfs_read_any
 *   block tracks it (direct I/O), fs is off	no			read_tracking_wrapper
 *						yes			iot_vfs_read_any
 *   block tracks it, fs runs			any			iot_vfs_read_any
 *
 * The wrappers of one user are for plain calls: synchronous, with a program's memory, without
 * flags, while no call is tracked. They pass any other call on: read_wrapper() to
 * special_wrapper(), those of fs and of scopes to iot_vfs_read_any(), which may find that nobody
 * wants it. A kretprobe asks the same questions in iter_entry().
 *
 * Contexts: the hooked functions run in task context and may sleep. Handlers and wrappers
 * run with preemption on, and switch it off to look a target up and to write a record.
 *
 * io_uring calls ->read_iter and ->write_iter more than once for one request
 * (io_uring/rw.c): a first try that must not block, another try after a wait for a page, the
 * rest of a short transfer. A call that io_uring will continue is not recorded. What the request
 * has moved so far is kept in a small table until the call that ends the request.
 */
#include <linux/io_uring_types.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <linux/uio.h>
#include "core/param.h"
#include "core/table.h"
#include "hook/enter.h"
#include "hook/hook.h"
#include "hook/hook_set.h"
#include "hook/kretprobe.h"
#include "hook/redirect.h"
#include "hook/symbol.h"
#include "hook/wrap.h"
#include "file/direct.h"
#include "record/categories.h"
#include "record/io.h"
#include "record/scope_rw.h"
#include "record/wants.h"

/* Entries: vfs_iter_asm.S */
IOT_HOOK_WRAPPER(iot_vfs_read_any, struct kiocb *iocb, struct iov_iter *iter,
		 unsigned long original, u64 id, unsigned long caller);
IOT_HOOK_WRAPPER(iot_vfs_write_any, struct kiocb *iocb, struct iov_iter *iter,
		 unsigned long original, u64 id, unsigned long caller);
#include "probe/inner.h"
#include "probe/vfs_async.h"
#include "probe/vfs_types.h"

/**
 * struct vfs_call - a read or write in progress, on a wrapper's stack or in kretprobe data
 * @direct:	what other probes look up during the call
 * @start:	CLOCK_MONOTONIC ns
 * @requested:	bytes
 * @done:	bytes that earlier calls of the same request moved
 * @iocb:	as the function got it
 * @ki_flags:	of @iocb when the call began: the kiocb of an asynchronous call may be freed
 *		afterwards
 * @op:		IOT_OP_*
 * @flags:	IOT_IO_*
 * @uring:	@iocb belongs to an io_uring request
 * @retries:	io_uring may retry: @uring is set, and the submitter did not ask for RWF_NOWAIT
 * @noted:	a target's event is recorded when the request completes: vfs_async.c
 * @rw:		what category fs knows of the call
 */
struct vfs_call {
	struct iot_direct direct;
	u64 start;
	u64 requested;
	u64 done;
	struct kiocb *iocb;
	int ki_flags;
	u8 op;
	u16 flags;
	bool uring;
	bool retries;
	bool noted;
	struct iot_rw rw;
};

/*
 * How much of each request that io_uring will continue has been moved, by kiocb. The entry of a
 * cancelled request stays. It is not used for a new request at the same address, as that does
 * not start where the old one stopped.
 */
struct partial {
	u64 id;
	u64 start;
	u64 offset;
	u64 done;
	u32 uid;
	u32 pid;
};

#define PARTIAL_BITS	8

/* The entry of a request is lost: the rest of the request will be an event of its own. */
static void partial_gone(void *thing, bool displaced)
{
	if (displaced)
		iot_fs_count_missed();
}

IOT_TABLE_STORE(partial, struct partial, PARTIAL_BITS);
static struct iot_table partials = {
	IOT_TABLE_OF(struct partial, start, uid, pid),
	IOT_TABLE_STORED(partial, PARTIAL_BITS),
	.gone = partial_gone,
};

static void partial_keep(const struct vfs_call *call, u64 moved)
{
	struct partial *p = iot_table_new(&partials, call->iocb);

	if (!p) {
		iot_fs_count_missed();
		return;
	}
	p->id = call->direct.id;
	p->start = call->start;
	p->offset = call->direct.offset;
	p->done = call->done + moved;
	p->uid = __kuid_val(current_euid());
	p->pid = current->tgid;
	iot_table_keep(p);
}

/* Make @call continue the request's earlier calls, if there were any. */
static void partial_take(struct vfs_call *call)
{
	struct partial *p;

	if (likely(iot_table_is_empty(&partials)))
		return;
	p = iot_table_take(&partials, call->iocb);
	if (!p)
		return;
	if (p->id == call->direct.id &&
	    p->offset + p->done == call->direct.offset) {
		call->start = p->start;
		call->direct.offset = p->offset;
		call->done = p->done;
		call->requested += p->done;
	}
	iot_table_drop(&partials, p);
}

/* ->ki_complete of io_uring's requests, 0 if not found */
static unsigned long uring_complete[2];

/* ->ki_complete of io_submit's requests, 0 if not found */
static unsigned long aio_complete;

static bool is_uring(const struct kiocb *iocb)
{
	unsigned long fn = (unsigned long)iocb->ki_complete;

	return fn == uring_complete[0] || fn == uring_complete[1];
}

/**
 * iot_vfs_is_uring() - check whether a kiocb belongs to an io_uring request
 *
 * Context: any; the call is in progress.
 */
bool iot_vfs_is_uring(const struct kiocb *iocb)
{
	return is_uring(iocb);
}

/*
 * io_uring's kiocb is the first member of its request. REQ_F_NOWAIT means that the
 * submitter does not want a retry.
 */
static bool uring_retries(const struct kiocb *iocb)
{
	const struct io_kiocb *req = (const struct io_kiocb *)iocb;

	return !(req->flags & REQ_F_NOWAIT);
}

/*
 * Will io_uring call again for the same request after this result? Follows
 * __io_read(), io_rw_should_retry() and io_write() of 6.1 and 6.12.
 */
static bool uring_continues(const struct vfs_call *call, ssize_t ret)
{
	bool nowait = call->ki_flags & IOCB_NOWAIT;
	bool waitq = call->ki_flags & IOCB_WAITQ;

	switch (ret) {
	case -EIOCBQUEUED:
		return waitq;
	case -EAGAIN:
		/* IOCB_WAITQ: the page is in the cache, but an earlier read of it failed */
		return call->retries &&
		       (nowait || waitq || (call->ki_flags & IOCB_HIPRI));
	case -EOPNOTSUPP:
		return call->retries && nowait;
	}
	if (ret <= 0 || (u64)ret >= call->requested - call->done)
		return false;
	return call->op == IOT_OP_WRITE ||
	       (call->retries && (nowait || waitq));
}

static u16 io_flags(int ki_flags)
{
	u16 flags = 0;

	if (ki_flags & IOCB_DIRECT)
		flags |= IOT_IO_DIRECT;
	if (ki_flags & IOCB_APPEND)
		flags |= IOT_IO_APPEND;
	if (ki_flags & IOCB_DSYNC)
		flags |= IOT_IO_SYNC;
	if (ki_flags & IOCB_NOWAIT)
		flags |= IOT_IO_NOWAIT;
	return flags;
}

/* Note a request of a target before it is queued. */
static bool note_async(const struct vfs_call *call)
{
	struct iot_async a = {
		.id = call->direct.id,
		.start = call->start,
		.offset = call->direct.offset,
		.requested = call->requested,
		.done = call->done,
		.uid = __kuid_val(current_euid()),
		.op = call->op,
		.again = call->retries && (call->ki_flags & IOCB_NOWAIT),
		.flags = call->flags,
	};

	iot_task_ids(&a, current);
	return iot_async_begin(call->iocb, &a);
}

static void call_begin_uring(struct vfs_call *call)
{
	call->uring = true;
	call->flags |= IOT_IO_URING;
	call->retries = uring_retries(call->iocb);
	if (call->retries)
		call->flags &= ~IOT_IO_NOWAIT;
	partial_take(call);
}

static void call_begin_async(struct vfs_call *call)
{
	if (is_uring(call->iocb))
		call_begin_uring(call);
	else if ((unsigned long)call->iocb->ki_complete == aio_complete)
		call->flags |= IOT_IO_AIO;
	else
		return;
	if (call->direct.id && (call->ki_flags & IOCB_DIRECT))
		call->noted = note_async(call);
}

/* Note the file of a call and where it starts, which identify the bios of a direct call. */
static void direct_begin_file(struct iot_direct *direct, const struct kiocb *iocb, int ki_flags,
			      u8 op)
{
	struct inode *inode = file_inode(iocb->ki_filp);

	direct->sb = inode->i_sb;
	direct->file = iocb->ki_filp;
	direct->offset = op == IOT_OP_WRITE && (ki_flags & IOCB_APPEND) ? i_size_read(inode) :
									  iocb->ki_pos;
}

/*
 * Is a call tracked for category block? Its bios are events only if block wants the submitting
 * task, which is the current one.
 */
static bool is_tracked(const struct kiocb *iocb)
{
	return iot_rw_tracks(READ_ONCE(iot_category_fs.state), iocb->ki_flags) &&
	       iot_category_wants(&iot_category_block, IOT_ANY_OP);
}

/* Track a direct call. If that fails, its bios are events without a file, and are counted. */
static void direct_begin(struct iot_direct *call, const struct kiocb *iocb)
{
	iot_direct_begin(call);
	if (unlikely(!call->tracked) && is_tracked(iocb))
		iot_direct_miss_by_block();
}

int iot_vfs_tracked_flags = IOCB_DIRECT;

/* Prepare what only few calls need: flags, the end of the file, a slot in file/direct.c. */
static void call_begin_flags(struct vfs_call *call)
{
	call->flags = io_flags(call->ki_flags);
	direct_begin_file(&call->direct, call->iocb, call->ki_flags, call->op);
	if (call->ki_flags & iot_vfs_tracked_flags) {
		call->direct.ki_flags = call->ki_flags;
		direct_begin(&call->direct, call->iocb);
	}
}

static void call_begin(struct vfs_call *call, struct kiocb *iocb,
		       struct iov_iter *iter, u64 id, u8 op)
{
	memset(call, 0, offsetof(struct vfs_call, rw));
	call->rw.wanted = false;
	call->direct.id = id;
	call->direct.offset = iocb->ki_pos;
	call->iocb = iocb;
	call->ki_flags = iocb->ki_flags;
	call->op = op;
	call->requested = iov_iter_count(iter);
	if (call->ki_flags & ~IOCB_WRITE)
		call_begin_flags(call);
	call->start = ktime_get_mono_fast_ns();
	if (iocb->ki_complete)
		call_begin_async(call);
	if (!user_backed_iter(iter) && !call->uring)
		call->flags |= iot_inner_flags();
}

static void call_record(const struct vfs_call *call, s64 result)
{
	iot_io_record(call->direct.id, call->start, call->direct.offset,
		      call->requested, result, call->op, call->flags);
}

/*
 * Find the result of a call. Its kiocb may be gone if @ret is -EIOCBQUEUED.
 * Return: false if the call is not to be recorded.
 */
static bool call_settle(struct vfs_call *call, ssize_t ret, s64 *result)
{
	*result = ret;
	if (call->uring && uring_continues(call, ret)) {
		if (ret > 0 || call->done)
			partial_keep(call, max_t(ssize_t, ret, 0));
		return false;
	}
	if (ret == -EIOCBQUEUED) {
		call->flags |= IOT_IO_ASYNC;
		*result = call->requested;
		return true;
	}
	if ((call->flags & IOT_IO_APPEND) && call->op == IOT_OP_WRITE && ret > 0 &&
	    !call->done)
		call->direct.offset = call->iocb->ki_pos - ret;
	if (call->done)
		*result = call->done + max_t(ssize_t, ret, 0);
	return true;
}

/* A request was noted. Its event is recorded at completion, or else is this call. */
static void end_noted(struct vfs_call *call, ssize_t ret)
{
	bool queued = ret == -EIOCBQUEUED && !(call->uring && uring_continues(call, ret));

	if (queued && call->op == IOT_OP_WRITE)
		iot_io_note_writer(call->direct.id);
	if (queued)
		iot_async_queued(call->iocb, call->start);
	if (queued || !iot_async_cancel(call->iocb, call->start))
		call->direct.id = 0;
}

static void call_end(struct vfs_call *call, ssize_t ret)
{
	s64 result;

	iot_direct_end(&call->direct);
	if (iot_direct_any())
		iot_direct_mark_outer(&call->direct);
	if (unlikely(call->noted))
		end_noted(call, ret);
	if (!call_settle(call, ret, &result))
		return;
	if (call->direct.id)
		call_record(call, result);
	if (call->rw.wanted)
		iot_rw_end(&call->rw, call->start, call->direct.offset, call->requested,
			   result, call->op == IOT_OP_WRITE, call->flags);
}

/*
 * Is the hooked function the file's own? Those of many filesystems call
 * generic_file_read_iter() or generic_file_write_iter(), which are hooked too if another
 * filesystem uses them directly. A call must be recorded only once.
 */
static __always_inline bool is_own_function(const struct file *file,
					    unsigned long ip, u8 op)
{
	const struct file_operations *fop = file->f_op;

	return iot_vfs_is_entry_of(ip, op == IOT_OP_WRITE ? fop->write_iter : fop->read_iter);
}

#ifdef IOT_REDIRECT
static noinline ssize_t special_wrapper(struct kiocb *iocb, struct iov_iter *iter,
					unsigned long original, u64 id, u8 op)
{
	struct vfs_call call IOT_UNINITIALIZED;
	ssize_t ret;

	call_begin(&call, iocb, iter, id, op);
	ret = iot_hook_enter(iocb, iter, original);
	call_end(&call, ret);
	iot_redirect_leave();
	return ret;
}

/* No event is wanted, but category block needs to know the file of the call's bios. */
static __always_inline ssize_t tracking_wrapper(struct kiocb *iocb, struct iov_iter *iter,
						unsigned long original, u8 op)
{
	struct iot_direct call IOT_UNINITIALIZED;
	ssize_t ret;

	call.tracked = false;
	if (likely(iocb->ki_flags & IOCB_DIRECT)) {
		call.id = 0;
		call.ki_flags = iocb->ki_flags;
		call.op = 0;
		call.range = false;
		direct_begin_file(&call, iocb, iocb->ki_flags, op);
		direct_begin(&call, iocb);
	}
	ret = iot_hook_enter(iocb, iter, original);
	iot_direct_end(&call);
	iot_redirect_leave();
	return ret;
}

static s64 read_tracking_wrapper(struct kiocb *iocb, struct iov_iter *iter,
				 unsigned long original, u64 id, unsigned long caller)
{
	return tracking_wrapper(iocb, iter, original, IOT_OP_READ);
}

static s64 write_tracking_wrapper(struct kiocb *iocb, struct iov_iter *iter,
				  unsigned long original, u64 id, unsigned long caller)
{
	return tracking_wrapper(iocb, iter, original, IOT_OP_WRITE);
}

/*
 * Neither category fs nor a target wants the call. Category block may track it. Otherwise it
 * passes through, unless it returns to one of our functions: then the compiler did not turn the
 * call of iot_vfs_read_any_entry() in fs_wrapper() into a jump.
 */
static ssize_t unwanted(struct kiocb *iocb, struct iov_iter *iter, unsigned long original,
			u8 op, unsigned long caller)
{
	ssize_t ret;

	if (is_tracked(iocb))
		return op == IOT_OP_WRITE ?
		       write_tracking_wrapper(iocb, iter, original, 0, caller) :
		       read_tracking_wrapper(iocb, iter, original, 0, caller);
	if (unlikely(within_module(caller, THIS_MODULE)))
		ret = iot_hook_enter(iocb, iter, original);
	else
		ret = IOT_HOOK_PASS_THROUGH;
	iot_redirect_leave();
	return ret;
}

static ssize_t special_fs_wrapper(struct kiocb *iocb, struct iov_iter *iter,
				  unsigned long original, u64 id, u8 op, unsigned long caller)
{
	struct vfs_call call IOT_UNINITIALIZED;
	struct iot_rw rw = { .wanted = false };
	ssize_t ret;

	if (!iot_rw_tracks(READ_ONCE(iot_category_fs.state), iocb->ki_flags) ||
	    iot_rw_wants(iocb->ki_filp, op == IOT_OP_WRITE, &iocb->ki_flags))
		iot_rw_begin(&rw, iocb->ki_filp, true);
	if (!rw.wanted && !id)
		return unwanted(iocb, iter, original, op, caller);
	call_begin(&call, iocb, iter, id, op);
	call.rw = rw;
	ret = iot_hook_enter(iocb, iter, original);
	call_end(&call, ret);
	iot_redirect_leave();
	return ret;
}

/* Is it a synchronous call with a program's memory and no flags, while no call is tracked? */
static __always_inline bool is_plain(const struct kiocb *iocb, const struct iov_iter *iter)
{
	return !(iocb->ki_flags & ~IOCB_WRITE) && !iocb->ki_complete &&
	       user_backed_iter(iter) && !iot_direct_any();
}

/*
 * Make the compiler load the argument registers of the call here. This frees the registers that
 * held the values until now, so the wrapper has to save fewer.
 */
#define CALL_REGISTERS(iocb, iter, original) do {		\
	OPTIMIZER_HIDE_VAR(iocb);				\
	OPTIMIZER_HIDE_VAR(iter);				\
	OPTIMIZER_HIDE_VAR(original);				\
} while (0)

static __always_inline ssize_t wrapper(struct kiocb *iocb, struct iov_iter *iter,
				       unsigned long original, u64 id, u8 op)
{
	u64 start, offset, requested;
	ssize_t ret;

	if (unlikely(!is_plain(iocb, iter)))
		return special_wrapper(iocb, iter, original, id, op);
	start = ktime_get_mono_fast_ns();
	CALL_REGISTERS(iocb, iter, original);
	offset = iocb->ki_pos;
	requested = iov_iter_count(iter);
	ret = iot_hook_enter(iocb, iter, original);
	iot_io_record(id, start, offset, requested, ret, op, 0);
	iot_redirect_leave();
	return ret;
}

static s64 read_wrapper(struct kiocb *iocb, struct iov_iter *iter,
			unsigned long original, u64 id, unsigned long caller)
{
	return wrapper(iocb, iter, original, id, IOT_OP_READ);
}

static s64 write_wrapper(struct kiocb *iocb, struct iov_iter *iter,
			 unsigned long original, u64 id, unsigned long caller)
{
	return wrapper(iocb, iter, original, id, IOT_OP_WRITE);
}

/* The wrappers of all calls that category fs or a target may want: see IOT_HOOK_WRAP. */
s64 iot_vfs_read_any(struct kiocb *iocb, struct iov_iter *iter, unsigned long original, u64 id,
		     unsigned long caller)
{
	return special_fs_wrapper(iocb, iter, original, id, IOT_OP_READ, caller);
}

s64 iot_vfs_write_any(struct kiocb *iocb, struct iov_iter *iter, unsigned long original, u64 id,
		      unsigned long caller)
{
	return special_fs_wrapper(iocb, iter, original, id, IOT_OP_WRITE, caller);
}

/*
 * The wrappers of plain calls on known files. Other calls go to the wrappers above, which may
 * reject them.
 */
static __always_inline ssize_t fs_wrapper(struct kiocb *iocb, struct iov_iter *iter,
					  unsigned long original, u8 op)
{
	u64 start, offset, requested;
	struct iot_rw rw IOT_UNINITIALIZED;
	ssize_t ret;

	if (unlikely(!is_plain(iocb, iter) || !iot_rw_begin_known(&rw, iocb->ki_filp)))
		return op == IOT_OP_WRITE ? iot_vfs_write_any_entry(iocb, iter, original, 0, 0) :
					    iot_vfs_read_any_entry(iocb, iter, original, 0, 0);
	start = ktime_get_mono_fast_ns();
	CALL_REGISTERS(iocb, iter, original);
	offset = iocb->ki_pos;
	requested = iov_iter_count(iter);
	ret = iot_hook_enter(iocb, iter, original);
	iot_rw_end(&rw, start, offset, requested, ret, op == IOT_OP_WRITE, 0);
	iot_redirect_leave();
	return ret;
}

static ssize_t read_fs_wrapper(struct kiocb *iocb, struct iov_iter *iter, unsigned long original)
{
	return fs_wrapper(iocb, iter, original, IOT_OP_READ);
}

static ssize_t write_fs_wrapper(struct kiocb *iocb, struct iov_iter *iter, unsigned long original)
{
	return fs_wrapper(iocb, iter, original, IOT_OP_WRITE);
}

/*
 * The wrappers of plain calls that a scope may want, on a file whose path the handler has found.
 * Neither a rename nor an eviction meanwhile does harm: see scope_rw.h.
 */
static __always_inline ssize_t scope_wrapper(struct kiocb *iocb, struct iov_iter *iter,
					     unsigned long original, u64 path, u8 op)
{
	const struct kiocb *same = iocb;
	u64 start, offset, requested;
	ssize_t ret;

	if (unlikely(!is_plain(iocb, iter)))
		return op == IOT_OP_WRITE ? iot_vfs_write_any_entry(iocb, iter, original, 0, 0) :
					    iot_vfs_read_any_entry(iocb, iter, original, 0, 0);
	start = ktime_get_mono_fast_ns();
	CALL_REGISTERS(iocb, iter, original);
	offset = iocb->ki_pos;
	requested = iov_iter_count(iter);
	ret = iot_hook_enter(iocb, iter, original);
	iot_scope_rw_end(path, same->ki_filp, start, offset, requested, ret,
			 op == IOT_OP_WRITE);
	iot_redirect_leave();
	return ret;
}

static s64 read_scope_wrapper(struct kiocb *iocb, struct iov_iter *iter,
			      unsigned long original, u64 path, unsigned long caller)
{
	return scope_wrapper(iocb, iter, original, path, IOT_OP_READ);
}

static s64 write_scope_wrapper(struct kiocb *iocb, struct iov_iter *iter,
			       unsigned long original, u64 path, unsigned long caller)
{
	return scope_wrapper(iocb, iter, original, path, IOT_OP_WRITE);
}

/* The same for a stub, which calls them as functions: these find the path again. */
static s64 read_scope_by_stub(struct kiocb *iocb, struct iov_iter *iter, unsigned long original,
			      u64 path, unsigned long caller)
{
	return special_fs_wrapper(iocb, iter, original, 0, IOT_OP_READ, caller);
}

static s64 write_scope_by_stub(struct kiocb *iocb, struct iov_iter *iter, unsigned long original,
			       u64 path, unsigned long caller)
{
	return special_fs_wrapper(iocb, iter, original, 0, IOT_OP_WRITE, caller);
}

/*
 * The functions below take @ip first and @fregs fourth, like the handlers that call them. So the
 * handlers, which run for every call of every file, need not move them between registers.
 */
static noinline void redirect_found(unsigned long ip, struct inode *inode, void *wrapper,
				    struct ftrace_regs *fregs)
{
	struct iot_indexed_file *f = iot_target_index_find(inode);

	if (f)
		iot_redirect(iot_ftrace_regs(fregs), ip, wrapper, f->id);
	preempt_enable_notrace();
}

/*
 * Redirect a call for a file that may be a running one, if it is. Usually it is the first
 * of its bucket, and its key has no file handle.
 */
static __always_inline void redirect_target(unsigned long ip, struct inode *inode, u64 hash,
					    void *wrapper, struct ftrace_regs *fregs)
{
	const struct iot_target_index_buckets *b;
	const struct iot_indexed_file *f;
	struct hlist_node *n;

	preempt_disable_notrace();
	b = rcu_dereference_sched(iot_target_index_buckets);
	n = iot_target_index_first(b, hash);
	if (likely(n)) {
		f = iot_target_index_at(b, n);
		if (unlikely(!iot_key_is_inode(&f->key, inode) ||
			     f->key.dev != inode->i_sb->s_dev)) {
			redirect_found(ip, inode, wrapper, fregs);
			return;
		}
		iot_redirect(iot_ftrace_regs(fregs), ip, wrapper, f->id);
	}
	preempt_enable_notrace();
}

static noinline void redirect_read(unsigned long ip, struct inode *inode, u64 hash,
				   struct ftrace_regs *fregs)
{
	redirect_target(ip, inode, hash, read_wrapper, fregs);
}

static noinline void redirect_write(unsigned long ip, struct inode *inode, u64 hash,
				    struct ftrace_regs *fregs)
{
	redirect_target(ip, inode, hash, write_wrapper, fregs);
}

static __always_inline void redirect_passed(unsigned long ip, struct inode *inode, u8 op,
					    struct ftrace_regs *fregs)
{
	if (op == IOT_OP_WRITE)
		redirect_write(ip, inode, iot_target_index_hash(inode->i_ino), fregs);
	else
		redirect_read(ip, inode, iot_target_index_hash(inode->i_ino), fregs);
}

static __always_inline void redirect_to_target(unsigned long ip, struct inode *inode, u8 op,
					       struct ftrace_regs *fregs)
{
	if (unlikely(iot_target_index_maybe(inode)))
		redirect_passed(ip, inode, op, fregs);
}

/* Redirect a call that category fs, and perhaps a target, may want. */
static noinline void redirect_both(unsigned long ip, struct inode *inode, u8 op,
				   struct ftrace_regs *fregs)
{
	iot_redirect(iot_ftrace_regs(fregs), ip, op == IOT_OP_WRITE ?
			  iot_vfs_write_any_entry : iot_vfs_read_any_entry, iot_io_target(inode));
}

/* Only category block wants the call. */
static __always_inline void redirect_tracked(unsigned long ip, u8 op, struct ftrace_regs *fregs)
{
	iot_redirect(iot_ftrace_regs(fregs), ip, op == IOT_OP_WRITE ?
			  write_tracking_wrapper : read_tracking_wrapper, 0);
}

/*
 * Does category fs want a call that category block tracks, or that a rare condition of fs may
 * reject? For a call that block tracks, no condition of fs was checked before.
 */
static __always_inline bool rare_wanted(u32 state, const struct kiocb *iocb, u8 op)
{
	if (iot_rw_tracks(state, iocb->ki_flags))
		return iot_rw_wants(iocb->ki_filp, op == IOT_OP_WRITE, &iocb->ki_flags);
	return !iot_rw_rejects_rare(state, iocb->ki_filp);
}

/* Category fs wants the call, and perhaps a target. */
static __always_inline void redirect_fs(unsigned long ip, struct inode *inode, u8 op,
					struct ftrace_regs *fregs)
{
	if (unlikely(iot_target_index_maybe(inode)))
		redirect_both(ip, inode, op, fregs);
	else
		iot_redirect_plain(iot_ftrace_regs(fregs), ip, op == IOT_OP_WRITE ?
					write_fs_wrapper : read_fs_wrapper);
}

/* Redirect a call that scopes may want. @path: from iot_scopes_find() */
static __always_inline void redirect_scope(unsigned long ip, struct inode *inode, u8 op,
					   struct ftrace_regs *fregs, const struct file *file,
					   u64 path)
{
	if (!path || unlikely(iot_file_is_backing(file)))
		redirect_to_target(ip, inode, op, fregs);
	else if (unlikely(path == IOT_SCOPE_UNKNOWN) ||
		 unlikely(READ_ONCE(iot_category_fs.own))) /* for it, a path is not enough */
		redirect_fs(ip, inode, op, fregs);
	else if (unlikely(iot_target_index_maybe(inode)))
		redirect_both(ip, inode, op, fregs);
	else
		iot_redirect(iot_ftrace_regs(fregs), ip, op == IOT_OP_WRITE ?
			     write_scope_wrapper : read_scope_wrapper, path);
}

/* As redirect_late(), while a scope is of processes. */
static noinline void redirect_late_tasks(unsigned long ip, struct inode *inode, u8 op,
					 struct ftrace_regs *fregs)
{
	const struct kiocb *iocb = (const struct kiocb *)iot_regs_arg(iot_ftrace_regs(fregs), 0);
	const struct file *file = iocb->ki_filp;

	redirect_scope(ip, inode, op, fregs, file, iot_scopes_find_tasks(file));
}

/*
 * All conditions are checked at the end of the call, unless nobody wants it. Without a call that
 * returns here no register has to be saved.
 */
static noinline void redirect_late(unsigned long ip, struct inode *inode, u8 op,
				   struct ftrace_regs *fregs)
{
	const struct kiocb *iocb = (const struct kiocb *)iot_regs_arg(iot_ftrace_regs(fregs), 0);

	const struct file *file = iocb->ki_filp;

	if (unlikely(READ_ONCE(iot_category_fs.nr_of_tasks)))
		redirect_late_tasks(ip, inode, op, fregs);
	else
		redirect_scope(ip, inode, op, fregs, file, iot_scopes_find(file));
}

/*
 * Category fs may want the call, depending on conditions that are seldom used. Or category block
 * tracks it, usually without category fs.
 */
static noinline void redirect_rare(unsigned long ip, struct inode *inode, u8 op,
				   struct ftrace_regs *fregs)
{
	const struct kiocb *iocb = (const struct kiocb *)iot_regs_arg(iot_ftrace_regs(fregs), 0);
	u32 state = READ_ONCE(iot_category_fs.state);
	bool tracked = is_tracked(iocb);

	if (tracked && !(state & IOT_CATEGORY_ACTIVE) && !iot_target_index_maybe(inode))
		redirect_tracked(ip, op, fregs);
	else if (tracked)
		redirect_both(ip, inode, op, fregs);
	else if (rare_wanted(state, iocb, op))
		redirect_fs(ip, inode, op, fregs);
	else
		redirect_to_target(ip, inode, op, fregs);
}

/* Category fs has no filter. */
static __always_inline void redirect_active(unsigned long ip, struct inode *inode, u8 op,
					    struct ftrace_regs *fregs)
{
	const struct kiocb *iocb = (const struct kiocb *)iot_regs_arg(iot_ftrace_regs(fregs), 0);

	if (likely(!iot_rw_rejects(IOT_CATEGORY_ACTIVE, iocb->ki_filp, op == IOT_OP_WRITE, NULL)))
		redirect_fs(ip, inode, op, fregs);
	else
		redirect_to_target(ip, inode, op, fregs);
}

/* Does category fs want the call, or category block track it? @state: of fs, with conditions */
static __always_inline bool fs_wants(u32 state, const struct kiocb *iocb, u8 op)
{
	return iot_rw_tracks(state, iocb->ki_flags) || (state & IOT_CATEGORY_SCOPES) ||
	       !iot_rw_rejects(state, iocb->ki_filp, op == IOT_OP_WRITE, &iocb->ki_flags);
}

/* Category fs has a state: it, a scope of it, or category block may want the call. */
static __always_inline void redirect_by_state(unsigned long ip, struct inode *inode, u8 op,
					      struct ftrace_regs *fregs)
{
	const struct kiocb *iocb = (const struct kiocb *)iot_regs_arg(iot_ftrace_regs(fregs), 0);
	u32 state = READ_ONCE(iot_category_fs.state);

	if (likely(state == IOT_CATEGORY_ACTIVE))
		redirect_active(ip, inode, op, fregs);
	else if ((state & IOT_CATEGORY_SCOPES) && !(iocb->ki_flags & IOCB_DIRECT))
		redirect_late(ip, inode, op, fregs);
	else if (!fs_wants(state, iocb, op))
		redirect_to_target(ip, inode, op, fregs);
	else if (likely(!iot_rw_is_rare(state)))
		redirect_fs(ip, inode, op, fregs);
	else
		redirect_rare(ip, inode, op, fregs);
}

/* One of them is set unless the state is 0; they are tested in memory, by one instruction. */
#define ANY_STATE	(IOT_CATEGORY_ACTIVE | IOT_CATEGORY_TRACK)

/*
 * Entry of every ->read_iter or ->write_iter of a filesystem that has a target, or of all
 * filesystems. An unwanted call costs one check of the state of category fs and
 * iot_target_index_passes(). Every call made from here is a tail call, so that no register has to
 * be saved.
 */
static __always_inline void redirect_call(unsigned long ip, struct ftrace_regs *fregs, u8 op)
{
	const struct kiocb *iocb = (const struct kiocb *)iot_regs_arg(iot_ftrace_regs(fregs), 0);
	struct inode *inode = file_inode(iocb->ki_filp);

	/* an unwanted call, too: what passes through may need a stub (IOT_PASS_BY_STUB) */
	if (unlikely(iot_redirect_is_shared(iot_ftrace_regs(fregs))))
		iot_hook_send_bare(iot_ftrace_regs(fregs), ip);
	else if (unlikely(data_race(iot_category_fs.state) & ANY_STATE)) /* one instruction */
		redirect_by_state(ip, inode, op, fregs);
	else if (unlikely(iot_target_index_passes(inode)))
		redirect_passed(ip, inode, op, fregs);
}

static void read_entry(unsigned long ip, unsigned long parent_ip,
		       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	redirect_call(ip, fregs, IOT_OP_READ);
}

static void write_entry(unsigned long ip, unsigned long parent_ip,
			struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	redirect_call(ip, fregs, IOT_OP_WRITE);
}

/* Get the function that a stub calls instead of a wrapper: it can report a rejection. */
static void *wrapper_at(unsigned long ip)
{
	if (ip == (unsigned long)read_fs_wrapper || ip == (unsigned long)iot_vfs_read_any_entry)
		return iot_vfs_read_any;
	if (ip == (unsigned long)write_fs_wrapper || ip == (unsigned long)iot_vfs_write_any_entry)
		return iot_vfs_write_any;
	if (ip == (unsigned long)read_scope_wrapper)
		return read_scope_by_stub;
	if (ip == (unsigned long)write_scope_wrapper)
		return write_scope_by_stub;
	return (void *)ip; /* this wrapper never rejects a call */
}

static struct file *file_of(struct ftrace_regs *fregs)
{
	return ((struct kiocb *)iot_regs_arg(iot_ftrace_regs(fregs), 0))->ki_filp;
}

static void read_generic_entry(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (iot_redirect_is_shared(iot_ftrace_regs(fregs)) ||
	    is_own_function(file_of(fregs), ip, IOT_OP_READ))
		read_entry(ip, parent_ip, ops, fregs);
}

static void write_generic_entry(unsigned long ip, unsigned long parent_ip,
				struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (iot_redirect_is_shared(iot_ftrace_regs(fregs)) ||
	    is_own_function(file_of(fregs), ip, IOT_OP_WRITE))
		write_entry(ip, parent_ip, ops, fregs);
}
#else
#define wrapper_at NULL
#define read_entry NULL
#define write_entry NULL
#define read_generic_entry NULL
#define write_generic_entry NULL
#endif

/* The entry and exit handlers of kretprobes. They run with preemption off. */
static int iter_entry(struct kretprobe_instance *ri, struct pt_regs *regs, u8 op)
{
	struct kiocb *iocb = (void *)regs_get_kernel_argument(regs, 0);
	struct iov_iter *iter = (void *)regs_get_kernel_argument(regs, 1);
	struct vfs_call *call = (struct vfs_call *)ri->data;
	struct file *file = iocb->ki_filp;
	bool wanted;
	u64 id;

	if (!is_own_function(file, (unsigned long)get_kretprobe(ri)->kp.addr, op))
		return 1;
	id = iot_io_target(file_inode(file));
	wanted = iot_rw_wants(file, op == IOT_OP_WRITE, &iocb->ki_flags);
	if (!id && !wanted && !is_tracked(iocb))
		return 1;
	call_begin(call, iocb, iter, id, op);
	iot_direct_own(&call->direct, get_kretprobe(ri));
	if (wanted)
		iot_rw_begin(&call->rw, file, false);
	return 0;
}

static int read_probe_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return iter_entry(ri, regs, IOT_OP_READ);
}

static int write_probe_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return iter_entry(ri, regs, IOT_OP_WRITE);
}

static int iter_probe_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	call_end((struct vfs_call *)ri->data, regs_return_value(regs));
	return 0;
}

/* Indexed by operation. */
const struct iot_hook_type iot_vfs_iter_types[2] = {
	[IOT_VFS_READ] = {
		.name = "read_iter", .ftrace = read_entry, .wrapper_at = wrapper_at,
		.entry = read_probe_entry, .exit = iter_probe_exit,
		.forget = iot_direct_forget,
		.data_size = sizeof(struct vfs_call),
	},
	[IOT_VFS_WRITE] = {
		.name = "write_iter", .ftrace = write_entry, .wrapper_at = wrapper_at,
		.entry = write_probe_entry, .exit = iter_probe_exit,
		.forget = iot_direct_forget,
		.data_size = sizeof(struct vfs_call),
	},
};

/* As above, for functions that the functions of other filesystems also call. */
const struct iot_hook_type iot_vfs_generic_types[2] = {
	[IOT_VFS_READ] = {
		.name = "read_iter", .ftrace = read_generic_entry, .wrapper_at = wrapper_at,
		.entry = read_probe_entry, .exit = iter_probe_exit,
		.forget = iot_direct_forget,
		.data_size = sizeof(struct vfs_call),
	},
	[IOT_VFS_WRITE] = {
		.name = "write_iter", .ftrace = write_generic_entry, .wrapper_at = wrapper_at,
		.entry = write_probe_entry, .exit = iter_probe_exit,
		.forget = iot_direct_forget,
		.data_size = sizeof(struct vfs_call),
	},
};

/** iot_vfs_init() - find what tells requests of io_uring and of io_submit apart */
void iot_vfs_init(void)
{
	uring_complete[0] = iot_symbol_find("io_complete_rw");
	uring_complete[1] = iot_symbol_find("io_complete_rw_iopoll");
	aio_complete = iot_symbol_find("aio_complete_rw");
	if (IS_ENABLED(CONFIG_IO_URING) && !uring_complete[0])
		pr_warn("io_complete_rw is not in this kernel: retries of io_uring are recorded as events of their own\n");
}
