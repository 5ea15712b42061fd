// SPDX-License-Identifier: GPL-2.0
/*
 * Category epoll: calls that wait for many descriptors, and what prepares them.
 *
 *   epoll_create, epoll_create1		EPOLL_CREATE
 *   epoll_ctl					EPOLL_CTL_ADD, _MOD, _DEL; EPOLL_CTL if the
 *						operation is none of these
 *   epoll_wait, epoll_pwait, epoll_pwait2	EPOLL_WAIT
 *   poll, ppoll				POLL
 *   select, pselect6				SELECT
 *   do_restart_poll		POLL, which the kernel makes again after a signal had ended it
 *				and no handler ran; by restart_syscall(2)
 *   io_epoll_ctl		EPOLL_CTL_* of io_uring
 *   epoll_sendevents		EPOLL_WAIT of io_uring, which alone calls this function
 *
 * The functions of the system calls see every call, those of 32-bit programs included, and those
 * that fail early. An attempt of io_uring that ends with EAGAIN or without an event is made
 * again, and is no event here.
 *
 * All of them may sleep without bound: the calls that wait, those that touch memory of the
 * program, and epoll_ctl(2), as it takes the lock that a call holds while it copies events to
 * the program, and asks the file that it adds, which may be one of FUSE. So all are followed by
 * their return address, with nothing of ours on the stack. A call that still sleeps when tracing
 * stops is no event and holds nothing up.
 *
 * What a call points to is read from the program's memory without waiting for a page: before
 * the call, or after it for the events that it returned. Another thread can change it meanwhile.
 * What is not in memory is not known, and the record is flagged UNREAD.
 *
 * Contexts: handlers run in the task that makes the call, in process context, with preemption
 * off; of io_uring also in its workers. They may not sleep.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_EPOLL /* left_out.h */
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/limits.h>
#include <linux/poll.h>
#include <linux/restart_block.h>
#include <linux/sched.h>
#include <linux/time64.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <asm/ptrace.h>
#include <uapi/linux/eventpoll.h>
#include "compat/compat.h"
#include "compat/io_uring.h"
#include "core/clock.h"
#include "core/task.h"
#include "hook/enter.h"
#include "hook/hook.h"
#include "hook/hook_set.h"
#include "hook/kretprobe.h"
#include "hook/symbol.h"
#include "record/category.h"
#include "record/event.h"
#include "record/wants.h"
#include "probe/categories.h"
#include "probe/epoll_timeout.h"
#include "probe/waiting.h"
#include "uapi/iotracer.h"

#define READ_MAX	8	/* descriptors or events that are read from the program */
#define ARGS		6

#define OWN_FLAGS	((u32)(IOT_EPOLL_SIGMASK | IOT_EPOLL_UNREAD | IOT_EPOLL_AGAIN | \
			       IOT_EPOLL_URING | IOT_EPOLL_RESTARTED))

/* epoll_ctl(2) counts its operations as ops.def does. */
static_assert(IOT_EPOLL_EPOLL_CTL_ADD == EPOLL_CTL_ADD);
static_assert(IOT_EPOLL_EPOLL_CTL_DEL == EPOLL_CTL_DEL);
static_assert(IOT_EPOLL_EPOLL_CTL_MOD == EPOLL_CTL_MOD);

/**
 * struct frame - a call in progress, in the data of its kretprobe
 * @start:	CLOCK_MONOTONIC ns
 * @data:	of an epoll_event
 * @request:	of io_uring's EPOLL_CTL, whose result is in it; else NULL
 * @returned:	address in the program to which the call copies events, 0: it copies none
 * @timeout:	ns, or IOT_EPOLL_WITHOUT_LIMIT or IOT_EPOLL_UNKNOWN
 * @maximum:	events, descriptors, or the size of epoll_create(2)
 * @fd:		of the epoll instance, -1 for none
 * @target:	the descriptor that is watched, -1 for none
 * @flags:	IOT_EPOLL_*
 * @events:	EPOLL*
 * @op:		IOT_EPOLL_*
 * @is_32:	by a 32-bit program
 */
struct frame {
	u64 start;
	u64 data;
	const struct io_kiocb *request;
	u64 returned;
	s64 timeout;
	s64 maximum;
	s32 fd;
	s32 target;
	u32 flags;
	u32 events;
	u16 op;
	bool is_32;
};

