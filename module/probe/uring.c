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
 * @queued:	when it was queued for the workers, CLOCK_MONOTONIC ns; 0 if it never was
 * @second_key:	hash of its ring and user_data
 * @like:	what its records have in common. The time is that of SUBMIT, and the task is the
 *		submitter. Each record gets the fields of its struct step in addition
 * @sqe_flags:	IOSQE_*
 * @multishot:	some of its cqes are posted without its struct io_kiocb
 * @has_file:	the file in @like is known
 */
struct flight {
	const struct io_ring_ctx *ctx;
	u64 queued;
	u64 second_key;
	struct iot_uring like;
	u8 sqe_flags;
	bool multishot;
	bool has_file;
};

/**
 * struct depths - requests and completions in a ring
 * @sq:		requests that the kernel has not taken yet
 * @cq:		completions that the program has not taken yet
 */
struct depths {
	u32 sq;
	u32 cq;
};

/**
 * struct step - an event of a request or call that is about to be recorded
 * @time:	when it began, CLOCK_MONOTONIC ns; it happened @latency later
 * @flags:	IORING_ENTER_*, IOSQE_* or IORING_CQE_F_*
 *
 * Functions that take one are inlined, so that it is kept in registers.
 */
struct step {
	u64 time;
	u64 latency;
	s64 result;
	u32 flags;
	struct depths depths;
	u16 op;
};

static struct iot_category * const category = &iot_category_uring;

static void flight_gone(void *thing, bool displaced);

#define FLIGHT_BITS	13

