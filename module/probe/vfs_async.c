// SPDX-License-Identifier: GPL-2.0
/*
 * Asynchronous reads and writes of targets, until they complete.
 *
 * A direct request of io_submit or io_uring is queued, and the call of ->read_iter or ->write_iter
 * returns before it completes. Its event is recorded at completion, which these functions of the
 * kernel are called for: they are ->ki_complete of the request's kiocb (fs/aio.c, io_uring/rw.c).
 *
 * A request is noted before the call, as it may complete on another CPU before the call returns.
 * So its entry ends in one of three ways, and each records the event once:
 *
 *  - It completes: recorded with the latency until then, and the flag COMPLETED.
 *  - The call returns a result: the caller takes the entry back, and records the call.
 *  - Another request needs the slot, or has the same kiocb because the completion was not seen: it
 *    is recorded with what is known, the latency of the submission.
 *
 * A request that is in flight when its target is stopped is not recorded, even if the target is
 * started again before it completes. While no target runs, completions are not seen. Then an entry
 * may outlive its request, and its kiocb may belong to another request.
 *
 * Requests of others (loop, overlay, the NFS server) have other functions as ->ki_complete. They
 * are recorded when they are submitted.
 */
#include <linux/fs.h>
#include <linux/log2.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include "compat/io_uring.h"
#include "core/clock.h"
#include "core/table.h"
#include "hook/hook_set.h"
#include "hook/kretprobe.h"
#include "record/io.h"
#include "probe/vfs_async.h"

#define BITS	12	/* of the table: some thousand requests */
#define LOCKS	64

/*
 * While the submitter has the entry of a request, to note that the call has returned, the table
 * does not show it. The completion would not find it, so it waits for that short moment. Both
 * have interrupts off, as a completion may interrupt the submitter.
 */
static raw_spinlock_t locks[LOCKS] = {
	[0 ... LOCKS - 1] = __RAW_SPIN_LOCK_UNLOCKED(locks),
};

static DEFINE_MUTEX(lock);	/* protects @users */
static unsigned int users;	/* targets that run; without one, completions are not seen */

static void record(const struct iot_async *a, u64 latency, s64 result, u16 flags)
{
	struct iot_indexed_file *f = iot_target_index_by_id(a->id);
	u64 *slot, index;
	struct iot_io *r;

	if (!f || READ_ONCE(f->t->run) != a->run ||
	    !iot_ring_reserve(rcu_dereference_sched(f->t->ring), IOT_LEVEL_VFS, &slot,
				    &index))
		return;
	r = (struct iot_io *)slot;
	r->time = a->start;
	r->latency = latency;
	r->submission = min(a->submission ?: latency, latency);
	r->offset = a->offset;
	r->requested = a->requested;
	r->result = iot_event_result(result);
	r->inode = f->ino;
	r->tid = a->tid;
	r->pid = a->pid;
	memcpy(r->comm, a->comm, sizeof(r->comm));
	r->cpu = raw_smp_processor_id();
	r->level = IOT_LEVEL_VFS;
	r->op = a->op;
	r->flags = a->flags | IOT_IO_ASYNC | flags;
	iot_spoil(IOT_EVENT_ID_IO, slot);
	iot_ring_commit(slot, index);
}

/* Record a request whose completion will not be seen. Context: any, preemption off. */
static void gone(void *thing, bool displaced)
{
	const struct iot_async *a = thing;

	record(a, a->submission ?: iot_clock_since(a->start, ktime_get_mono_fast_ns()),
	       a->requested, 0);
}

static struct iot_table requests = {
	IOT_TABLE_OF(struct iot_async, start, uid, pid),
	IOT_TABLE_BEGUN(BITS),
	.gone = gone,
};

static raw_spinlock_t *lock_of(const struct kiocb *iocb)
{
	return &locks[iot_table_hash((unsigned long)iocb, ilog2(LOCKS))];
}

/* Will io_uring make the call again, as it would have blocked? */
static bool is_tried_again(const struct iot_async *a, long result)
{
	if (!a->again || result != -EAGAIN)
		return false;
	return IOT_URING_RETRIES_ANYWHERE ||
	       (!a->submission && in_task() && a->tid == current->pid);
}

/* Context: any, also a hardware interrupt. */
static void completed(const struct kiocb *iocb, long result)
{
	struct iot_async *a;
	unsigned long flags;

	if (likely(!iot_table_may_have(&requests, iocb)))
		return;
	preempt_disable_notrace();
	raw_spin_lock_irqsave(lock_of(iocb), flags);
	a = iot_table_take(&requests, iocb);
	raw_spin_unlock_irqrestore(lock_of(iocb), flags);
	if (a) {
		if (!is_tried_again(a, result))
			record(a, iot_clock_since(a->start, ktime_get_mono_fast_ns()),
			       a->done ? a->done + max(result, 0L) : result, IOT_IO_COMPLETED);
		iot_table_drop(&requests, a);
	}
	preempt_enable_notrace();
}