/* How a call states for how long it may wait. */
enum unit { UNIT_NONE, UNIT_MS, UNIT_TIMESPEC, UNIT_TIMESPEC_32, UNIT_TIMEVAL, UNIT_TIMEVAL_32 };

/**
 * struct call - a system call, or a function that performs it for io_uring
 * @begin:	notes its arguments
 * @op:		the operation; of epoll_ctl(2) an argument decides, see op_of()
 * @unit:	of its timeout
 * @timeout:	number of the argument with the timeout, from 0 on
 * @mask:	number of the argument with the signal mask; 0: it has none
 */
struct call {
	void (*begin)(struct frame *f, const struct call *c, const u64 *a);
	u16 op;
	u8 unit;
	u8 timeout;
	u8 mask;
};

/* The tag of a site: how it gets its arguments. */
enum abi { ABI_FUNCTION, ABI_REQUEST, ABI_NATIVE, ABI_32 };

static struct iot_category * const category = &iot_category_epoll;

/* Read what a call points to. Return: false if it is not in memory now, which is noted. */
static bool read_user(struct frame *f, void *to, u64 from, size_t size)
{
	if (likely(!copy_from_user_nofault(to, u64_to_user_ptr(from), size)))
		return true;
	f->flags |= IOT_EPOLL_UNREAD;
	return false;
}

/* The kernel refuses the same values: poll_select_set_timeout(), fs/select.c. */
static s64 timeout_of(s64 seconds, s64 ns)
{
	if (seconds < 0 || (u64)ns >= NSEC_PER_SEC)
		return IOT_EPOLL_UNKNOWN;
	return seconds >= KTIME_SEC_MAX ? KTIME_MAX : seconds * NSEC_PER_SEC + ns;
}

static s64 timeout_of_us(s64 seconds, s64 us)
{
	return timeout_of(seconds + us / USEC_PER_SEC, us % (s64)USEC_PER_SEC * NSEC_PER_USEC);
}

/*
 * The two words of a timeout. Where they have 64 bits, the kernel takes only the lower half of the
 * second one from a 32-bit program: get_timespec64(), kernel/time/time.c.
 */
static bool read_words(struct frame *f, u64 from, bool narrow_words, s64 *words)
{
	s32 narrow[2];

	if (!narrow_words) {
		if (!read_user(f, words, from, 2 * sizeof(*words)))
			return false;
		if (f->is_32)
			words[1] = (u32)words[1];
		return true;
	}
	if (!read_user(f, narrow, from, sizeof(narrow)))
		return false;
	words[0] = narrow[0];
	words[1] = narrow[1];
	return true;
}

static s64 read_timeout(struct frame *f, u8 unit, u64 value)
{
	s64 words[2];

	if (unit == UNIT_MS)
		return (s32)value < 0 ? IOT_EPOLL_WITHOUT_LIMIT : (s64)(s32)value * NSEC_PER_MSEC;
	if (!value)
		return IOT_EPOLL_WITHOUT_LIMIT;
	if (!read_words(f, value, unit == UNIT_TIMESPEC_32 || unit == UNIT_TIMEVAL_32, words))
		return IOT_EPOLL_UNKNOWN;
	if (unit == UNIT_TIMEVAL || unit == UNIT_TIMEVAL_32)
		return timeout_of_us(words[0], words[1]);
	return timeout_of(words[0], words[1]);
}

static void begin_create(struct frame *f, const struct call *c, const u64 *a)
{
	f->maximum = (s32)a[0];
}

static void begin_create1(struct frame *f, const struct call *c, const u64 *a)
{
	f->flags = a[0] & ~OWN_FLAGS;
}

static void begin_ctl(struct frame *f, const struct call *c, const u64 *a)
{
	struct epoll_event event;

	f->fd = a[0];
	f->target = a[2];
	if (f->op == IOT_EPOLL_EPOLL_CTL_DEL || !read_user(f, &event, a[3], sizeof(event)))
		return;
	f->events = (__force u32)event.events;
	f->data = event.data;
}

/* The first arguments are made from the request: load_request(). */
static void begin_uring_ctl(struct frame *f, const struct call *c, const u64 *a)
{
	const struct epoll_event *event = (void *)(unsigned long)a[3];

	f->request = (void *)(unsigned long)a[4];
	f->fd = a[0];
	f->target = a[2];
	f->flags = IOT_EPOLL_URING;
	if (f->op == IOT_EPOLL_EPOLL_CTL_DEL)
		return;
	f->events = (__force u32)event->events;
	f->data = event->data;
}

