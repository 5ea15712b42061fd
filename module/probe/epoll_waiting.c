// SPDX-License-Identifier: GPL-2.0
/*
 * Category epoll: threads that wait in epoll_wait(2), poll(2) or select(2).
 *
 * Only registers are read, not the memory of the program, which may not be there. So a timeout is
 * known if it is a number of milliseconds, or if there is none.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_EPOLL /* left_out.h */
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/preempt.h>
#include <linux/restart_block.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/timekeeping.h>
#include "compat/compat.h"
#include "core/task.h"
#include "record/category.h"
#include "probe/epoll_timeout.h"
#include "probe/waiting.h"
#include "uapi/iotracer.h"

/* How a call states its timeout. */
enum how { POINTER, MILLISECONDS, IN_MEMORY };

#define WAITS(...)	.op = IOT_EPOLL_EPOLL_WAIT, .size = 2, .timeout = 3, __VA_ARGS__
#define POLLS(...)	.op = IOT_EPOLL_POLL, .size = 1, .timeout = 2, __VA_ARGS__
#define SELECTS(...)	.op = IOT_EPOLL_SELECT, .timeout = 4, __VA_ARGS__

static const struct iot_waiting_call calls[] = {
#ifdef IOT_ARCH_KNOWN
#ifdef __NR_epoll_wait
	IOT_WAITING_NATIVE(epoll_wait, WAITS(.how = MILLISECONDS)),
#endif
	IOT_WAITING_NARROW(epoll_wait, WAITS(.how = MILLISECONDS)),
	IOT_WAITING_BOTH(epoll_pwait, WAITS(.how = MILLISECONDS, .mask = 4)),
	IOT_WAITING_BOTH(epoll_pwait2, WAITS(.mask = 4)),
#ifdef __NR_poll
	IOT_WAITING_NATIVE(poll, POLLS(.how = MILLISECONDS)),
#endif
	IOT_WAITING_NARROW(poll, POLLS(.how = MILLISECONDS)),
	IOT_WAITING_BOTH(ppoll, POLLS(.mask = 3)),
	IOT_WAITING_NARROW(ppoll_time64, POLLS(.mask = 3)),
#ifdef __NR_select
	IOT_WAITING_NATIVE(select, SELECTS()),
#endif
	IOT_WAITING_NARROW(_newselect, SELECTS()),
#ifdef CONFIG_IA32_EMULATION
	IOT_WAITING_NARROW(select, SELECTS(.how = IN_MEMORY)),
#endif
	IOT_WAITING_BOTH(pselect6, SELECTS()),
	IOT_WAITING_NARROW(pselect6_time64, SELECTS()),
#endif
};

static s64 timeout_of(const struct iot_waiting_call *call, u64 value)
{
	if (call->how == MILLISECONDS)
		return (s32)value < 0 ? IOT_EPOLL_WITHOUT_LIMIT : (s32)value * NSEC_PER_MSEC;
	if (call->how == POINTER && !value)
		return IOT_EPOLL_WITHOUT_LIMIT;
	return IOT_EPOLL_UNKNOWN;
}

static void note_args(struct iot_epoll *e, const struct iot_waiting *w,
		      const struct iot_waiting_call *call)
{
	e->timeout = timeout_of(call, w->args[call->timeout]);
	e->maximum = call->op == IOT_EPOLL_POLL ? (u32)w->args[call->size] :
		     call->how == IN_MEMORY ? 0 : (s32)w->args[call->size];
	if (call->op == IOT_EPOLL_EPOLL_WAIT)
		e->fd = w->args[call->fd];
	if (call->mask && w->args[call->mask])
		e->flags = IOT_EPOLL_SIGMASK;
}

/* As begin_poll_again() of epoll.c. */
static void note_again(struct iot_epoll *e, const struct restart_block *block)
{
	const s64 now = ktime_get_mono_fast_ns();

	e->maximum = (u32)block->poll.nfds;
	e->flags = IOT_EPOLL_AGAIN;
	e->timeout = !block->poll.has_timeout ? IOT_EPOLL_WITHOUT_LIMIT :
		     max_t(s64, 0, iot_restart_poll_end(block) - now);
}

static bool note(const struct iot_waiting *w, const struct iot_waiting_call *call, void *record)
{
	struct iot_epoll *e = record;

	memset(e, 0, sizeof(*e));
	e->op = call->op;
	e->fd = -1;
	e->target = -1;
	if (w->poll)
		note_again(e, w->poll);
	else
		note_args(e, w, call);
	preempt_disable_notrace();
	iot_task_fill_other(e, w->task);
	e->ppid = iot_task_parent(w->task);
	preempt_enable_notrace();
	return true;
}

const struct iot_waiting_ops iot_epoll_waiting = {
	.calls = calls,
	.nr_calls = ARRAY_SIZE(calls),
	.note = note,
};

#endif /* IOT_WITHOUT_EPOLL */
