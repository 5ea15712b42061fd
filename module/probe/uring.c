// SPDX-License-Identifier: GPL-2.0
/*
 * Category uring: requests of io_uring, and calls of io_uring_enter(2).
 *
 *   io_uring_enter		ENTER: the call, with the time it took
 *   io_uring_submit_req	SUBMIT: the kernel took a request from the ring. A copy of
 *				its sqe is kept until the request is completed
 *   io_uring_req_failed	SUBMIT with an error: the kernel refused the request; a
 *				COMPLETE follows
 *   io_uring_queue_async_work	the request is queued for a worker
 *   io_wq_submit_work		WORKER: a worker started on the request, with the time
 *				since it was queued
 *   io_uring_complete		COMPLETE: a cqe is posted; more follow if it is flagged MORE
 *   io_uring_cqe_overflow	COMPLETE for which there was no room in the ring
 *
 * A request is found by the address of its struct io_kiocb, which the kernel reuses once
 * the request is completed. Some cqes are posted without it: those of multishot requests
 * except for the last, those that do not fit, and the second one of a zero-copy send. They
 * are found by ring and user_data, see core/second_key.c. If several requests in flight have the
 * same user_data, the latest is taken. A message from another ring (IORING_OP_MSG_RING) belongs to
 * no request here. A request that ends without a cqe (IOSQE_CQE_SKIP_SUCCESS) keeps its slot until
 * the next request at its address.
 *
 * A program may write to its ring at any time, and struct io_kiocb has only a part of what
 * the kernel took from an sqe. If that part differs from the sqe when the probe reads it,
 * the events of the request are flagged CHANGED. So they are if more bytes were moved than
 * requested. What the kernel took is recorded then; the rest is what the ring held.
 *
 * Contexts: tracepoints fire with preemption off. Submit and refusal fire in the submitting
 * task or the ring's SQPOLL thread, with the lock of the ring held; complete fires in any
 * task of the ring, a worker, or an interrupt. io_wq_submit_work() is called by workers and
 * by tasks that cancel work. io_uring_enter(2) may be unbounded, so it has a kretprobe.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_URING /* left_out.h */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/nospec.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/siphash.h>
#include <linux/timekeeping.h>
#include "compat/io_uring.h"
#include "core/second_key.h"
#include "core/clock.h"
#include "core/table.h"
#include "core/task.h"
#include "hook/hook.h"
#include "hook/hook_set.h"
#include "hook/kretprobe.h"
#include "hook/point.h"
#include "hook/symbol.h"
#include "file/paths.h"
#include "record/event.h"
#include "record/wants.h"
#include "probe/categories.h"
#include "uapi/iotracer.h"

/**
 * struct flight - a request from SUBMIT to its last COMPLETE
 * @ctx:	its ring; only compared, never dereferenced
 * @time:	of SUBMIT; ns, CLOCK_MONOTONIC, like @queued
 * @queued:	when it was queued for the workers, 0 if it never was
 * @number:	id of the request in records
 * @file:	the file that it works on, as far as it is known
 * @pid:	of the submitter, like @tid, @ppid, @uid, @cgroup and @comm
 * @worker:	tid of the worker that ran it, 0 if none did
 * @second_key:	hash of its ring and user_data
 * @multishot:	some of its cqes are posted without its struct io_kiocb
 */
struct flight {
	const struct io_ring_ctx *ctx;
	u64 time;
	u64 queued;
	u64 number;
	u64 user_data;
	u64 offset;
	u64 cgroup;
	u64 second_key;
	struct iot_paths_file file;
	u32 ring;
	u32 setup;
	u32 requested;
	u32 op_flags;
	u32 pid;
	u32 tid;
	u32 ppid;
	u32 uid;
	u32 worker;
	s32 fd;
	s32 fd2;
	u16 opcode;
	u16 ioprio;
	u16 buf_index;
	u16 personality;
	u16 unsure;
	u8 sqe_flags;
	bool multishot;
	char comm[TASK_COMM_LEN];
};