static struct iot_table flights = {
	IOT_TABLE_OF(struct flight, like.time, like.uid, like.pid),
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

static __always_inline bool is_wanted(void)
{
	return in_task() && iot_category_wants(category, IOT_ANY_OP);
}

static bool is_rejected(const struct iot_uring *like, u16 op, u64 latency, s64 result)
{
	s64 size = op == IOT_URING_COMPLETE ? result : like->requested;

	return iot_category_rejects_file(category, like->kind, like->device, like->inode) ||
	       iot_category_rejects_at_end(category, op, latency, size, false);
}

/* A record without its first word, which is the ring's: copied as one aligned object. */
struct words {
	u64 word[sizeof(struct iot_uring) / sizeof(u64) - 1];
};

static_assert(offsetof(struct iot_uring, time) == sizeof(u64));

/*
 * Reserve a record and fill it in: the fields of @like, then those of @s. Context: preemption
 * off. Return: NULL if the event is rejected, or the record is lost.
 */
static __always_inline struct iot_uring *begin_record(struct iot_event_at *at,
						      const struct iot_uring *like,
						      const struct step *s)
{
	struct iot_uring *e;

	if (iot_category_asks_at_end(category, IOT_FILTER_OP | IOT_CATEGORY_BY_FILE |
				     IOT_FILTER_KIND) &&
	    is_rejected(like, s->op, s->latency, s->result))
		return NULL;
	e = iot_event_reserve(category, at);
	if (!e)
		return NULL;
	*(struct words *)&e->time = *(const struct words *)&like->time;
	iot_event_fill(e, at, category, s->op, s->time, s->latency);
	e->result = s->result;
	e->flags = s->flags;
	e->sq_depth = s->depths.sq;
	e->cq_depth = s->depths.cq;
	return e;
}

/* Record a step of a request. Context: preemption off. */
static __always_inline void record(const struct flight *fl, const struct step *s)
{
	struct iot_event_at at;

	if (begin_record(&at, &fl->like, s))
		iot_event_commit(category, &at);
}

/*
 * The id of a ring in records: a keyed hash, so that programs see no kernel address. Context:
 * task, preemption off. An interrupt records no ring: see is_wanted().
 */
static __always_inline u32 number_of(const struct io_ring_ctx *ctx)
{
	struct last_ring *last = this_cpu_ptr(&last_ring);

	if (unlikely(last->ctx != ctx)) {
		last->ctx = ctx;
		last->number = siphash_1u64((unsigned long)ctx, &ring_key);
	}
	return last->number;
}

static __always_inline void note_ring(struct flight *fl, const struct io_ring_ctx *ctx)
{
	fl->ctx = ctx;
	fl->like.ring = number_of(ctx);
	fl->like.setup = READ_ONCE(ctx->flags);
}

/*
 * Count the entries that the kernel and the program have not taken yet. The indices that the
 * program writes may have any value.
 * Context: one of the ring's locks is held.
 */
static __always_inline struct depths depths_of(const struct io_ring_ctx *ctx)
{
	const struct io_rings *rings = ctx->rings;
	struct depths d;

	d.sq = READ_ONCE(rings->sq.tail) - READ_ONCE(ctx->cached_sq_head);
	d.cq = READ_ONCE(ctx->cached_cq_tail) - READ_ONCE(rings->cq.head);
	return d;
}

/*
 * As above, but the caller holds no lock. The depths are 0 if the rings cannot be locked, for
 * example while they are being replaced.
 */
static __always_inline struct depths try_depths(struct io_ring_ctx *ctx)
{
	struct depths d;

	if (!iot_uring_hold_rings(ctx))
		return (struct depths){ 0 };
	d = depths_of(ctx);
	iot_uring_release_rings(ctx);
	return d;
}

static __always_inline void set_file(struct flight *fl, const struct iot_paths_file *file)
{
	fl->has_file = true;
	fl->like.inode = file->ino;
	fl->like.path = file->id;
	fl->like.device = file->dev;
	fl->like.kind = file->kind;
}

static noinline void resolve_file(struct flight *fl, const struct path *path)
{
	struct iot_paths_file file;

	iot_paths_resolve(path, false, &file);
	set_file(fl, &file);
}

/* Context: preemption off; the caller holds the file, or uses it as its owner. */
static __always_inline void note_file(struct flight *fl, const struct file *file)
{
	const struct iot_path *known = NULL;
	const struct path *path;

	if (!file || fl->has_file)
		return;
	path = iot_file_user_path(file);
	if (likely(d_backing_inode(path->dentry)))
		known = iot_paths_find(path, true);
	if (likely(known))
		set_file(fl, &known->file);
	else
		resolve_file(fl, path);
}

#define NO_FILE		BIT(0)	/* the fd of the sqe names no open file */
#define PLAIN		BIT(1)	/* moves bytes between a file and a buffer of length len */
#define VECTORED	BIT(2)	/* the same with several buffers */
#define MULTISHOT	BIT(3)	/* is_multishot() has to look at the sqe, too */

/* What is known of opcodes. A byte is always an index. */
static const u8 traits[U8_MAX + 1] = {
	[IORING_OP_NOP] = NO_FILE,
	[IORING_OP_READV] = VECTORED,
	[IORING_OP_WRITEV] = VECTORED,
	[IORING_OP_READ_FIXED] = PLAIN,
	[IORING_OP_WRITE_FIXED] = PLAIN,
	[IORING_OP_POLL_ADD] = MULTISHOT,
	[IORING_OP_POLL_REMOVE] = NO_FILE,
	[IORING_OP_SENDMSG_ZC] = MULTISHOT,
	[IORING_OP_RECVMSG] = MULTISHOT,
	[IORING_OP_TIMEOUT] = NO_FILE | MULTISHOT,
	[IORING_OP_TIMEOUT_REMOVE] = NO_FILE,
	[IORING_OP_ACCEPT] = MULTISHOT,
	[IORING_OP_ASYNC_CANCEL] = NO_FILE,
	[IORING_OP_LINK_TIMEOUT] = NO_FILE,
	[IORING_OP_OPENAT] = NO_FILE,
	[IORING_OP_FILES_UPDATE] = NO_FILE,
	[IORING_OP_STATX] = NO_FILE,
	[IORING_OP_READ] = PLAIN,
	[IORING_OP_WRITE] = PLAIN,
	[IORING_OP_MADVISE] = NO_FILE,
	[IORING_OP_SEND] = MULTISHOT,
	[IORING_OP_RECV] = MULTISHOT,
	[IORING_OP_OPENAT2] = NO_FILE,
	[IORING_OP_PROVIDE_BUFFERS] = NO_FILE,
	[IORING_OP_REMOVE_BUFFERS] = NO_FILE,
	[IORING_OP_RENAMEAT] = NO_FILE,
	[IORING_OP_UNLINKAT] = NO_FILE,
	[IORING_OP_MKDIRAT] = NO_FILE,
	[IORING_OP_SYMLINKAT] = NO_FILE,
	[IORING_OP_LINKAT] = NO_FILE,
	[IORING_OP_SETXATTR] = NO_FILE,
	[IORING_OP_GETXATTR] = NO_FILE,
	[IORING_OP_SOCKET] = NO_FILE,
	[IORING_OP_SEND_ZC] = MULTISHOT,
	[IOT_URING_READ_MULTISHOT] = MULTISHOT,
	[IOT_URING_WAITID] = NO_FILE,
	[IOT_URING_FUTEX_WAIT] = NO_FILE,
	[IOT_URING_FUTEX_WAKE] = NO_FILE,
	[IOT_URING_FUTEX_WAITV] = NO_FILE,
	[IOT_URING_READV_FIXED] = VECTORED,
	[IOT_URING_WRITEV_FIXED] = VECTORED,
	[IOT_URING_PIPE] = NO_FILE,
	[IOT_URING_NOP128] = NO_FILE,
};

/* Has the opcode any of these traits? */
static __always_inline bool has_trait(u8 opcode, u8 any)
{
	return traits[opcode] & any;
}

/*
 * Note the file of a request. The kernel looks the file up only when it issues the request, and
 * most likely finds the same one.
 */
static __always_inline void note_file_of(struct flight *fl, const struct io_ring_ctx *ctx)
{
	const s32 fd = fl->like.fd;
	struct fd found;

	if (has_trait(fl->like.opcode, NO_FILE))
		return;
	if (fl->sqe_flags & IOSQE_FIXED_FILE) {
		note_file(fl, iot_uring_fixed_file(ctx, fd, file_in_node));
		return;
	}
	if (fl->like.opcode == IORING_OP_CLOSE && fl->like.fd2)
		return; /* closes a slot of the ring's file table */
	if (!current->files)
		return;
	found = fdget(fd);
	note_file(fl, fd_file(found));
	fdput(found);
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
static bool is_multishot(const struct iot_uring *r)
{
	switch (r->opcode) {
	case IORING_OP_POLL_ADD:
		return r->requested & IORING_POLL_ADD_MULTI;
	case IORING_OP_ACCEPT:
		return r->ioprio & IORING_ACCEPT_MULTISHOT;
	case IORING_OP_RECV:
	case IORING_OP_RECVMSG:
		return r->ioprio & IORING_RECV_MULTISHOT;
	case IORING_OP_SEND:
		return r->ioprio & BIT(4); /* IORING_RECVSEND_BUNDLE, 6.10 */
	case IORING_OP_TIMEOUT:
		return r->op_flags & BIT(6); /* IORING_TIMEOUT_MULTISHOT, 6.4 */
	}
	return true;
}

/* Flags that the kernel may add to those of the sqe: io_init_req(). */
#define ADDED_FLAGS	(IOSQE_IO_DRAIN | IOSQE_ASYNC)

/*
 * Compare what was read from the sqe with what the kernel took. Context: before the request
 * is issued.
 */
static __always_inline void check_sqe(struct flight *fl, const struct io_kiocb *req,
				      u64 user_data, u8 opcode)
{
	u8 taken = (__force u64)req->flags & (BIT(IOSQE_CQE_SKIP_SUCCESS_BIT + 1) - 1);
	struct iot_uring *r = &fl->like;
	bool same = user_data == r->user_data && opcode == r->opcode &&
		    !((fl->sqe_flags ^ taken) & ~(taken & ADDED_FLAGS));

	if (!same)
		fl->sqe_flags = taken;
	if (has_trait(r->opcode, PLAIN | VECTORED)) {
		same = same && r->fd == req->cqe.fd && r->offset == iot_uring_offset(req);
		r->fd = req->cqe.fd;
		r->offset = iot_uring_offset(req);
	}
	if (unlikely(!same))
		r->unsure |= IOT_UNSURE_CHANGED;
}

/* If more bytes were moved than requested, the sqe requested more when the kernel took it. */
static __always_inline void check_result(struct flight *fl, int result)
{
	if (unlikely(result > (s64)fl->like.requested) && has_trait(fl->like.opcode, PLAIN) &&
	    !(fl->sqe_flags & IOSQE_BUFFER_SELECT))
		fl->like.unsure |= IOT_UNSURE_CHANGED;
}

/* The program may still change the sqe, so fields that the kernel has copied take precedence. */
static __always_inline void note_sqe(struct flight *fl, const struct io_kiocb *req,
				     const struct io_uring_sqe *sqe, int error)
{
	u64 user_data = READ_ONCE(sqe->user_data);
	u8 opcode = READ_ONCE(sqe->opcode);
	struct iot_uring *r = &fl->like;

	r->user_data = req->cqe.user_data;
	r->opcode = error ? opcode : req->opcode;
	r->offset = READ_ONCE(sqe->off);
	r->requested = READ_ONCE(sqe->len);
	r->op_flags = (__force u32)READ_ONCE(sqe->rw_flags);
	if (r->opcode == IORING_OP_OPENAT)
		r->op_flags = iot_open_flags(r->op_flags);
	r->fd = READ_ONCE(sqe->fd);
	r->fd2 = READ_ONCE(sqe->splice_fd_in);
	r->ioprio = READ_ONCE(sqe->ioprio);
	r->buf_index = READ_ONCE(sqe->buf_index);
	r->personality = READ_ONCE(sqe->personality);
	r->unsure = 0;
	fl->sqe_flags = READ_ONCE(sqe->flags);
	if (!error)
		check_sqe(fl, req, user_data, opcode);
}

/*
 * The hash of the second key of a request. It is mixed, as user_data may be consecutive numbers:
 * with some secrets the products alone would be in few lines.
 */
static __always_inline u64 second_key_of(const struct io_ring_ctx *ctx, u64 user_data)
{
	return iot_table_mix(iot_table_pair((unsigned long)ctx, user_data));
}

static __always_inline void note_second_key(struct flight *fl)
{
	fl->second_key = second_key_of(fl->ctx, fl->like.user_data);
	fl->multishot = has_trait(fl->like.opcode, MULTISHOT) && is_multishot(&fl->like);
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
	return READ_ONCE(fl->ctx) == ctx && READ_ONCE(fl->like.user_data) == user_data;
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
		    (!latest || READ_ONCE(fl->like.time) > READ_ONCE(latest->like.time)))
			latest = fl;
	}
	fl = latest ? iot_table_take_at(&flights, latest) : NULL;
	if (!fl || is_flight(fl, ctx, user_data))
		return fl;
	iot_table_keep(fl);
	return NULL;
}

