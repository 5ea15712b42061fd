// SPDX-License-Identifier: GPL-2.0
/*
 * Reads and writes at the VFS: what is hooked and which fields are filled.
 *
 * A file's ->read_iter and ->write_iter see every way in once (read, pread,
 * readv, libaio, io_uring, splice into the file, sendfile on older kernels, NFS
 * server …), and only calls for files of that filesystem. ->splice_read,
 * ->splice_write, ->copy_file_range and ->remap_file_range may move data past
 * them and have hooks of their own where the filesystem has these operations.
 *
 * Contexts: all of these run in task context and may sleep. Handlers and
 * wrappers run with preemption on and switch it off to look a target up and to
 * write a record.
 *
 * io_uring calls ->read_iter and ->write_iter more than once for one request
 * (io_uring/rw.c): a first try that must not block, a wait for a page, the rest
 * of a short transfer. What it will continue is not recorded; what it has moved
 * so far is kept in a small table until the call that ends the request.
 */
#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/io_uring_types.h>
#include <linux/magic.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <linux/uio.h>
#include "block.h"
#include "hook.h"
#include "hook_set.h"
#include "hook_stub.h"
#include "inner.h"
#include "param.h"
#include "probe.h"
#include "rw.h"
#include "spoil.h"
#include "table.h"
#include "target.h"

/**
 * struct vfs_call - one read or write under way, on the stack of who makes it
 * @direct:	target, superblock and offset
 * @start:	CLOCK_MONOTONIC ns
 * @requested:	bytes
 * @done:	bytes that earlier calls of the same request moved
 * @iocb:	NULL for splice, copy and clone
 * @ki_flags:	of @iocb when the call began: an asynchronous one may be gone after
 * @op:		IOT_OP_*
 * @flags:	IOT_IO_*
 * @uring:	@iocb belongs to an io_uring request
 * @retries:	whose submitter did not ask for RWF_NOWAIT
 * @tracked:	it has a slot in call_slots
 * @inner:	a call inside this one was recorded in its place
 * @rw:		what category fs keeps of it
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
	bool tracked;
	bool inner;
	struct iot_rw rw;
};

/*
 * Calls under way by task: a table of fixed size in which a task claims a slot,
 * finds it again and gives it up. Nobody else uses its slots, but forget_calls() may
 * give one up in its place; so they need no lock. A full neighbourhood is counted as
 * missed.
 */
#define CALL_BITS	10
#define CALL_PROBES	32

/* @owner: whose instance data @call is in, NULL for a wrapper's stack */
struct call_slot {
	struct task_struct *task;
	struct vfs_call *call;
	const struct kretprobe *owner;
};

static struct call_slot call_slots[BIT(CALL_BITS)];
static atomic_t nr_calls;

static struct call_slot *slot_at(unsigned int i)
{
	u32 hash = iot_table_hash((unsigned long)current, CALL_BITS);

	return &call_slots[(hash + i) % BIT(CALL_BITS)];
}

static void call_track(struct vfs_call *call)
{
	unsigned int i;

	for (i = 0; i < CALL_PROBES; i++) {
		struct call_slot *slot = slot_at(i);

		if (READ_ONCE(slot->task) ||
		    cmpxchg(&slot->task, NULL, current))
			continue;
		WRITE_ONCE(slot->call, call);
		WRITE_ONCE(slot->owner, NULL);
		atomic_inc(&nr_calls);
		call->tracked = true;
		return;
	}
	iot_block_count_missed();
}

/* The current task's call in a slot, or NULL. */
static struct vfs_call *call_in(const struct call_slot *slot)
{
	return READ_ONCE(slot->task) == current ? READ_ONCE(slot->call) : NULL;
}

/* By the task itself or by forget_calls(), whoever is first. */
static void slot_release(struct call_slot *slot, struct vfs_call *call)
{
	if (cmpxchg(&slot->call, call, NULL) != call)
		return;
	WRITE_ONCE(slot->owner, NULL);
	smp_store_release(&slot->task, NULL); /* after the slot's last use */
	atomic_dec(&nr_calls);
}

static void call_untrack(struct vfs_call *call)
{
	unsigned int i;

	for (i = 0; i < CALL_PROBES; i++) {
		struct call_slot *slot = slot_at(i);

		if (call_in(slot) != call)
			continue;
		slot_release(slot, call);
		return;
	}
}