/**
 * struct step - an event of a request or call that is about to be recorded
 * @time:	when it began, CLOCK_MONOTONIC ns; it happened @latency later
 * @flags:	IORING_ENTER_*, IOSQE_* or IORING_CQE_F_*
 * @sq_depth:	requests in the ring that the kernel has not taken yet
 * @cq_depth:	completions in the ring that the program has not taken yet
 */
struct step {
	u64 time;
	u64 latency;
	s64 result;
	u32 flags;
	u32 to_submit;
	u32 min_complete;
	u32 sq_depth;
	u32 cq_depth;
	u16 op;
};

static struct iot_category * const category = &iot_category_uring;

static void flight_gone(void *thing, bool displaced);

#define FLIGHT_BITS	13

static struct iot_table flights = {
	IOT_TABLE_OF(struct flight, time, uid, pid),
	IOT_TABLE_BEGUN(FLIGHT_BITS),
	.gone = flight_gone,
};

static_assert(IOT_TABLE_SLOTS(FLIGHT_BITS) * (sizeof(struct flight) / sizeof(u64) + 1) <
	      BIT(IOT_SECOND_KEY_INDEX_BITS));

static struct iot_second_keys second_keys;
static DEFINE_PER_CPU(u64, nr_flights);
static siphash_key_t ring_key;

/* The ring last used on a CPU and its id, as computing an id costs as much as a record. */
struct last_ring {
	const struct io_ring_ctx *ctx;
	u32 number;
};

static DEFINE_PER_CPU(struct last_ring, last_ring);
static unsigned long show_fdinfo;
static int file_in_node;	/* iot_uring_file_in_node() */
static atomic_long_t nr_missed;

static bool is_wanted(void)
{
	return in_task() && iot_category_wants(category, IOT_ANY_OP);
}

static bool is_rejected(const struct flight *fl, const struct step *s)
{
	s64 size = s->op == IOT_URING_COMPLETE ? s->result : fl->requested;

	return iot_category_rejects_file(category, fl->file.kind, fl->file.dev, fl->file.ino) ||
	       iot_category_rejects_at_end(category, s->op, s->latency, size, false);
}

static void record(const struct flight *fl, const struct step *s)
{
	struct iot_event_at at;
	struct iot_uring *e;

	preempt_disable_notrace();
	if (iot_category_asks_at_end(category, IOT_FILTER_OP | IOT_CATEGORY_BY_FILE |
				     IOT_FILTER_KIND) && is_rejected(fl, s))
		goto out;
	e = iot_event_reserve(category, &at);
	if (!e)
		goto out;
	iot_event_fill(e, &at, category, s->op, s->time, s->latency);
	e->request = fl->number;
	e->user_data = fl->user_data;
	e->offset = fl->offset;
	e->inode = fl->file.ino;
	e->path = fl->file.id;
	e->cgroup = fl->cgroup;
	e->result = s->result;
	e->requested = fl->requested;
	e->ring = fl->ring;
	e->device = fl->file.dev;
	e->pid = fl->pid;
	e->tid = fl->tid;
	e->ppid = fl->ppid;
	e->uid = fl->uid;
	e->flags = s->flags;
	e->setup = fl->setup;
	e->op_flags = fl->op_flags;
	e->to_submit = s->to_submit;
	e->min_complete = s->min_complete;
	e->worker = fl->worker;
	e->sq_depth = s->sq_depth;
	e->cq_depth = s->cq_depth;
	e->fd = fl->fd;
	e->fd2 = fl->fd2;
	e->opcode = fl->opcode;
	e->ioprio = fl->ioprio;
	e->buf_index = fl->buf_index;
	e->personality = fl->personality;
	e->kind = fl->file.kind;
	e->unsure = fl->unsure;
	memcpy(e->comm, fl->comm, sizeof(e->comm));
	iot_event_commit(category, &at);
out:
	preempt_enable_notrace();
}

/* The id of a ring in records: a keyed hash, so that programs see no kernel address. */
static u32 number_of(const struct io_ring_ctx *ctx)
{
	struct last_ring *last;
	u32 number;

	if (!in_task()) /* the interrupted code may be using last_ring */
		return siphash_1u64((unsigned long)ctx, &ring_key);
	preempt_disable_notrace();
	last = this_cpu_ptr(&last_ring);
	if (last->ctx != ctx) {
		last->ctx = ctx;
		last->number = siphash_1u64((unsigned long)ctx, &ring_key);
	}
	number = last->number;
	preempt_enable_notrace();
	return number;
}