/* Find what is known of a request. Return: the entry, held, or NULL. */
static __always_inline struct flight *take(const struct io_ring_ctx *ctx,
					   const struct io_kiocb *req)
{
	struct flight *fl = iot_table_take(&flights, req);

	if (!fl || likely(fl->ctx == ctx))
		return fl;
	iot_table_keep(fl); /* belongs to an earlier request at this address, which had no cqe */
	return NULL;
}

static __always_inline void land(struct flight *fl)
{
	iot_second_key_remove(&second_keys, fl->second_key, iot_table_index(&flights, fl));
	iot_table_drop(&flights, fl);
}

static __always_inline u64 next_number(void)
{
	return this_cpu_inc_return(nr_flights) * nr_cpu_ids + raw_smp_processor_id();
}

/* Forget an earlier request at the address of this one. It ended without a cqe. */
static noinline void forget(const struct io_kiocb *req)
{
	struct flight *fl = iot_category_active(category) ? iot_table_take(&flights, req) : NULL;

	if (fl)
		land(fl);
}

/* Note what the records of a request have in common, except what its sqe and file tell. */
static __always_inline void note_request(struct flight *fl, const struct io_ring_ctx *ctx)
{
	fl->queued = 0;
	fl->has_file = false;
	fl->like.time = ktime_get_mono_fast_ns();
	fl->like.request = next_number();
	fl->like.inode = 0;
	fl->like.path = 0;
	fl->like.device = 0;
	fl->like.to_submit = 0;
	fl->like.min_complete = 0;
	fl->like.worker = 0;
	fl->like.kind = IOT_KIND_NONE;
	note_ring(fl, ctx);
	iot_task_fill(&fl->like);
}