static void note_wait(struct frame *f, const struct call *c, const u64 *a)
{
	f->timeout = read_timeout(f, c->unit, a[c->timeout]);
	if (c->mask && a[c->mask])
		f->flags |= IOT_EPOLL_SIGMASK;
}

static void begin_wait(struct frame *f, const struct call *c, const u64 *a)
{
	f->fd = a[0];
	f->returned = a[1];
	f->maximum = (s32)a[2];
	note_wait(f, c, a);
}

/* epoll_sendevents(file, events, maxevents): the request waits elsewhere */
static void begin_uring_wait(struct frame *f, const struct call *c, const u64 *a)
{
	f->returned = a[1];
	f->maximum = (s32)a[2];
	f->timeout = IOT_EPOLL_WITHOUT_LIMIT;
	f->flags = IOT_EPOLL_URING;
}

/* The kernel passes by entries with a negative descriptor. */
static void begin_poll(struct frame *f, const struct call *c, const u64 *a)
{
	struct pollfd fds[READ_MAX];
	unsigned int i, n = a[1];

	f->maximum = n;
	note_wait(f, c, a);
	if (!n || n > READ_MAX || !read_user(f, fds, a[0], n * sizeof(*fds)))
		return;
	for (i = 0; i < n; i++)
		if (fds[i].fd >= 0)
			f->events |= (u16)fds[i].events;
	if (n == 1)
		f->target = fds[0].fd;
}

/* do_restart_poll(restart_block) */
static void begin_poll_again(struct frame *f, const struct call *c, const u64 *a)
{
	const struct restart_block *block = (void *)(unsigned long)a[0];

	f->maximum = (u32)block->poll.nfds;
	f->flags = IOT_EPOLL_AGAIN;
	f->timeout = !block->poll.has_timeout ? IOT_EPOLL_WITHOUT_LIMIT :
		     max_t(s64, 0, iot_restart_poll_end(block) - f->start);
}

static void note_sets(struct frame *f, u64 in, u64 out, u64 except)
{
	f->events = (in ? (__force u32)EPOLLIN : 0) | (out ? (__force u32)EPOLLOUT : 0) |
		    (except ? (__force u32)EPOLLPRI : 0);
}

static void begin_select(struct frame *f, const struct call *c, const u64 *a)
{
	f->maximum = (s32)a[0];
	note_sets(f, a[1], a[2], a[3]);
	note_wait(f, c, a);
}

/* The last argument of pselect6 points to the address of the mask and the size of the mask. */
static void begin_pselect(struct frame *f, const struct call *c, const u64 *a)
{
	u64 mask = 0;

	f->maximum = (s32)a[0];
	note_sets(f, a[1], a[2], a[3]);
	f->timeout = read_timeout(f, c->unit, a[4]);
	if (a[5] && read_user(f, &mask, a[5], f->is_32 ? sizeof(u32) : sizeof(u64)) && mask)
		f->flags |= IOT_EPOLL_SIGMASK;
}

/* select(2) as old 32-bit programs call it: all arguments are in memory */
static void begin_old_select(struct frame *f, const struct call *c, const u64 *a)
{
	u32 args[5];

	f->timeout = IOT_EPOLL_UNKNOWN;
	if (!read_user(f, args, a[0], sizeof(args)))
		return;
	f->maximum = (s32)args[0];
	note_sets(f, args[1], args[2], args[3]);
	f->timeout = read_timeout(f, c->unit, args[4]);
}

#define CREATE(b)		{ .begin = (b), .op = IOT_EPOLL_EPOLL_CREATE }
#define CTL(b)			{ .begin = (b), .op = IOT_EPOLL_EPOLL_CTL }
#define WAITS(o, b, u, t, m)	{ .begin = (b), .op = IOT_EPOLL_##o, .unit = UNIT_##u, \
				  .timeout = (t), .mask = (m) }