static void note_ring(struct flight *fl, const struct io_ring_ctx *ctx)
{
	fl->ctx = ctx;
	fl->ring = number_of(ctx);
	fl->setup = READ_ONCE(ctx->flags);
}

/*
 * Note how many entries the kernel and the program have not taken yet. The indices that the
 * program writes may have any value.
 * Context: one of the ring's locks is held.
 */
static void note_depths(struct step *s, const struct io_ring_ctx *ctx)
{
	const struct io_rings *rings = ctx->rings;

	s->sq_depth = READ_ONCE(rings->sq.tail) - READ_ONCE(ctx->cached_sq_head);
	s->cq_depth = READ_ONCE(ctx->cached_cq_tail) - READ_ONCE(rings->cq.head);
}

/*
 * As above, but the caller holds no lock. The depths stay 0 if the rings cannot be locked, for
 * example while they are being replaced.
 */
static void try_depths(struct step *s, struct io_ring_ctx *ctx)
{
	if (!iot_uring_hold_rings(ctx))
		return;
	note_depths(s, ctx);
	iot_uring_release_rings(ctx);
}

static void note_file(struct flight *fl, const struct file *file)
{
	if (file && !fl->file.kinds)
		iot_paths_of(iot_file_user_path(file), false, &fl->file);
}

/* Does the fd of a request with this opcode name an open file? */
static bool has_file(u8 opcode)
{
	switch (opcode) {
	case IORING_OP_NOP:
	case IORING_OP_POLL_REMOVE:
	case IORING_OP_TIMEOUT:
	case IORING_OP_TIMEOUT_REMOVE:
	case IORING_OP_ASYNC_CANCEL:
	case IORING_OP_LINK_TIMEOUT:
	case IORING_OP_OPENAT:
	case IORING_OP_FILES_UPDATE:
	case IORING_OP_STATX:
	case IORING_OP_MADVISE:
	case IORING_OP_OPENAT2:
	case IORING_OP_PROVIDE_BUFFERS:
	case IORING_OP_REMOVE_BUFFERS:
	case IORING_OP_RENAMEAT:
	case IORING_OP_UNLINKAT:
	case IORING_OP_MKDIRAT:
	case IORING_OP_SYMLINKAT:
	case IORING_OP_LINKAT:
	case IORING_OP_SETXATTR:
	case IORING_OP_GETXATTR:
	case IORING_OP_SOCKET:
	case IOT_URING_WAITID:
	case IOT_URING_FUTEX_WAIT:
	case IOT_URING_FUTEX_WAKE:
	case IOT_URING_FUTEX_WAITV:
	case IOT_URING_PIPE:
	case IOT_URING_NOP128:
		return false;
	}
	return true;
}

/*
 * Note the file of a request. The kernel looks the file up only when it issues the request, and
 * most likely finds the same one.
 */
static void note_file_of(struct flight *fl, const struct io_ring_ctx *ctx)
{
	struct file *file;

	if (!has_file(fl->opcode))
		return;
	if (fl->sqe_flags & IOSQE_FIXED_FILE) {
		note_file(fl, iot_uring_fixed_file(ctx, fl->fd, file_in_node));
		return;
	}
	if (fl->opcode == IORING_OP_CLOSE && fl->fd2)
		return; /* closes a slot of the ring's file table */
	if (!current->files)
		return;
	file = fget(fl->fd);
	if (!file)
		return;
	note_file(fl, file);
	fput(file);
}

#define SETUP_SQE_MIXED		BIT(19)	/* IORING_SETUP_SQE_MIXED, 6.19 */

/* Entries that the kernel took for a request. */
static unsigned int entries_of(const struct io_kiocb *req)
{
	if (likely(!(req->ctx->flags & SETUP_SQE_MIXED)))
		return 1;
	return req->opcode == IOT_URING_NOP128 || req->opcode == IOT_URING_CMD128 ? 2 : 1;
}

