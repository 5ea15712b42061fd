// SPDX-License-Identifier: GPL-2.0
/*
 * MSG_ZEROCOPY, of category net. The kernel sends the pages of the program themselves, and notifies
 * the socket when it does not need them any more.
 *
 *   msg_zerocopy_realloc	a send gets its number, which counts from 0 in each socket
 *   msg_zerocopy_put_abort	a send has failed, and gives its number back
 *   __msg_zerocopy_callback	ZEROCOPY: the notification. Sends one after another may share one
 *				struct ubuf_info_msgzc, and so one notification for a range of
 *				numbers
 *
 * The kernel may join the notifications of ranges when it queues them. So a program may read fewer
 * of them than there are events, of the same numbers.
 *
 * The notification comes in any context, mostly in a softirq, when the other end has acknowledged
 * the data. Its event belongs to the thread that made the first send of its range, which is noted
 * in a table, with the time. If that is not known, the event belongs to the owner of the socket
 * (socket_owner.c), or to nobody, and has no latency.
 *
 * The tables have a fixed number of slots. Entries of calls that were not seen to the end stay
 * until another one needs the slot (core/table.c); an entry counts only if socket and number, or
 * socket and time, are right.
 *
 * io_uring has its own notifications (IORING_OP_SEND_ZC): such a send gets no number here.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_NET /* left_out.h */
#include <linux/atomic.h>
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <net/sock.h>
#include "core/clock.h"
#include "core/table.h"
#include "core/task.h"
#include "hook/hook.h"
#include "hook/hook_set.h"
#include "hook/kretprobe.h"
#include "probe/net_record.h"
#include "probe/net_zerocopy.h"
#include "probe/socket.h"
#include "probe/socket_owner.h"
#include "record/categories.h"
#include "record/category.h"
#include "record/wants.h"
#include "uapi/iotracer.h"

static struct iot_category * const category = &iot_category_net;

#define NUMBERED_BITS	7	/* tasks that are between their number and the end of their send */
#define LENT_BITS	10	/* ranges whose pages the kernel has */

/**
 * struct numbered - the number of the send that a task makes; its key is the task
 * @time:	when it got the number, CLOCK_MONOTONIC ns
 */
struct numbered {
	u64 time;
	u64 cookie;
	u32 number;
	u32 uid;
	u32 pid;
	u32 reserved;
};

IOT_TABLE_STORE(numbered, struct numbered, NUMBERED_BITS);

static struct iot_table numbered = {
	IOT_TABLE_OF(struct numbered, time, uid, pid),
	IOT_TABLE_STORED(numbered, NUMBERED_BITS),
};

/**
 * struct lent - the pages of a range of sends; its key is the kernel's ubuf_info_msgzc
 * @owner:	the thread that made the first send. Its time is when the kernel took the pages
 * @cookie:	of the socket
 * @first:	number of the first send
 */
struct lent {
	struct iot_socket_owner owner;
	u64 cookie;
	u32 first;
	u32 reserved;
};

IOT_TABLE_STORE(lent, struct lent, LENT_BITS);

static struct iot_table lent = {
	IOT_TABLE_OF(struct lent, owner.time, owner.uid, owner.pid),
	IOT_TABLE_STORED(lent, LENT_BITS),
};

/*
 * Context: any, preemption off. Return: a held object, new or of an earlier use of the key; NULL if
 * there is no slot.
 */
static void *take_or_make(struct iot_table *t, const void *key)
{
	return iot_table_take(t, key) ?: iot_table_new(t, key);
}

static void drop_if_any(struct iot_table *t, const void *key)
{
	void *thing;

	preempt_disable_notrace();
	thing = iot_table_take(t, key);
	if (thing)
		iot_table_drop(t, thing);
	preempt_enable_notrace();
}

/**
 * struct frame - a call of msg_zerocopy_realloc() in progress
 * @start:	CLOCK_MONOTONIC ns
 */
struct frame {
	struct sock *sk;
	u64 start;
};

static void note_number(const struct frame *f, u32 number)
{
	struct numbered *n = take_or_make(&numbered, current);

	if (!n)
		return;
	n->time = f->start;
	n->cookie = iot_socket_cookie(f->sk);
	n->number = number;
	n->uid = __kuid_val(current_euid());
	n->pid = current->tgid;
	iot_table_keep(n);
}

static void note_lent(const struct frame *f, const struct ubuf_info_msgzc *uarg)
{
	struct lent *l = take_or_make(&lent, uarg);

	if (!l)
		return;
	memset(&l->owner, 0, sizeof(l->owner));
	l->owner.time = f->start;
	iot_task_fill(&l->owner);
	l->cookie = iot_socket_cookie(f->sk);
	l->first = uarg->id;
	iot_table_keep(l);
}

/*
 * A send has got its number. Its socket is locked, or @ubuf is the caller's alone, which holds a
 * reference, so the notification comes later. Context: task.
 */
static void note_send(const struct frame *f, const struct ubuf_info *ubuf)
{
	const struct ubuf_info_msgzc *uarg = container_of(ubuf, struct ubuf_info_msgzc, ubuf);

	preempt_disable_notrace();
	note_number(f, uarg->id + uarg->len - 1);
	if (uarg->len == 1)
		note_lent(f, uarg);
	preempt_enable_notrace();
}

/**
 * iot_net_zerocopy_number() - get the number of the send that the current task ends
 * @start:	when the send began, CLOCK_MONOTONIC ns
 *
 * Context: task. Return: false if no notification will follow, or its number was not seen.
 */