#define COMPLETE(name)						\
	{ .symbol = name, .what = "completion",			\
	  .proto = "void (struct kiocb *, long)" }

static struct iot_site sites[] = {
	COMPLETE("aio_complete_rw"),
	COMPLETE("io_complete_rw"),
	COMPLETE("io_complete_rw_iopoll"),
};

/* Context: entry of the function: any, also a hardware interrupt. */
static enum iot_hook_verdict wants(const struct iot_site *site, const unsigned long *args,
				   unsigned long caller)
{
	completed((const struct kiocb *)args[0], args[1]);
	return IOT_HOOK_IGNORE;
}

static int entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	unsigned long args[2];

	iot_kretprobe_args(regs, args, ARRAY_SIZE(args));
	wants(iot_site_of(ri), args, 0);
	return 1;
}

static struct iot_hook_set set = {
	.sites = sites,
	.nr = ARRAY_SIZE(sites),
	.wants = wants,
	.entry = entry,
};

static int start(void)
{
	int err = requests.slots ? 0 : iot_table_begin(&requests);

	return err ?: iot_hook_set_start(&set, NULL, 0);
}

/**
 * iot_async_start() - add a running target
 *
 * Entries of an earlier time have ids that no file has any more, or the number of an earlier run,
 * so they need not be cleared.
 * Context: task, may sleep for seconds: the kernel patches its text. Return: 0 or -ENOMEM.
 */
int iot_async_start(void)
{
	int err = 0;

	mutex_lock(&lock);
	if (!users)
		err = start();
	users += !err;
	mutex_unlock(&lock);
	return err;
}

/** iot_async_stop() - undo iot_async_start(). Context: as above */
void iot_async_stop(void)
{
	mutex_lock(&lock);
	if (!--users)
		iot_hook_set_stop(&set, NULL, 0);
	mutex_unlock(&lock);
}

/** iot_async_missed() - count the completions that the hooks have missed */
unsigned long iot_async_missed(void)
{
	return iot_hook_set_own_missed(&set);
}

/** iot_async_exit() - free the table. Context: unload, no probe is left */
void iot_async_exit(void)
{
	iot_table_free(&requests);
}

/**
 * iot_async_begin() - note a request before the call
 * @a:		the request, except submission and run
 *
 * Context: task. Return: false if its completion would not be seen: it is to be recorded by the
 * caller when the call returns, and nothing need be undone.
 */
bool iot_async_begin(const struct kiocb *iocb, const struct iot_async *a)
{
	struct iot_async *noted = NULL;
	struct iot_indexed_file *f;

	preempt_disable_notrace();
	f = iot_target_index_by_id(a->id); /* if it runs, completions are seen */
	if (f)
		noted = iot_table_new(&requests, iocb);
	if (noted) {
		*noted = *a;
		noted->run = READ_ONCE(f->t->run);
		iot_table_keep(noted);
	}
	preempt_enable_notrace();
	return noted;
}

/* Take the entry of a request that began at @start, and no other's with the same kiocb. */
static struct iot_async *take(const struct kiocb *iocb, u64 start)
{
	struct iot_async *a = iot_table_take(&requests, iocb);

	if (!a || (a->start == start && a->tid == current->pid))
		return a;
	iot_table_keep(a);
	return NULL;
}

/** iot_async_queued() - note that the call has returned -EIOCBQUEUED. Context: task */
void iot_async_queued(const struct kiocb *iocb, u64 start)
{
	u64 now = ktime_get_mono_fast_ns();
	struct iot_async *a;
	unsigned long flags;

	preempt_disable_notrace();
	raw_spin_lock_irqsave(lock_of(iocb), flags);
	a = take(iocb, start);
	if (a) {
		a->submission = iot_clock_since(start, now) ?: 1; /* 0: the call is under way */
		iot_table_keep(a);
	}
	raw_spin_unlock_irqrestore(lock_of(iocb), flags);
	preempt_enable_notrace();
}

/**
 * iot_async_cancel() - take a request back, as the call has returned a result
 *
 * Context: task. Return: whether the caller records the call; false if that has been done.
 */
bool iot_async_cancel(const struct kiocb *iocb, u64 start)
{
	struct iot_async *a;

	preempt_disable_notrace();
	a = take(iocb, start);
	if (a)
		iot_table_drop(&requests, a);
	preempt_enable_notrace();
	return a;
}