/* The sqe of the request that the kernel took last: io_get_sqe(), io_uring/io_uring.c. */
static const struct io_uring_sqe *last_sqe(const struct io_kiocb *req)
{
	const struct io_ring_ctx *ctx = req->ctx;
	unsigned int n = (ctx->cached_sq_head - entries_of(req)) & (ctx->sq_entries - 1);

	if (!(ctx->flags & IORING_SETUP_NO_SQARRAY))
		n = READ_ONCE(ctx->sq_array[n]);
	if (n >= ctx->sq_entries)
		return NULL;
	n = array_index_nospec(n, ctx->sq_entries);
	return &ctx->sq_sqes[ctx->flags & IORING_SETUP_SQE128 ? n << 1 : n];
}

/* Will cqes be posted without the struct io_kiocb of the request? */
static bool is_multishot(const struct flight *fl)
{
	switch (fl->opcode) {
	case IORING_OP_POLL_ADD:
		return fl->requested & IORING_POLL_ADD_MULTI;
	case IORING_OP_ACCEPT:
		return fl->ioprio & IORING_ACCEPT_MULTISHOT;
	case IORING_OP_RECV:
	case IORING_OP_RECVMSG:
		return fl->ioprio & IORING_RECV_MULTISHOT;
	case IORING_OP_SEND:
		return fl->ioprio & BIT(4); /* IORING_RECVSEND_BUNDLE, 6.10 */
	case IORING_OP_TIMEOUT:
		return fl->op_flags & BIT(6); /* IORING_TIMEOUT_MULTISHOT, 6.4 */
	case IORING_OP_SEND_ZC:
	case IORING_OP_SENDMSG_ZC:
	case IOT_URING_READ_MULTISHOT:
		return true;
	}
	return false;
}

/* Does the opcode move bytes between a file and one buffer, whose length is in the sqe? */
static bool is_plain(u16 opcode)
{
	switch (opcode) {
	case IORING_OP_READ:
	case IORING_OP_WRITE:
	case IORING_OP_READ_FIXED:
	case IORING_OP_WRITE_FIXED:
		return true;
	}
	return false;
}

static bool is_vectored(u16 opcode)
{
	return opcode == IORING_OP_READV || opcode == IORING_OP_WRITEV ||
	       opcode == IOT_URING_READV_FIXED || opcode == IOT_URING_WRITEV_FIXED;
}

/* Flags that the kernel may add to those of the sqe: io_init_req(). */
#define ADDED_FLAGS	(IOSQE_IO_DRAIN | IOSQE_ASYNC)

/*
 * Compare what was read from the sqe with what the kernel took. Context: before the request
 * is issued.
 */
static void check_sqe(struct flight *fl, const struct io_kiocb *req, u64 user_data, u8 opcode)
{
	u8 taken = (__force u64)req->flags & (BIT(IOSQE_CQE_SKIP_SUCCESS_BIT + 1) - 1);
	bool same = user_data == fl->user_data && opcode == fl->opcode &&
		    !((fl->sqe_flags ^ taken) & ~(taken & ADDED_FLAGS));

	if (!same)
		fl->sqe_flags = taken;
	if (is_plain(fl->opcode) || is_vectored(fl->opcode)) {
		same = same && fl->fd == req->cqe.fd && fl->offset == iot_uring_offset(req);
		fl->fd = req->cqe.fd;
		fl->offset = iot_uring_offset(req);
	}
	if (!same)
		fl->unsure |= IOT_UNSURE_CHANGED;
}

/* If more bytes were moved than requested, the sqe requested more when the kernel took it. */
static void check_result(struct flight *fl, int result)
{
	if (unlikely(result > (s64)fl->requested) && is_plain(fl->opcode) &&
	    !(fl->sqe_flags & IOSQE_BUFFER_SELECT))
		fl->unsure |= IOT_UNSURE_CHANGED;
}