bool iot_net_zerocopy_number(const struct sock *sk, u64 start, u32 *number)
{
	struct numbered *n;
	bool is_known;

	preempt_disable_notrace();
	n = iot_table_take(&numbered, current);
	is_known = n && n->time >= start && n->cookie == atomic64_read(&sk->sk_cookie);
	if (is_known)
		*number = n->number;
	if (n)
		iot_table_drop(&numbered, n);
	preempt_enable_notrace();
	return is_known;
}

/* Take what is known of a range whose pages are free now. Context: any. */
static bool take_lent(const struct ubuf_info_msgzc *uarg, const struct sock *sk,
		      struct iot_socket_owner *owner)
{
	struct lent *l;
	bool is_known;

	preempt_disable_notrace();
	l = iot_table_take(&lent, uarg);
	is_known = l && l->first == uarg->id && l->cookie == atomic64_read(&sk->sk_cookie);
	if (is_known)
		*owner = l->owner;
	if (l)
		iot_table_drop(&lent, l);
	preempt_enable_notrace();
	return is_known;
}

/*
 * Record a notification, whose range does not change any more. There is none if the only send of a
 * range has failed, or nobody has the socket. @uarg is in a packet buffer of its own, which holds
 * the socket. Context: any.
 */
static void record(const struct ubuf_info_msgzc *uarg)
{
	struct sock *sk = container_of((const void *)uarg, struct sk_buff, cb)->sk;
	struct iot_socket_owner owner;
	struct iot_net r;
	u64 now;

	if (!iot_socket_is_inet(sk))
		return;
	now = ktime_get_mono_fast_ns();
	if (!take_lent(uarg, sk, &owner)) {
		iot_socket_owner_of(sk, &owner);
		owner.time = now;
	}
	if (!uarg->len || sock_flag(sk, SOCK_DEAD))
		return;
	iot_net_begin(&r, IOT_NET_ZEROCOPY, owner.time);
	iot_net_note_socket(&r, sk);
	r.requested = uarg->bytelen;
	r.zerocopy_first = uarg->id;
	r.zerocopy_last = uarg->id + uarg->len - 1;
	r.flags2 = uarg->zerocopy ? 0 : IOT_NET_COPIED;
	iot_net_record_owner(&r, &owner, iot_clock_since(owner.time, now));
}

enum tag { TAG_NUMBER, TAG_ABORT, TAG_NOTIFY };

/*
 * Context: entry of the functions. msg_zerocopy_realloc() may sleep for memory, and runs in the
 * task that sends, like msg_zerocopy_put_abort().
 */
static enum iot_hook_verdict wants(const struct iot_site *site, const unsigned long *args,
				   unsigned long caller)
{
	switch ((enum tag)site->tag) {
	case TAG_NUMBER:
		if (iot_category_wants(category, IOT_NET_SEND) ||
		    iot_category_wants(category, IOT_NET_ZEROCOPY))
			return IOT_HOOK_FOLLOW_RETURN;
		break;
	case TAG_ABORT:
		drop_if_any(&numbered, current);
		break;
	case TAG_NOTIFY:
		if (iot_category_active(category))
			record((const struct ubuf_info_msgzc *)args[0]);
		break;
	}
	return IOT_HOOK_IGNORE;
}

static int entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct frame *f = (struct frame *)ri->data;
	unsigned long args[2];

	iot_kretprobe_args(regs, args, ARRAY_SIZE(args));
	if (wants(iot_site_of(ri), args, 0) == IOT_HOOK_IGNORE)
		return 1;
	f->sk = (struct sock *)args[0];
	f->start = ktime_get_mono_fast_ns();
	return 0;
}

static int probe_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct ubuf_info *ubuf = (const void *)regs_return_value(regs);

	if (ubuf)
		note_send((const struct frame *)ri->data, ubuf);
	return 0;
}

static struct iot_site sites[] = {
	{ .symbol = "msg_zerocopy_realloc", .what = "ZEROCOPY", .tag = TAG_NUMBER,
	  .unbounded = true,
	  .proto = "struct ubuf_info * (struct sock *, long, struct ubuf_info *, ...)" },
	{ .symbol = "msg_zerocopy_put_abort", .what = "ZEROCOPY", .tag = TAG_ABORT,
	  .proto = "_ (struct ubuf_info *, char)" },
	{ .symbol = "__msg_zerocopy_callback", .what = "ZEROCOPY", .tag = TAG_NOTIFY,
	  .proto = "_ (struct ubuf_info_msgzc *)" },
};

static struct iot_hook_set set = {
	.sites = sites,
	.nr = ARRAY_SIZE(sites),
	.wants = wants,
	.entry = entry,
	.exit = probe_exit,
	.data_size = sizeof(struct frame),
};

/** iot_net_zerocopy_start() - attach the hooks. Context: task, may sleep */
int iot_net_zerocopy_start(void)
{
	return iot_hook_set_start(&set, NULL, 0);
}

/** iot_net_zerocopy_stop() - detach them. Context: task, may sleep */
void iot_net_zerocopy_stop(void)
{
	iot_hook_set_stop(&set, NULL, 0);
}

/** iot_net_zerocopy_missed() - count the sends whose number was missed. Context: any */
unsigned long iot_net_zerocopy_missed(void)
{
	return iot_hook_set_missed(&set);
}

#endif /* IOT_WITHOUT_NET */