/* If it was tracked: it is instance data of this one, which may be going. */
static void call_own(struct vfs_call *call, const struct kretprobe *krp)
{
	unsigned int i;

	if (call->tracked && iot_hook_is_going(krp)) {
		call_untrack(call);
		call->tracked = false;
		return;
	}
	for (i = 0; call->tracked && i < CALL_PROBES; i++) {
		struct call_slot *slot = slot_at(i);

		if (call_in(slot) == call)
			WRITE_ONCE(slot->owner, krp);
	}
}

/*
 * The kretprobe is going: calls that are under way may end unseen, and then the memory
 * of its instances is freed after RCU. None of it gets a slot any more. A task that is
 * in such a call may be looking at its slot: what that points to is there until the
 * call ends.
 */
static void forget_calls(const struct kretprobe *krp)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(call_slots); i++) {
		struct call_slot *slot = &call_slots[i];

		struct vfs_call *call = READ_ONCE(slot->call);

		if (call && READ_ONCE(slot->owner) == krp)
			slot_release(slot, call);
	}
}

/**
 * iot_vfs_direct() - the direct read or write that the current task is in
 *
 * Context: task context of the caller itself. Return: it or NULL.
 */
const struct iot_direct *iot_vfs_direct(void)
{
	unsigned int i;

	if (!atomic_read(&nr_calls))
		return NULL;
	for (i = 0; i < CALL_PROBES; i++) {
		const struct vfs_call *call = call_in(slot_at(i));

		if (call && (call->flags & IOT_IO_DIRECT))
			return &call->direct;
	}
	return NULL;
}