/* The program may still change the sqe, so fields that the kernel has copied take precedence. */
static void note_sqe(struct flight *fl, const struct io_kiocb *req,
		     const struct io_uring_sqe *sqe, int error)
{
	u64 user_data = READ_ONCE(sqe->user_data);
	u8 opcode = READ_ONCE(sqe->opcode);

	fl->user_data = req->cqe.user_data;
	fl->opcode = error ? opcode : req->opcode;
	fl->sqe_flags = READ_ONCE(sqe->flags);
	fl->offset = READ_ONCE(sqe->off);
	fl->requested = READ_ONCE(sqe->len);
	fl->op_flags = (__force u32)READ_ONCE(sqe->rw_flags);
	if (fl->opcode == IORING_OP_OPENAT)
		fl->op_flags = iot_open_flags(fl->op_flags);
	fl->fd = READ_ONCE(sqe->fd);
	fl->fd2 = READ_ONCE(sqe->splice_fd_in);
	fl->ioprio = READ_ONCE(sqe->ioprio);
	fl->buf_index = READ_ONCE(sqe->buf_index);
	fl->personality = READ_ONCE(sqe->personality);
	if (!error)
		check_sqe(fl, req, user_data, opcode);
}

/*
 * The hash of the second key of a request. It is mixed, as user_data may be consecutive numbers:
 * with some secrets the products alone would be in few lines.
 */
static u64 second_key_of(const struct io_ring_ctx *ctx, u64 user_data)
{
	return iot_table_mix(iot_table_pair((unsigned long)ctx, user_data));
}

static void note_second_key(struct flight *fl)
{
	fl->second_key = second_key_of(fl->ctx, fl->user_data);
	fl->multishot = is_multishot(fl);
	if (!iot_second_key_add(&second_keys, fl->second_key, iot_table_index(&flights, fl)))
		atomic_long_inc(&nr_missed);
}

/* A request was forgotten. If its last cqe still comes, it belongs to no known request. */
static void flight_gone(void *thing, bool displaced)
{
	const struct flight *fl = thing;

	iot_second_key_remove(&second_keys, fl->second_key, iot_table_index(&flights, fl));
	if (displaced)
		atomic_long_inc(&nr_missed);
}

static bool is_flight(const struct flight *fl, const struct io_ring_ctx *ctx, u64 user_data)
{
	return READ_ONCE(fl->ctx) == ctx && READ_ONCE(fl->user_data) == user_data;
}

/*
 * The latest request with this user_data, held, or NULL. @multishot: consider multishot
 * requests only.
 */
static struct flight *take_named(const struct io_ring_ctx *ctx, u64 user_data, bool multishot)
{
	u64 key = second_key_of(ctx, user_data);
	u32 numbers[IOT_SECOND_KEY_WIDTH];
	struct flight *fl, *latest = NULL;
	unsigned int n = iot_second_key_find(&second_keys, key, numbers);

	while (n--) {
		fl = iot_table_at(&flights, numbers[n]);
		if (is_flight(fl, ctx, user_data) && (!multishot || READ_ONCE(fl->multishot)) &&
		    (!latest || READ_ONCE(fl->time) > READ_ONCE(latest->time)))
			latest = fl;
	}
	fl = latest ? iot_table_take_at(&flights, latest) : NULL;
	if (!fl || is_flight(fl, ctx, user_data))
		return fl;
	iot_table_keep(fl);
	return NULL;
}

/* Find what is known of a request. Return: the entry, held, or NULL. */
static struct flight *take(const struct io_ring_ctx *ctx, const struct io_kiocb *req)
{
	struct flight *fl = iot_table_take(&flights, req);

	if (!fl || likely(fl->ctx == ctx))
		return fl;
	iot_table_keep(fl); /* belongs to an earlier request at this address, which had no cqe */
	return NULL;
}

static void land(struct flight *fl)
{
	iot_second_key_remove(&second_keys, fl->second_key, iot_table_index(&flights, fl));
	iot_table_drop(&flights, fl);
}

static u64 next_number(void)
{
	return this_cpu_inc_return(nr_flights) * nr_cpu_ids + raw_smp_processor_id();
}