static __always_inline void seen_submit(const struct io_kiocb *req,
					const struct io_uring_sqe *sqe, int error)
{
	const struct io_ring_ctx *ctx = req->ctx;
	struct step s IOT_UNINITIALIZED;
	struct flight *fl;

	if (!sqe)
		return;
	if (unlikely(!is_wanted())) {
		forget(req);
		return;
	}
	fl = iot_table_new(&flights, req);
	if (unlikely(!fl)) {
		atomic_long_inc(&nr_missed);
		return;
	}
	note_request(fl, ctx);
	note_sqe(fl, req, sqe, error);
	note_file_of(fl, ctx);
	note_second_key(fl);
	s = (struct step) {
		.op = IOT_URING_SUBMIT,
		.result = error,
		.time = fl->like.time,
		.flags = fl->sqe_flags,
		.depths = depths_of(ctx),
	};
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
	fl->like.user_data = user_data;
	fl->like.opcode = req ? req->opcode : IOT_URING_NONE;
	fl->like.fd = -1;
	if (req && !has_trait(req->opcode, NO_FILE))
		note_file(fl, req->file);
	iot_task_fill(&fl->like);
	return true;
}

/*
 * A completion that is about to be recorded. The request may have ended as a call that is made
 * again.
 */
static __always_inline struct step completion(const struct io_ring_ctx *ctx, u64 time,
					      u64 latency, int result, u32 flags)
{
	struct step s = {
		.op = IOT_URING_COMPLETE,
		.time = time,
		.latency = latency,
		.result = result,
		.flags = flags,
		.depths = depths_of(ctx),
	};

	if (unlikely(result < 0) && iot_event_is_interrupted(result)) {
		s.result = -EINTR;
		s.flags |= IOT_URING_RESTARTED;
	}
	return s;
}