static const struct call create = CREATE(begin_create);
static const struct call create1 = CREATE(begin_create1);
static const struct call ctl = CTL(begin_ctl);
static const struct call uring_ctl = CTL(begin_uring_ctl);
static const struct call wait = WAITS(EPOLL_WAIT, begin_wait, MS, 3, 0);
static const struct call pwait = WAITS(EPOLL_WAIT, begin_wait, MS, 3, 4);
static const struct call pwait2 = WAITS(EPOLL_WAIT, begin_wait, TIMESPEC, 3, 4);
static const struct call uring_wait = WAITS(EPOLL_WAIT, begin_uring_wait, NONE, 0, 0);
static const struct call poll_ms = WAITS(POLL, begin_poll, MS, 2, 0);
static const struct call poll_again = WAITS(POLL, begin_poll_again, NONE, 0, 0);
static const struct call ppoll = WAITS(POLL, begin_poll, TIMESPEC, 2, 3);
static const struct call ppoll_32 = WAITS(POLL, begin_poll, TIMESPEC_32, 2, 3);
static const struct call select_us = WAITS(SELECT, begin_select, TIMEVAL, 4, 0);
static const struct call select_32 = WAITS(SELECT, begin_select, TIMEVAL_32, 4, 0);
static const struct call old_select = WAITS(SELECT, begin_old_select, TIMEVAL_32, 4, 0);
static const struct call pselect = WAITS(SELECT, begin_pselect, TIMESPEC, 4, 0);
static const struct call pselect_32 = WAITS(SELECT, begin_pselect, TIMESPEC_32, 4, 0);

static struct iot_hook_set set;

#ifdef IOT_REDIRECT
/*
 * The quick way for a call of a process that is not wanted, and for one that is recorded whatever
 * its operation is. All others go the general way. Context: entry of a function, preemption on.
 */
static void handle(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		   struct ftrace_regs *fregs)
{
	u32 state = READ_ONCE(category->state);
	const struct iot_site *site;

	if (iot_category_rejects_process(category, state))
		return;
	if (unlikely(!iot_category_wants_any(category, state))) {
		iot_hook_set_handle(ip, parent_ip, ops, fregs);
		return;
	}
	site = iot_hook_set_find(&set, ip);
	if (likely(site))
		iot_site_follow(site, iot_ftrace_regs(fregs));
}
#endif

#define HOOKED(n, c, t)		.symbol = (n), .data = &(c), .tag = (t), .unbounded = true, \
				.handler = IOT_HOOK_OWN(handle)
#define SYSCALL(n, c, w)	{ HOOKED(IOT_SYSCALL n, c, ABI_NATIVE), .what = #w, \
				  .proto = IOT_HOOK_SYSCALL }
#define SYSCALL_32(n, c, w)	{ HOOKED(IOT_SYSCALL_32 n, c, ABI_32), .what = #w, \
				  .proto = IOT_HOOK_SYSCALL }
#define COMPAT(n, c, w)		{ HOOKED(IOT_SYSCALL_COMPAT n, c, ABI_32), .what = #w, \
				  .proto = IOT_HOOK_SYSCALL }
#define FUNCTION(n, c, w, p)	{ HOOKED(n, c, ABI_FUNCTION), .what = #w, .proto = (p) }
#define REQUEST(n, c, w)	{ HOOKED(n, c, ABI_REQUEST), .what = #w, \
				  .proto = "int (struct io_kiocb *, int)" }

/* Those that the kernel lacks are moved behind the others: see find_functions(). */
static struct iot_site sites[] = {
#ifdef IOT_ARCH_KNOWN
	SYSCALL("epoll_create", create, EPOLL_CREATE),
	SYSCALL("epoll_create1", create1, EPOLL_CREATE),
	SYSCALL("epoll_ctl", ctl, EPOLL_CTL),
	SYSCALL("epoll_wait", wait, EPOLL_WAIT),
	SYSCALL("epoll_pwait", pwait, EPOLL_WAIT),
	SYSCALL("epoll_pwait2", pwait2, EPOLL_WAIT),
	SYSCALL("poll", poll_ms, POLL),
	SYSCALL("ppoll", ppoll, POLL),
	SYSCALL("select", select_us, SELECT),
	SYSCALL("pselect6", pselect, SELECT),
	COMPAT("epoll_pwait", pwait, EPOLL_WAIT),
	COMPAT("epoll_pwait2", pwait2, EPOLL_WAIT),
	COMPAT("ppoll_time32", ppoll_32, POLL),
	COMPAT("ppoll_time64", ppoll, POLL),
	COMPAT("select", select_32, SELECT),
	COMPAT("old_select", old_select, SELECT),
	COMPAT("pselect6_time32", pselect_32, SELECT),
	COMPAT("pselect6_time64", pselect, SELECT),
#endif
#ifdef IOT_SYSCALL_32
	SYSCALL_32("epoll_create", create, EPOLL_CREATE),
	SYSCALL_32("epoll_create1", create1, EPOLL_CREATE),
	SYSCALL_32("epoll_ctl", ctl, EPOLL_CTL),
	SYSCALL_32("epoll_wait", wait, EPOLL_WAIT),
	SYSCALL_32("epoll_pwait", pwait, EPOLL_WAIT),
	SYSCALL_32("poll", poll_ms, POLL),
#endif
	FUNCTION("do_restart_poll", poll_again, POLL, "long (struct restart_block *)"),
	REQUEST("io_epoll_ctl", uring_ctl, EPOLL_CTL),
	FUNCTION("epoll_sendevents", uring_wait, EPOLL_WAIT,
		 "int (struct file *, struct epoll_event *, int)"),
};