static void seen_submit(const struct io_kiocb *req, const struct io_uring_sqe *sqe, int error)
{
	const struct io_ring_ctx *ctx = req->ctx;
	struct step s IOT_UNINITIALIZED;
	struct flight *fl;

	if (!sqe || !iot_category_active(category))
		return;
	if (!is_wanted()) {
		/* may be an earlier request at this address, which ended without a cqe */
		fl = iot_table_take(&flights, req);
		if (fl)
			land(fl);
		return;
	}
	fl = iot_table_new(&flights, req);
	if (!fl) {
		atomic_long_inc(&nr_missed);
		return;
	}
	s = (struct step) {
		.op = IOT_URING_SUBMIT,
		.result = error,
		.time = ktime_get_mono_fast_ns(),
	};
	*fl = (struct flight){ .time = s.time, .number = next_number() };
	note_ring(fl, ctx);
	note_sqe(fl, req, sqe, error);
	note_file_of(fl, ctx);
	iot_task_fill(fl);
	note_second_key(fl);
	note_depths(&s, ctx);
	s.flags = fl->sqe_flags;
	record(fl, &s);
	iot_table_keep(fl);
}

static void iot_uring_submitted(request_submitted)
{
	IOT_POINT_ENTER();

	seen_submit(req, last_sqe(req), 0);
}

static void request_refused(void *data, const struct io_uring_sqe *sqe, struct io_kiocb *req,
			    int error)
{
	IOT_POINT_ENTER();

	seen_submit(req, sqe, error);
}

static void iot_uring_queued(request_queued)
{
	IOT_POINT_ENTER();
	struct flight *fl;

	if (!iot_category_active(category))
		return;
	fl = take(req->ctx, req);
	if (!fl)
		return;
	fl->queued = ktime_get_mono_fast_ns();
	iot_table_keep(fl);
}

/*
 * Fill in what a completion tells about a request from before the trace. Return: false if the
 * completion is not wanted.
 */
static bool note_unknown(struct flight *fl, const struct io_ring_ctx *ctx,
			 const struct io_kiocb *req, u64 user_data)
{
	const struct iot_filter *f = rcu_dereference_sched(category->filter);

	if (!f || (f->used & IOT_FILTER_TASK) || !is_wanted())
		return false;
	note_ring(fl, ctx);
	fl->user_data = user_data;
	fl->opcode = req ? req->opcode : IOT_URING_NONE;
	fl->fd = -1;
	if (req && has_file(req->opcode))
		note_file(fl, req->file);
	iot_task_fill(fl);
	return true;
}

/* Note the result of a completion. Its request may have ended as a call that is made again. */
static void note_result(struct step *s, int result)
{
	s->result = result;
	if (likely(result >= 0) || !iot_event_is_interrupted(result))
		return;
	s->result = -EINTR;
	s->flags |= IOT_URING_RESTARTED;
}

/*
 * Record a completion of a request that was submitted before the trace, or that another request
 * displaced. A displaced request was counted as missed when it was displaced.
 */
static noinline void seen_unknown(const struct io_ring_ctx *ctx, const struct io_kiocb *req,
				  u64 user_data, int result, u32 flags)
{
	struct flight fl = { 0 };
	struct step s IOT_UNINITIALIZED;

	if (!note_unknown(&fl, ctx, req, user_data))
		return;
	s = (struct step) {
		.op = IOT_URING_COMPLETE,
		.flags = flags,
		.time = ktime_get_mono_fast_ns(),
	};
	note_result(&s, result);
	note_depths(&s, ctx);
	record(&fl, &s);
}

/* @fl: the request, held, or NULL. It is kept if more cqes follow, otherwise dropped */
static void seen_complete(const struct io_ring_ctx *ctx, const struct io_kiocb *req,
			  struct flight *fl, u64 user_data, int result, u32 flags)
{
	struct step s IOT_UNINITIALIZED;

	if (unlikely(!fl)) {
		seen_unknown(ctx, req, user_data, result, flags);
		return;
	}
	s = (struct step) {
		.op = IOT_URING_COMPLETE,
		.flags = flags,
		.time = fl->time,
		.latency = iot_clock_since(fl->time, ktime_get_mono_fast_ns()),
	};
	note_result(&s, result);
	note_depths(&s, ctx);
	if (unlikely(!fl->file.kinds) && req && has_file(fl->opcode))
		note_file(fl, req->file);
	check_result(fl, result);
	record(fl, &s);
	if (flags & IORING_CQE_F_MORE)
		iot_table_keep(fl);
	else
		land(fl);
}