/*
 * What io_uring has moved of requests that it will continue, by kiocb. That of a request
 * that was cancelled stays; a new one at the same address does not start where it
 * stopped, and so does not take it for its own.
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

/* What follows will be an event of its own. */
static void partial_gone(void *thing, bool displaced)
{
	if (displaced)
		iot_rw_count_missed();
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
		iot_rw_count_missed();
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

/* Make @call the continuation of what was kept, if anything was. */
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

/* ->ki_complete of io_uring's requests, 0 where it could not be found */
static unsigned long uring_complete[2];

/* ->ki_complete of io_submit's requests, likewise */
static unsigned long aio_complete;

static bool is_uring(const struct kiocb *iocb)
{
	unsigned long fn = (unsigned long)iocb->ki_complete;

	return fn == uring_complete[0] || fn == uring_complete[1];
}

/** iot_vfs_is_uring() - is it an io_uring request's? Context: any; it is under way */
bool iot_vfs_is_uring(const struct kiocb *iocb)
{
	return is_uring(iocb);
}

/*
 * io_uring's kiocb is the first member of its request. REQ_F_NOWAIT says that
 * the submitter does not want a retry.
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
		return call->retries &&
		       (nowait || (call->ki_flags & IOCB_HIPRI));
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

static void call_begin_async(struct vfs_call *call)
{
	if (!is_uring(call->iocb)) {
		if ((unsigned long)call->iocb->ki_complete == aio_complete)
			call->flags |= IOT_IO_AIO;
		return;
	}
	call->uring = true;
	call->flags |= IOT_IO_URING;
	call->retries = uring_retries(call->iocb);
	if (call->retries)
		call->flags &= ~IOT_IO_NOWAIT;
	partial_take(call);
}

/* Of what file it is, and where it begins: what the bios of a direct call are. */
static void call_begin_file(struct vfs_call *call)
{
	struct inode *inode = file_inode(call->iocb->ki_filp);

	call->direct.sb = inode->i_sb;
	call->direct.file = call->iocb->ki_filp;
	call->direct.offset = call->op == IOT_OP_WRITE && (call->ki_flags & IOCB_APPEND) ?
			      i_size_read(inode) : call->iocb->ki_pos;
}

/* What few calls need: flags, the end of the file, a slot in call_slots. */
static void call_begin_flags(struct vfs_call *call)
{
	call->flags = io_flags(call->ki_flags);
	call_begin_file(call);
	if (call->ki_flags & IOCB_DIRECT)
		call_track(call);
}

static void call_begin(struct vfs_call *call, struct kiocb *iocb,
		       struct iov_iter *iter, u64 id, u8 op)
{
	memset(call, 0, sizeof(*call));
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

/* Another writer than last time, unless somebody else is just being noted. */
static noinline void note_new_writer(struct iot_writer *w)
{
	u32 version = READ_ONCE(w->version);
	u64 comm[2];

	if ((version & 1) || cmpxchg(&w->version, version, version + 1) != version)
		return;
	memcpy(comm, current->comm, sizeof(comm));
	WRITE_ONCE(w->pid, current->tgid);
	WRITE_ONCE(w->comm[0], comm[0]);
	WRITE_ONCE(w->comm[1], comm[1]);
	smp_store_release(&w->version, version + 2); /* after the fields */
}

/*
 * Looked at without the version: who is just being replaced may take himself for the
 * last one still, as he was a moment ago.
 */
static __always_inline void note_writer(struct iot_writer *w)
{
	const u64 *comm = (const u64 *)current->comm;

	if (unlikely(READ_ONCE(w->pid) != current->tgid ||
		     READ_ONCE(w->comm[0]) != comm[0] || READ_ONCE(w->comm[1]) != comm[1]))
		note_new_writer(w);
}

/*
 * The end of a call, and the whole price of a plain one besides two clock
 * readings: its target may have gone or been stopped in the meantime. What is the
 * same for all VFS events of a target is filled in when they are read (view.c).
 */
static __always_inline void record(u64 id, u64 start, u64 offset, u64 requested,
				   s64 result, u8 op, u16 flags)
{
	u64 now = ktime_get_mono_fast_ns();
	const struct task_struct *task;
	struct iot_target *t;
	u64 *slot, index;
	struct iot_io *r;

	preempt_disable_notrace();
	task = current;
	t = iot_target_by_id(id);
	if (unlikely(!t))
		goto out;
	if (op == IOT_OP_WRITE && result > 0)
		note_writer(&t->writer);
	if (!iot_ring_reserve(rcu_dereference_sched(t->ring), IOT_LEVEL_VFS,
			      &slot, &index))
		goto out;
	r = (struct iot_io *)slot;
	r->time = start;
	r->latency = now - start;
	r->offset = offset;
	r->requested = requested;
	r->result = result;
	r->tid = task->pid;
	r->pid = task->tgid;
	r->cpu = raw_smp_processor_id();
	r->level = IOT_LEVEL_VFS;
	r->op = op;
	r->flags = flags;
	memcpy(r->comm, task->comm, sizeof(r->comm));
	iot_spoil(IOT_EVENT_ID_io, slot);
	iot_ring_commit(slot, index);
out:
	preempt_enable_notrace();
}

static void call_record(const struct vfs_call *call, s64 result)
{
	record(call->direct.id, call->start, call->direct.offset,
	       call->requested, result, call->op, call->flags);
}

/*
 * A call that is inside a splice or copy of the same target stands for it.
 */
static void mark_outer(const struct vfs_call *call)
{
	unsigned int i;

	for (i = 0; i < CALL_PROBES; i++) {
		struct vfs_call *outer = call_in(slot_at(i));

		if (outer && !outer->iocb && outer->direct.id == call->direct.id)
			outer->inner = true;
	}
}

/*
 * What a call amounts to. @iocb may be gone if @ret is -EIOCBQUEUED.
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

static void call_end(struct vfs_call *call, ssize_t ret)
{
	s64 result;

	if (call->tracked)
		call_untrack(call);
	if (atomic_read(&nr_calls))
		mark_outer(call);
	if (!call_settle(call, ret, &result))
		return;
	if (call->direct.id)
		call_record(call, result);
	if (call->rw.wanted)
		iot_rw_end(&call->rw, call->start, call->direct.offset, call->requested,
			   result, call->op == IOT_OP_WRITE, call->flags);
}

/* The id of the running target that a file is, 0 for none. */
static u64 target_id(struct inode *inode)
{
	struct iot_target *t;
	u64 id = 0;

	if (!iot_target_maybe(inode))
		return 0;
	preempt_disable_notrace();
	t = iot_target_find(inode);
	if (t)
		id = t->id;
	preempt_enable_notrace();
	return id;
}

/* An entry site is the function's first or follows its ENDBR. */
static __always_inline bool is_entry_of(unsigned long ip, const void *func)
{
	return ip - (unsigned long)func <= ENDBR_INSN_SIZE;
}

/*
 * Is the hooked function the file's own? Those of many filesystems go on in
 * generic_file_read_iter() or generic_file_write_iter(), which are hooked too where
 * another filesystem has them as its own: a call is to be seen once.
 */
static __always_inline bool is_own_function(const struct file *file,
					    unsigned long ip, u8 op)
{
	const struct file_operations *fop = file->f_op;

	return is_entry_of(ip, op == IOT_OP_WRITE ? fop->write_iter : fop->read_iter);
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
	iot_hook_leave();
	return ret;
}

/* Nobody wants an event; category block wants to know whose bios these are. */
static __always_inline ssize_t tracking_wrapper(struct kiocb *iocb, struct iov_iter *iter,
						unsigned long original, u8 op)
{
	struct vfs_call call IOT_UNINITIALIZED; /* what others ask of a slot is not */
	ssize_t ret;

	call.tracked = false;
	if (likely(iocb->ki_flags & IOCB_DIRECT)) {
		call.direct.id = 0;
		call.iocb = iocb;
		call.ki_flags = iocb->ki_flags;
		call.op = op;
		call.flags = IOT_IO_DIRECT;
		call_begin_file(&call);
		call_track(&call);
	}
	ret = iot_hook_enter(iocb, iter, original);
	if (call.tracked)
		call_untrack(&call);
	iot_hook_leave();
	return ret;
}

static ssize_t read_tracking_wrapper(struct kiocb *iocb, struct iov_iter *iter,
				     unsigned long original, u64 id)
{
	return tracking_wrapper(iocb, iter, original, IOT_OP_READ);
}

static ssize_t write_tracking_wrapper(struct kiocb *iocb, struct iov_iter *iter,
				      unsigned long original, u64 id)
{
	return tracking_wrapper(iocb, iter, original, IOT_OP_WRITE);
}

/*
 * Neither category fs nor a target wants the call; category block may. Else it is let go,
 * unless what it returns to is a function of ours: the compiler did not make a jump of
 * the call of iot_vfs_read_any_entry() in fs_wrapper().
 */
static ssize_t unwanted(struct kiocb *iocb, struct iov_iter *iter, unsigned long original,
			u8 op, unsigned long caller)
{
	ssize_t ret;

	if (iot_rw_tracks(READ_ONCE(iot_fs.state), iocb->ki_flags))
		return op == IOT_OP_WRITE ? write_tracking_wrapper(iocb, iter, original, 0) :
					    read_tracking_wrapper(iocb, iter, original, 0);
	if (unlikely(within_module(caller, THIS_MODULE)))
		ret = iot_hook_enter(iocb, iter, original);
	else
		ret = IOT_HOOK_ALONE;
	iot_hook_leave();
	return ret;
}

static ssize_t special_fs_wrapper(struct kiocb *iocb, struct iov_iter *iter,
				  unsigned long original, u64 id, u8 op, unsigned long caller)
{
	struct vfs_call call IOT_UNINITIALIZED;
	struct iot_rw rw = { .wanted = false };
	ssize_t ret;

	if (!iot_rw_tracks(READ_ONCE(iot_fs.state), iocb->ki_flags) ||
	    iot_rw_wants(iocb->ki_filp, op == IOT_OP_WRITE, &iocb->ki_flags))
		iot_rw_begin(&rw, iocb->ki_filp, true);
	if (!rw.wanted && !id)
		return unwanted(iocb, iter, original, op, caller);
	call_begin(&call, iocb, iter, id, op);
	call.rw = rw;
	ret = iot_hook_enter(iocb, iter, original);
	call_end(&call, ret);
	iot_hook_leave();
	return ret;
}

/* A program's call that ends when it returns, with nothing to say about it but its size. */
static __always_inline bool is_plain(const struct kiocb *iocb, const struct iov_iter *iter)
{
	return !(iocb->ki_flags & ~IOCB_WRITE) && !iocb->ki_complete &&
	       user_backed_iter(iter) && !atomic_read(&nr_calls);
}

static __always_inline ssize_t wrapper(struct kiocb *iocb, struct iov_iter *iter,
				       unsigned long original, u64 id, u8 op)
{
	u64 start, offset, requested;
	ssize_t ret;

	if (unlikely(!is_plain(iocb, iter)))
		return special_wrapper(iocb, iter, original, id, op);
	offset = iocb->ki_pos;
	requested = iov_iter_count(iter);
	start = ktime_get_mono_fast_ns();
	ret = iot_hook_enter(iocb, iter, original);
	record(id, start, offset, requested, ret, op, 0);
	iot_hook_leave();
	return ret;
}

static ssize_t read_wrapper(struct kiocb *iocb, struct iov_iter *iter,
			    unsigned long original, u64 id)
{
	return wrapper(iocb, iter, original, id, IOT_OP_READ);
}

static ssize_t write_wrapper(struct kiocb *iocb, struct iov_iter *iter,
			     unsigned long original, u64 id)
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

/* Those of plain calls of files that are known; the others may be rejected. */
static __always_inline ssize_t fs_wrapper(struct kiocb *iocb, struct iov_iter *iter,
					  unsigned long original, u8 op)
{
	u64 start, offset, requested;
	struct iot_rw rw IOT_UNINITIALIZED;
	ssize_t ret;

	if (unlikely(!is_plain(iocb, iter) || !iot_rw_begin_known(&rw, iocb->ki_filp)))
		return op == IOT_OP_WRITE ? iot_vfs_write_any_entry(iocb, iter, original, 0, 0) :
					    iot_vfs_read_any_entry(iocb, iter, original, 0, 0);
	offset = iocb->ki_pos;
	requested = iov_iter_count(iter);
	start = ktime_get_mono_fast_ns();
	ret = iot_hook_enter(iocb, iter, original);
	iot_rw_end(&rw, start, offset, requested, ret, op == IOT_OP_WRITE, 0);
	iot_hook_leave();
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
 * What follows gets the handler's arguments where they are: @ip first, @fregs fourth,
 * so that the handlers, which every call of every file passes, move none of them.
 */
static noinline void redirect_by_handle(unsigned long ip, struct inode *inode,
					void *wrapper, struct ftrace_regs *fregs)
{
	struct iot_target *t = iot_target_find(inode);

	if (t)
		iot_hook_redirect(iot_ftrace_regs(fregs), ip, wrapper, t->id);
	preempt_enable_notrace();
}

/*
 * A call for a file that may be a running target: redirect it if it is. Of a file
 * whose number says too little the handle decides.
 */
static __always_inline void redirect_target(unsigned long ip, struct inode *inode, u64 hash,
					    void *wrapper, struct ftrace_regs *fregs)
{
	struct iot_target *t;

	preempt_disable_notrace();
	t = iot_target_find_number(inode, hash);
	if (likely(t)) {
		if (unlikely(t->key.fh_words)) {
			redirect_by_handle(ip, inode, wrapper, fregs);
			return;
		}
		iot_hook_redirect(iot_ftrace_regs(fregs), ip, wrapper, t->id);
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

/* Category fs and perhaps a target want the call. */
static noinline void redirect_both(unsigned long ip, struct inode *inode, u8 op,
				   struct ftrace_regs *fregs)
{
	iot_hook_redirect(iot_ftrace_regs(fregs), ip, op == IOT_OP_WRITE ?
			  iot_vfs_write_any_entry : iot_vfs_read_any_entry, target_id(inode));
}

/* Category block alone wants the call, if it is one of its tasks'. */
static __always_inline void redirect_tracked(unsigned long ip, u8 op, struct ftrace_regs *fregs)
{
	bool wanted;

	preempt_disable_notrace();
	wanted = iot_category_wants_task(&iot_block);
	preempt_enable_notrace();
	if (wanted)
		iot_hook_redirect(iot_ftrace_regs(fregs), ip, op == IOT_OP_WRITE ?
				  write_tracking_wrapper : read_tracking_wrapper, 0);
}

/*
 * Category fs may want the call: it depends on what is seldom asked for; or block does,
 * mostly alone.
 */
static noinline void redirect_rare(unsigned long ip, struct inode *inode, u8 op,
				   struct ftrace_regs *fregs)
{
	const struct kiocb *iocb = (const struct kiocb *)iot_ftrace_regs(fregs)->di;
	u32 state = READ_ONCE(iot_fs.state);
	bool tracks = iot_rw_tracks(state, iocb->ki_flags);

	if (tracks && !(state & IOT_CATEGORY_ACTIVE) && !iot_target_maybe(inode))
		redirect_tracked(ip, op, fregs);
	else if (tracks || !iot_rw_rejects_rare())
		redirect_both(ip, inode, op, fregs);
	else if (iot_target_maybe(inode) && op == IOT_OP_WRITE)
		redirect_write(ip, inode, iot_target_hash(inode->i_ino), fregs);
	else if (iot_target_maybe(inode))
		redirect_read(ip, inode, iot_target_hash(inode->i_ino), fregs);
}

/* Does category fs want the call, or block follow it? @state: of fs, not 0 */
static __always_inline bool fs_wants(u32 state, const struct kiocb *iocb, u8 op)
{
	bool write = op == IOT_OP_WRITE;

	if (likely(state == IOT_CATEGORY_ACTIVE))
		return !iot_rw_rejects(state, iocb->ki_filp, write, NULL);
	return iot_rw_tracks(state, iocb->ki_flags) ||
	       !iot_rw_rejects(state, iocb->ki_filp, write, &iocb->ki_flags);
}

/* Category fs wants the call, and perhaps a target. */
static __always_inline void redirect_fs(unsigned long ip, struct inode *inode, u8 op,
					struct ftrace_regs *fregs)
{
	if (unlikely(iot_target_maybe(inode)))
		redirect_both(ip, inode, op, fregs);
	else
		iot_hook_redirect_plain(iot_ftrace_regs(fregs), ip, op == IOT_OP_WRITE ?
					write_fs_wrapper : read_fs_wrapper);
}

/*
 * Entry of every ->read_iter or ->write_iter of a filesystem that has a target,
 * or of all of them: what a call that nobody wants pays for is one look at the
 * state of category fs and iot_target_maybe(). All that is called from here is
 * called last, so that no register has to be saved.
 */
static __always_inline void redirect_call(unsigned long ip, struct ftrace_regs *fregs,
					  u8 op)
{
	struct kiocb *iocb = (struct kiocb *)iot_ftrace_regs(fregs)->di;
	struct inode *inode = file_inode(iocb->ki_filp);
	u32 state = READ_ONCE(iot_fs.state);

	if (unlikely(iot_hook_is_shared(iot_ftrace_regs(fregs)))) {
		iot_hook_redirect_bare(iot_ftrace_regs(fregs), ip);
		return;
	}

	if (state && fs_wants(state, iocb, op)) {
		/* without a filter nothing is rare */
		if (likely(state == IOT_CATEGORY_ACTIVE) || likely(!iot_rw_is_rare(state)))
			redirect_fs(ip, inode, op, fregs);
		else
			redirect_rare(ip, inode, op, fregs);
		return;
	}
	if (likely(!iot_target_maybe(inode)))
		return;
	if (op == IOT_OP_WRITE)
		redirect_write(ip, inode, iot_target_hash(inode->i_ino), fregs);
	else
		redirect_read(ip, inode, iot_target_hash(inode->i_ino), fregs);
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

/* Of the wrappers above what a stub calls: one that can tell that it rejects the call. */
static void *wrapper_at(unsigned long ip)
{
	if (ip == (unsigned long)read_fs_wrapper || ip == (unsigned long)iot_vfs_read_any_entry)
		return iot_vfs_read_any;
	if (ip == (unsigned long)write_fs_wrapper || ip == (unsigned long)iot_vfs_write_any_entry)
		return iot_vfs_write_any;
	return (void *)ip; /* never rejects, and has one argument less */
}

static struct file *file_of(struct ftrace_regs *fregs)
{
	return ((struct kiocb *)iot_ftrace_regs(fregs)->di)->ki_filp;
}

static void read_generic_entry(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (iot_hook_is_shared(iot_ftrace_regs(fregs)) ||
	    is_own_function(file_of(fregs), ip, IOT_OP_READ))
		read_entry(ip, parent_ip, ops, fregs);
}

static void write_generic_entry(unsigned long ip, unsigned long parent_ip,
				struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (iot_hook_is_shared(iot_ftrace_regs(fregs)) ||
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

/* The same by kretprobe. Handlers run with preemption off. */
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
	id = target_id(file_inode(file));
	wanted = iot_rw_wants(file, op == IOT_OP_WRITE, &iocb->ki_flags);
	if (!id && !wanted && !iot_rw_tracks(READ_ONCE(iot_fs.state), iocb->ki_flags))
		return 1;
	call_begin(call, iocb, iter, id, op);
	call_own(call, get_kretprobe(ri));
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

/* Splice, copy and clone move a range; the last two from one file to another. */
struct range_call {
	struct vfs_call in;
	struct vfs_call out;
};

/* As is_own_function(): those of one filesystem go on in those of others. */
static bool is_own_range(struct kretprobe_instance *ri, const void *func)
{
	return is_entry_of((unsigned long)get_kretprobe(ri)->kp.addr, func);
}

static bool range_begin(struct kretprobe_instance *ri, struct vfs_call *call,
			struct file *file, u64 offset, u64 len, u8 op, u16 flags)
{
	struct inode *inode = file_inode(file);
	u64 id = target_id(inode);

	memset(call, 0, sizeof(*call));
	if (!id)
		return false;
	call->direct.id = id;
	call->direct.offset = offset;
	call->requested = len;
	call->op = op;
	call->flags = flags;
	call->start = ktime_get_mono_fast_ns();
	call_track(call);
	call_own(call, get_kretprobe(ri));
	return true;
}

static void range_end(struct vfs_call *call, s64 result, bool wanted)
{
	if (!call->direct.id)
		return;
	if (call->tracked)
		call_untrack(call);
	if (wanted && !call->inner)
		call_record(call, result);
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

/* Of the file that is written to: vfs_copy_file_range(), fs/read_write.c. */
static int copy_probe_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct file *out = (void *)regs_get_kernel_argument(regs, 2);

	return is_own_range(ri, out->f_op->copy_file_range) ? pair_entry(ri, regs) : 1;
}

/* vfs_copy_file_range() goes on by splicing after these two errors. */
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
 * Of the file that is read: vfs_clone_file_range(), fs/remap_range.c. Comparing for
 * deduplication moves nothing.
 */
static int remap_probe_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct file *in = (void *)regs_get_kernel_argument(regs, 0);

	if ((regs_get_kernel_argument(regs, 5) & REMAP_FILE_DEDUP) ||
	    !is_own_range(ri, in->f_op->remap_file_range))
		return 1;
	return pair_entry(ri, regs);
}

/* A clone that is not possible is tried as a copy, or no transfer at all. */
static int remap_probe_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct range_call *call = (struct range_call *)ri->data;
	s64 ret = regs_return_value(regs);

	range_end(&call->in, ret, ret > 0);
	range_end(&call->out, ret, ret > 0);
	return 0;
}

/* As the first two of types[], for functions that others call. */
static const struct iot_hook_type generic_types[] = {
	[IOT_VFS_READ] = {
		.name = "read_iter", .ftrace = read_generic_entry, .wrapper_at = wrapper_at,
		.entry = read_probe_entry, .exit = iter_probe_exit,
		.forget = forget_calls,
		.data_size = sizeof(struct vfs_call),
	},
	[IOT_VFS_WRITE] = {
		.name = "write_iter", .ftrace = write_generic_entry, .wrapper_at = wrapper_at,
		.entry = write_probe_entry, .exit = iter_probe_exit,
		.forget = forget_calls,
		.data_size = sizeof(struct vfs_call),
	},
};

static const struct iot_hook_type types[IOT_VFS_OPS] = {
	[IOT_VFS_READ] = {
		.name = "read_iter", .ftrace = read_entry, .wrapper_at = wrapper_at,
		.entry = read_probe_entry, .exit = iter_probe_exit,
		.forget = forget_calls,
		.data_size = sizeof(struct vfs_call),
	},
	[IOT_VFS_WRITE] = {
		.name = "write_iter", .ftrace = write_entry, .wrapper_at = wrapper_at,
		.entry = write_probe_entry, .exit = iter_probe_exit,
		.forget = forget_calls,
		.data_size = sizeof(struct vfs_call),
	},
	[IOT_VFS_SPLICE] = {
		.name = "splice_read",
		.entry = splice_probe_entry, .exit = splice_probe_exit,
		.forget = forget_calls,
		.data_size = sizeof(struct range_call),
	},
	[IOT_VFS_SPLICE_IN] = {
		.name = "splice_write",
		.entry = splice_in_probe_entry, .exit = splice_probe_exit,
		.forget = forget_calls,
		.data_size = sizeof(struct range_call),
	},
	[IOT_VFS_COPY] = {
		.name = "copy_file_range",
		.entry = copy_probe_entry, .exit = copy_probe_exit,
		.forget = forget_calls,
		.data_size = sizeof(struct range_call),
	},
	[IOT_VFS_REMAP] = {
		.name = "remap_file_range",
		.entry = remap_probe_entry, .exit = remap_probe_exit,
		.forget = forget_calls,
		.data_size = sizeof(struct range_call),
	},
};

/**
 * iot_vfs_sleeps_bounded() - do reads and writes of its files sleep with a bound?
 *
 * A wrapper of ours on a task's stack delays unloading for as long. Userspace or
 * a server may be behind others.
 */
bool iot_vfs_sleeps_bounded(const struct super_block *sb)
{
	if (sb->s_magic == FUSE_SUPER_MAGIC)
		return false;
	return (sb->s_type->fs_flags & FS_REQUIRES_DEV) ||
	       sb->s_magic == TMPFS_MAGIC || sb->s_magic == RAMFS_MAGIC;
}

static const struct iot_hook_type *type_of(int op, void *func)
{
	if (func == generic_file_read_iter || func == generic_file_write_iter)
		return &generic_types[op];
	return &types[op];
}

static int get_hooks(struct iot_vfs_hooks *hooks, void *func[IOT_VFS_OPS], bool bounded)
{
	int i;

	for (i = 0; i < IOT_VFS_OPS; i++) {
		if (!func[i])
			continue;
		hooks->hook[i] = iot_hook_get(type_of(i, func[i]), func[i], bounded);
		if (!hooks->hook[i]) {
			iot_vfs_put(hooks);
			return -ENOMEM;
		}
	}
	return 0;
}

/**
 * iot_vfs_get_rw() - the hooks of reads and writes only
 * @hooks:	zeroed
 * @fop:	of any kind of file
 * @bounded:	calls sleep with a bound
 */
int iot_vfs_get_rw(struct iot_vfs_hooks *hooks, const struct file_operations *fop,
		   bool bounded)
{
	void *func[IOT_VFS_OPS] = {
		[IOT_VFS_READ] = fop->read_iter,
		[IOT_VFS_WRITE] = fop->write_iter,
	};

	return get_hooks(hooks, func, bounded);
}

/**
 * iot_vfs_get() - hold the hooks that a file needs; they are not enabled yet
 * @hooks:	zeroed
 * @inode:	of the file
 *
 * Return: 0, -ENOMEM, or -EOPNOTSUPP: reads and writes of this filesystem do not
 * go through ->read_iter and ->write_iter.
 */
int iot_vfs_get(struct iot_vfs_hooks *hooks, struct inode *inode)
{
	const struct file_operations *fop = inode->i_fop;
	void *func[IOT_VFS_OPS] = {
		[IOT_VFS_READ] = fop->read_iter,
		[IOT_VFS_WRITE] = fop->write_iter,
		[IOT_VFS_SPLICE] = fop->splice_read,
		[IOT_VFS_SPLICE_IN] = fop->splice_write,
		[IOT_VFS_COPY] = fop->copy_file_range,
		[IOT_VFS_REMAP] = fop->remap_file_range,
	};
	int err;

	if (!func[IOT_VFS_READ])
		return -EOPNOTSUPP;
	if (func[IOT_VFS_SPLICE] == iot_splice_by_read_iter)
		func[IOT_VFS_SPLICE] = NULL;
	if (func[IOT_VFS_SPLICE_IN] == iter_file_splice_write)
		func[IOT_VFS_SPLICE_IN] = NULL;
	err = get_hooks(hooks, func, iot_vfs_sleeps_bounded(inode->i_sb));
	if (err)
		return err;
	hooks->block = inode->i_sb->s_type->fs_flags & FS_REQUIRES_DEV;
	return 0;
}

void iot_vfs_put(struct iot_vfs_hooks *hooks)
{
	iot_hooks_put(hooks->hook, IOT_VFS_OPS);
}

/** iot_vfs_enable() - all of them, or none and an error */
int iot_vfs_enable(struct iot_vfs_hooks *hooks)
{
	return iot_hooks_enable(hooks->hook, IOT_VFS_OPS);
}

void iot_vfs_disable(struct iot_vfs_hooks *hooks)
{
	iot_hooks_disable(hooks->hook, IOT_VFS_OPS);
}

/** iot_vfs_missed() - calls of the filesystem that the hooks could not follow */
unsigned long iot_vfs_missed(const struct iot_vfs_hooks *hooks)
{
	unsigned long missed = 0;
	int i;

	for (i = 0; i < IOT_VFS_OPS; i++)
		if (hooks->hook[i])
			missed += iot_hook_missed(hooks->hook[i]);
	return missed + iot_hook_refused();
}

/** iot_vfs_init() - find out how requests of io_uring and of io_submit are told from others */
void iot_vfs_init(void)
{
	uring_complete[0] = iot_hook_symbol("io_complete_rw");
	uring_complete[1] = iot_hook_symbol("io_complete_rw_iopoll");
	aio_complete = iot_hook_symbol("aio_complete_rw");
	if (IS_ENABLED(CONFIG_IO_URING) && !uring_complete[0])
		pr_warn("io_complete_rw is not in this kernel: retries of io_uring are recorded as events of their own\n");
}