/*
 * Record a completion of a request that was submitted before the trace, or that another request
 * displaced. A displaced request was counted as missed when it was displaced.
 */
static noinline void seen_unknown(const struct io_ring_ctx *ctx, const struct io_kiocb *req,
				  u64 user_data, int result, u32 flags)
{
	struct step s IOT_UNINITIALIZED;
	struct flight fl = { 0 };

	if (!note_unknown(&fl, ctx, req, user_data))
		return;
	s = completion(ctx, ktime_get_mono_fast_ns(), 0, result, flags);
	record(&fl, &s);
}

/* @fl: the request, held, or NULL. It is kept if more cqes follow, otherwise dropped */
static __always_inline void seen_complete(const struct io_ring_ctx *ctx,
					  const struct io_kiocb *req, struct flight *fl,
					  u64 user_data, int result, u32 flags)
{
	struct step s IOT_UNINITIALIZED;
	u64 latency;

	if (unlikely(!fl)) {
		seen_unknown(ctx, req, user_data, result, flags);
		return;
	}
	latency = iot_clock_since(fl->like.time, ktime_get_mono_fast_ns());
	if (unlikely(!fl->has_file) && req && !has_trait(fl->like.opcode, NO_FILE))
		note_file(fl, req->file);
	check_result(fl, result);
	s = completion(ctx, fl->like.time, latency, result, flags);
	record(fl, &s);
	if (flags & IORING_CQE_F_MORE)
		iot_table_keep(fl);
	else
		land(fl);
}

static __always_inline void completed(void *ctx, void *req, u64 user_data, int result,
				      unsigned int cflags)
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
		s.depths = try_depths(req->ctx);
		fl->like.worker = current->pid;
		record(fl, &s);
		iot_table_keep(fl);
	}
	preempt_enable_notrace();
}

enum tag { TAG_WORKER, TAG_ENTER, TAG_ENTER_32 };

#ifdef IOT_REDIRECT
/*
 * The ftrace handler of io_uring_enter(2), quicker than that of the set. Context: entry of the
 * function, in the task.
 */
static void enter_begins(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs)
{
	struct iot_site *site = is_wanted() ? iot_hook_set_find(ops->private, ip) : NULL;

	if (site)
		iot_site_follow(site, iot_ftrace_regs(fregs));
}
#endif