static void completed(void *ctx, void *req, u64 user_data, int result, unsigned int cflags)
{
	IOT_POINT_ENTER();
	struct flight *fl;

	if (!iot_category_active(category))
		return;
	fl = req ? take(ctx, req) : NULL;
	if (!fl && (!req || (cflags & IORING_CQE_F_NOTIF)))
		fl = take_named(ctx, user_data, true);
	seen_complete(ctx, req, fl, user_data, result, cflags);
}

iot_uring_completed(request_completed, completed)

static void request_overflowed(void *data, void *ctx, unsigned long long user_data,
			       s32 result, u32 cflags, void *ocqe)
{
	IOT_POINT_ENTER();

	if (iot_category_active(category))
		seen_complete(ctx, NULL, take_named(ctx, user_data, false),
			      user_data, result, cflags | IOT_URING_OVERFLOW |
			      (ocqe ? 0 : IOT_URING_DROPPED));
}

/* Completion is attached first: whatever is seen to be submitted is then seen to end. */
static struct iot_point points[] = {
	{ .name = "io_uring_complete", .probe = request_completed },
	{ .name = "io_uring_cqe_overflow", .probe = request_overflowed },
	{ .name = "io_uring_queue_async_work", .probe = request_queued },
	{ .name = "io_uring_req_failed", .probe = request_refused },
	{ .name = IOT_URING_SUBMIT_POINT, .probe = request_submitted },
};

static void check_types(void)
{
	check_trace_callback_type_io_uring_complete(request_completed);
	check_trace_callback_type_io_uring_cqe_overflow(request_overflowed);
	check_trace_callback_type_io_uring_queue_async_work(request_queued);
	check_trace_callback_type_io_uring_req_failed(request_refused);
	iot_uring_check_submit(request_submitted);
}

/* io_wq_submit_work(work): a task also calls it to cancel work that no worker has started */
static void seen_worker(const unsigned long *args)
{
	const struct io_kiocb *req = container_of((void *)args[0], struct io_kiocb, work);
	struct step s = { .op = IOT_URING_WORKER };
	struct flight *fl;
	u64 now;

	if (!iot_category_active(category) || !(current->flags & PF_IO_WORKER))
		return;
	preempt_disable_notrace();
	fl = take(req->ctx, req);
	if (fl) {
		now = ktime_get_mono_fast_ns();
		s.time = fl->queued ?: now;
		s.latency = iot_clock_since(s.time, now);
		s.flags = fl->sqe_flags;
		try_depths(&s, req->ctx);
		fl->worker = current->pid;
		record(fl, &s);
		iot_table_keep(fl);
	}
	preempt_enable_notrace();
}

enum tag { TAG_WORKER, TAG_ENTER, TAG_ENTER_32 };

static struct iot_site sites[] = {
	{ .symbol = "io_wq_submit_work", .what = "WORKER", .tag = TAG_WORKER,
	  .proto = "_ (struct io_wq_work *, ...)" },
#ifdef IOT_ARCH_KNOWN
	{ .symbol = IOT_SYSCALL "io_uring_enter", .what = "ENTER", .tag = TAG_ENTER,
	  .proto = IOT_HOOK_SYSCALL, .unbounded = true },
#endif
#ifdef IOT_SYSCALL_32
	{ .symbol = IOT_SYSCALL_32 "io_uring_enter", .what = "ENTER", .tag = TAG_ENTER_32,
	  .proto = IOT_HOOK_SYSCALL, .unbounded = true },
#endif
};

/* Context: entry of the function. WORKER is recorded here, and the call is not followed. */
static enum iot_hook_verdict wants(const struct iot_site *site, const unsigned long *args,
				   unsigned long caller)
{
	if (site->tag != TAG_WORKER)
		return is_wanted() ? IOT_HOOK_FOLLOW_RETURN : IOT_HOOK_IGNORE;
	seen_worker(args);
	return IOT_HOOK_IGNORE;
}

/* A call of io_uring_enter(2) in progress. */
struct enter {
	struct step step;
	struct flight flight;
};