/* io_epoll_ctl(req, issue_flags): the arguments of the system call, and the request */
static void load_request(u64 *a, const struct io_kiocb *req)
{
	const struct iot_uring_epoll *epoll = iot_uring_epoll_of(req);

	a[0] = epoll->epfd;
	a[1] = epoll->op;
	a[2] = epoll->fd;
	a[3] = (unsigned long)&epoll->event;
	a[4] = (unsigned long)req;
	a[5] = 0;
}

static __always_inline void load_args(u64 *a, const struct iot_site *site,
				      const unsigned long *args)
{
	const struct pt_regs *regs = (const struct pt_regs *)args[0];
	unsigned int i;

	switch ((enum abi)site->tag) {
	case ABI_FUNCTION:
		for (i = 0; i < ARGS; i++)
			a[i] = i < IOT_CALL_ARGS ? args[i] : 0;
		break;
	case ABI_REQUEST:
		load_request(a, (const void *)args[0]);
		break;
#ifdef IOT_ARCH_KNOWN
	case ABI_NATIVE:
		iot_syscall_args(a, regs, false);
		break;
	case ABI_32:
		iot_syscall_args(a, regs, true);
		break;
#endif
	}
}

static u16 op_of(const struct call *c, const u64 *a)
{
	u32 op = a[1];

	if (c->op != IOT_EPOLL_EPOLL_CTL)
		return c->op;
	return op >= EPOLL_CTL_ADD && op <= EPOLL_CTL_MOD ? op : IOT_EPOLL_EPOLL_CTL;
}

static __always_inline bool wants_with(const struct iot_site *site, const u64 *a)
{
	const struct call *c = site->data;

	return iot_category_wants(category, op_of(c, a));
}

static enum iot_hook_verdict wants(const struct iot_site *site, const unsigned long *args,
				   unsigned long caller)
{
	u64 a[ARGS] IOT_UNINITIALIZED;

	if (!iot_category_active(category))
		return IOT_HOOK_IGNORE;
	load_args(a, site, args);
	return wants_with(site, a) ? IOT_HOOK_FOLLOW_RETURN : IOT_HOOK_IGNORE;
}

static int entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct iot_site *site = iot_site_of(ri);
	const struct call *c = site->data;
	struct frame *f = (struct frame *)ri->data;
	unsigned long args[IOT_CALL_ARGS] IOT_UNINITIALIZED;
	u64 a[ARGS] IOT_UNINITIALIZED;

	iot_kretprobe_args(regs, args, ARRAY_SIZE(args));
	load_args(a, site, args);
	if (site->armed && !wants_with(site, a)) /* else wants() has checked the call */
		return 1;
	*f = (struct frame) {
		.start = ktime_get_mono_fast_ns(),
		.op = op_of(c, a),
		.fd = -1,
		.target = -1,
		.is_32 = site->tag == ABI_32,
	};
	c->begin(f, c, a);
	return 0;
}

/* Note the first events that a call has copied to the program. */
static void note_returned(struct frame *f, u64 n)
{
	const struct epoll_event __user *from = u64_to_user_ptr(f->returned);
	unsigned int i;
	u32 events;

	n = min_t(u64, n, READ_MAX);
	pagefault_disable();
	if (!user_access_begin(from, n * sizeof(*from)))
		goto unread;
	for (i = 0; i < n; i++) {
		unsafe_get_user(events, (const u32 __user *)&from[i].events, unread_within);
		f->events |= events;
	}
	unsafe_get_user(f->data, &from->data, unread_within);
	user_access_end();
	pagefault_enable();
	return;

unread_within:
	user_access_end();
unread:
	pagefault_enable();
	f->events = 0;
	f->flags |= IOT_EPOLL_UNREAD;
}