static struct iot_site sites[] = {
	{ .symbol = "io_wq_submit_work", .what = "WORKER", .tag = TAG_WORKER,
	  .proto = "_ (struct io_wq_work *, ...)" },
#ifdef IOT_ARCH_KNOWN
	{ .symbol = IOT_SYSCALL "io_uring_enter", .what = "ENTER", .tag = TAG_ENTER,
	  .proto = IOT_HOOK_SYSCALL, .unbounded = true, .handler = IOT_HOOK_OWN(enter_begins) },
#endif
#ifdef IOT_SYSCALL_32
	{ .symbol = IOT_SYSCALL_32 "io_uring_enter", .what = "ENTER", .tag = TAG_ENTER_32,
	  .proto = IOT_HOOK_SYSCALL, .unbounded = true, .handler = IOT_HOOK_OWN(enter_begins) },
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

/**
 * struct enter - a call of io_uring_enter(2) in progress
 * @time:	when it began, CLOCK_MONOTONIC ns
 * @ring:	id of the ring; 0 if @fd is none, and then the next two are 0, too
 * @setup:	IORING_SETUP_* of the ring
 * @depths:	of the ring when the call began
 *
 * The rest are arguments of the call.
 */
struct enter {
	u64 time;
	u32 ring;
	u32 setup;
	struct depths depths;
	u32 flags;
	u32 to_submit;
	u32 min_complete;
	s32 fd;
};

static __always_inline void note_ring_file(struct enter *enter, const struct file *file)
{
	struct io_ring_ctx *ctx;

	/* only files of io_uring have this function */
	if (!file || !show_fdinfo ||
	    (unsigned long)file->f_op->show_fdinfo != show_fdinfo)
		return;
	ctx = file->private_data;
	enter->ring = number_of(ctx);
	enter->setup = READ_ONCE(ctx->flags);
	enter->depths = try_depths(ctx);
}

static __always_inline void note_ring_of(struct enter *enter)
{
	struct fd found;

	enter->ring = 0;
	enter->setup = 0;
	enter->depths = (struct depths){ 0 };
	if (enter->flags & IORING_ENTER_REGISTERED_RING) {
		note_ring_file(enter, iot_uring_registered(enter->fd));
		return;
	}
	found = fdget(enter->fd);
	note_ring_file(enter, fd_file(found));
	fdput(found);
}

static __always_inline u32 enter_arg(const struct pt_regs *regs, bool is_32, unsigned int n)
{
	return is_32 ? iot_syscall_arg32(regs, n) : iot_syscall_arg(regs, n);
}

static __always_inline void enter_args(struct enter *enter, const struct pt_regs *regs, bool is_32)
{
	enter->fd = enter_arg(regs, is_32, 0);
	enter->to_submit = enter_arg(regs, is_32, 1);
	enter->min_complete = enter_arg(regs, is_32, 2);
	enter->flags = enter_arg(regs, is_32, 3) & ~(u32)IOT_ENTER_RESTARTED;
}

/* Context: entry of the function, in the task, preemption off. */
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
	enter->time = ktime_get_mono_fast_ns();
	enter_args(enter, (const struct pt_regs *)args[0], site->tag == TAG_ENTER_32);
	note_ring_of(enter);
	return 0;
}

/* Record a call that has ended. Context: preemption off. */
static __always_inline void record_enter(const struct enter *enter, const struct step *s)
{
	static const struct iot_uring no_request = { .opcode = IOT_URING_NONE };
	struct iot_event_at at;
	struct iot_uring *e = begin_record(&at, &no_request, s);

	if (!e)
		return;
	e->ring = enter->ring;
	e->setup = enter->setup;
	e->to_submit = enter->to_submit;
	e->min_complete = enter->min_complete;
	e->fd = enter->fd;
	iot_task_fill(e);
	iot_event_commit(category, &at);
}

static int exit_enter(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct enter *enter = (struct enter *)ri->data;
	struct step s = {
		.op = IOT_URING_ENTER,
		.time = enter->time,
		.latency = iot_clock_since(enter->time, ktime_get_mono_fast_ns()),
		.result = (long)regs_return_value(regs),
		.flags = enter->flags,
		.depths = enter->depths,
	};

	if (unlikely(s.result < 0) && iot_event_is_interrupted(s.result)) {
		s.result = -EINTR;
		s.flags |= IOT_ENTER_RESTARTED;
	}
	preempt_disable_notrace();
	record_enter(enter, &s);
	preempt_enable_notrace();
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