static void note_ring_file(struct enter *enter, const struct file *file)
{
	struct io_ring_ctx *ctx;

	/* only files of io_uring have this function */
	if (!file || !show_fdinfo ||
	    (unsigned long)file->f_op->show_fdinfo != show_fdinfo)
		return;
	ctx = file->private_data;
	note_ring(&enter->flight, ctx);
	try_depths(&enter->step, ctx);
}

static void note_ring_of(struct enter *enter)
{
	struct file *file;

	if (enter->step.flags & IORING_ENTER_REGISTERED_RING) {
		note_ring_file(enter, iot_uring_registered(enter->flight.fd));
		return;
	}
	file = fget(enter->flight.fd);
	if (!file)
		return;
	note_ring_file(enter, file);
	fput(file);
}

static u32 enter_arg(const struct pt_regs *regs, bool is_32, unsigned int n)
{
	return is_32 ? iot_syscall_arg32(regs, n) : iot_syscall_arg(regs, n);
}

static void enter_args(struct enter *enter, const struct pt_regs *regs, bool is_32)
{
	enter->flight.fd = enter_arg(regs, is_32, 0);
	enter->step.to_submit = enter_arg(regs, is_32, 1);
	enter->step.min_complete = enter_arg(regs, is_32, 2);
	enter->step.flags = enter_arg(regs, is_32, 3) & ~(u32)IOT_ENTER_RESTARTED;
}

static int entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct iot_site *site = iot_site_of(ri);
	struct enter *enter = (struct enter *)ri->data;
	unsigned long args[1];

	iot_kretprobe_args(regs, args, ARRAY_SIZE(args));
	if (site->tag == TAG_WORKER) {
		seen_worker(args);
		return 1;
	}
	if (!is_wanted())
		return 1;
	memset(enter, 0, sizeof(*enter));
	enter->step.op = IOT_URING_ENTER;
	enter->step.time = ktime_get_mono_fast_ns();
	enter->flight.opcode = IOT_URING_NONE;
	enter_args(enter, (const struct pt_regs *)args[0], site->tag == TAG_ENTER_32);
	note_ring_of(enter);
	return 0;
}

static int exit_enter(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct enter *enter = (struct enter *)ri->data;

	enter->step.latency = iot_clock_since(enter->step.time, ktime_get_mono_fast_ns());
	enter->step.result = (long)regs_return_value(regs);
	if (unlikely(enter->step.result < 0) && iot_event_is_interrupted(enter->step.result)) {
		enter->step.result = -EINTR;
		enter->step.flags |= IOT_ENTER_RESTARTED;
	}
	preempt_disable_notrace();
	iot_task_fill(&enter->flight);
	preempt_enable_notrace();
	record(&enter->flight, &enter->step);
	return 0;
}

static struct iot_hook_set set = {
	.sites = sites,
	.nr = ARRAY_SIZE(sites),
	.wants = wants,
	.entry = entry,
	.exit = exit_enter,
	.data_size = sizeof(struct enter),
};

static int start(void)
{
	int err;

	check_types();
	if (!ring_key.key[0]) /* ids of rings stay the same until the module is unloaded */
		get_random_bytes(&ring_key, sizeof(ring_key));
	show_fdinfo = iot_symbol_find("io_uring_show_fdinfo");
	file_in_node = iot_uring_file_in_node();
	iot_points_wait(); /* probes of an earlier trace may still run */
	err = iot_table_begin(&flights) ?: iot_second_keys_begin(&second_keys);
	return err ?: iot_hook_set_start(&set, points, ARRAY_SIZE(points));
}

static void stop(void)
{
	iot_hook_set_stop(&set, points, ARRAY_SIZE(points));
}

static unsigned long missed(void)
{
	return iot_hook_set_missed(&set) + atomic_long_read(&nr_missed);
}

static void release(void)
{
	iot_second_keys_free(&second_keys);
	iot_table_free(&flights);
}

const struct iot_category_ops iot_uring_ops = {
	.start = start,
	.stop = stop,
	.missed = missed,
	.release = release,
};

#endif /* IOT_WITHOUT_URING */