static void record(const struct frame *f, s64 result, u64 latency)
{
	struct iot_event_at at;
	struct iot_epoll *e;

	preempt_disable_notrace();
	if (iot_category_asks_at_end(category, 0) &&
	    iot_category_rejects_at_end(category, f->op, latency, 0, false))
		goto out;
	e = iot_event_reserve(category, &at);
	if (!e)
		goto out;
	iot_event_fill(e, &at, category, f->op, f->start, latency);
	e->data = f->data;
	e->timeout = f->timeout;
	e->maximum = f->maximum;
	e->result = result;
	e->flags = f->flags;
	e->events = f->events;
	e->fd = f->fd;
	e->target = f->target;
	iot_task_fill(e);
	iot_event_commit(category, &at);
out:
	preempt_enable_notrace();
}

/* Will io_uring make the attempt again? So it does if nothing is ready, or a lock is taken. */
static bool is_made_again(const struct frame *f, s64 result)
{
	if (!(f->flags & IOT_EPOLL_URING))
		return false;
	return result == -EAGAIN || (f->op == IOT_EPOLL_EPOLL_WAIT && !result);
}

/* The filter may have changed while the call slept. */
static int probe_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	u64 now = ktime_get_mono_fast_ns();
	struct frame *f = (struct frame *)ri->data;
	s64 result = (s32)regs_return_value(regs);

	if (!iot_category_wants(category, f->op) || is_made_again(f, result))
		return 0;
	if (f->request && !result)
		result = f->request->cqe.res;
	if (unlikely(result < 0) && iot_event_is_interrupted(result)) {
		result = -EINTR;
		f->flags |= IOT_EPOLL_RESTARTED;
	}
	if (result > 0 && f->returned)
		note_returned(f, result);
	if (f->op == IOT_EPOLL_EPOLL_CREATE && result >= 0)
		f->fd = result;
	record(f, result, iot_clock_since(f->start, now));
	return 0;
}

static struct iot_hook_set set = {
	.sites = sites,
	.nr = ARRAY_SIZE(sites),
	.wants = wants,
	.entry = entry,
	.exit = probe_exit,
	.data_size = sizeof(struct frame),
};

/* May the kernel lack the function and nothing be missing? */
static bool is_optional(const struct iot_site *site)
{
	return site->tag == ABI_NATIVE || site->tag == ABI_32 || site->data == &uring_wait ||
	       (site->tag == ABI_REQUEST && !IS_ENABLED(CONFIG_IO_URING));
}

/* Drop what this kernel has no need of. Return: 0, or an error if it has no such system call. */
static int find_functions(void)
{
	unsigned int i, calls = 0;

	for (i = 0; i < set.nr;) {
		bool found = iot_symbol_find(sites[i].symbol);

		if (!found && is_optional(&sites[i])) {
			set.nr--;
			swap(sites[i], sites[set.nr]);
			continue;
		}
		calls += found && (sites[i].tag == ABI_NATIVE || sites[i].tag == ABI_32);
		i++;
	}
	return calls ? 0 : -EOPNOTSUPP;
}

/* If the requests of this kernel are others, they are not hooked, which is reported. */
static void check_requests(void)
{
	unsigned int i;

	if (set.nr != ARRAY_SIZE(sites) || iot_uring_epoll_fits())
		return;
	for (i = 0; i < ARRAY_SIZE(sites); i++)
		if (sites[i].tag == ABI_REQUEST)
			sites[i].proto = "struct io_epoll * ()";
}

static int start(void)
{
	int err;

	check_requests();
	err = find_functions();
	if (err) {
		pr_err("the system calls of this kernel were not found: there is no category epoll\n");
		return err;
	}
	return iot_hook_set_start(&set, NULL, 0);
}

static void stop(void)
{
	iot_hook_set_stop(&set, NULL, 0);
}

static unsigned long missed(void)
{
	return iot_hook_set_missed(&set);
}

const struct iot_category_ops iot_epoll_ops = {
	.start = start,
	.stop = stop,
	.missed = missed,
	.waiting = &iot_epoll_waiting,
};

#endif /* IOT_WITHOUT_EPOLL */
