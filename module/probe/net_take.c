// SPDX-License-Identifier: GPL-2.0
/*
 * Data that is taken from a socket of TCP without a call of its receive function, of category net.
 * Each is a RECV.
 *
 *   tcp_read_sock		KERNEL: the kernel's own users take what has come, in place: NVMe
 *				over TCP and iSCSI as initiators, KCM; io_uring without copies
 *   tcp_zerocopy_receive	MAPPED: getsockopt(TCP_ZEROCOPY_RECEIVE) maps pages into the
 *				program, and copies the rest
 *
 * No byte is recorded twice. tcp_splice_read() uses tcp_read_sock(), and is hooked itself. If the
 * socket has an upper protocol (TLS of the kernel, MPTCP) or a socket map, what is taken is raw or
 * is received later by a call that is hooked.
 *
 * Contexts: the socket is locked. iSCSI takes data in a softirq, or with softirqs off in whatever
 * task works off what has come. Then the event belongs to the owner of the socket
 * (socket_owner.c), or to nobody. All others take it in their own task, mostly of the kernel.
 * tcp_read_sock() does not sleep; tcp_zerocopy_receive() copies to the program, whose memory may
 * never arrive. Both are followed by their return address, with nothing of ours on the stack.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_NET /* left_out.h */
#include <linux/kprobes.h>
#include <linux/net.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/tcp.h>
#include <linux/timekeeping.h>
#include <net/inet_connection_sock.h>
#include <net/sock.h>
#include "core/clock.h"
#include "hook/hook.h"
#include "hook/hook_set.h"
#include "hook/kretprobe.h"
#include "hook/symbol.h"
#include "probe/net_record.h"
#include "probe/net_take.h"
#include "probe/socket.h"
#include "probe/socket_owner.h"
#include "record/categories.h"
#include "record/category.h"
#include "record/event.h"
#include "record/wants.h"
#include "uapi/iotracer.h"

static struct iot_category * const category = &iot_category_net;

/*
 * What tcp_splice_read() passes to tcp_read_sock(). Set before the hooks are attached. If it is not
 * found, what is taken in place is not recorded, rather than recorded twice.
 */
static unsigned long of_splice;

enum tag { TAG_READ_SOCK, TAG_MAP };

/**
 * struct frame - a call in progress
 * @sk:		the socket, which is locked
 * @map:	TAG_MAP: the option, in the kernel's memory; the call fills it in
 * @start:	CLOCK_MONOTONIC ns
 * @requested:	TAG_MAP: bytes that the program has room for
 */
struct frame {
	struct sock *sk;
	const struct tcp_zerocopy_receive *map;
	u64 start;
	u64 requested;
};

/* Does the current task make the call for itself? Context: any. */
static bool is_tasks(void)
{
	return in_task() && !softirq_count();
}

static bool is_taken_later(struct sock *sk)
{
	return inet_csk(sk)->icsk_ulp_ops ||
	       ((unsigned long)READ_ONCE(sk->sk_user_data) & SK_USER_DATA_PSOCK);
}

static bool is_wanted(const struct iot_site *site, const unsigned long *args)
{
	if (site->tag == TAG_READ_SOCK) {
		if (!of_splice || args[2] == of_splice || is_taken_later((struct sock *)args[0]))
			return false;
		if (!is_tasks())
			return iot_category_active(category);
	}
	return iot_category_wants(category, IOT_NET_RECV);
}

static enum iot_hook_verdict wants(const struct iot_site *site, const unsigned long *args,
				   unsigned long caller)
{
	return is_wanted(site, args) ? IOT_HOOK_FOLLOW_RETURN : IOT_HOOK_IGNORE;
}

static int entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct iot_site *site = iot_site_of(ri);
	struct frame *f = (struct frame *)ri->data;
	unsigned long args[3];

	iot_kretprobe_args(regs, args, ARRAY_SIZE(args));
	if (!is_wanted(site, args))
		return 1;
	f->sk = (struct sock *)args[0];
	f->map = NULL;
	f->start = ktime_get_mono_fast_ns();
	if (site->tag == TAG_MAP) {
		f->map = (const struct tcp_zerocopy_receive *)args[1];
		f->requested = (u64)f->map->length + max(f->map->copybuf_len, 0);
	}
	return 0;
}

/* Nothing has come: the kernel's users ask often. */
static void record_read(const struct frame *f, s32 result, u64 latency)
{
	struct iot_socket_owner owner;
	struct iot_net r;

	if (result <= 0)
		return;
	iot_net_begin(&r, IOT_NET_RECV, f->start);
	iot_net_note_socket(&r, f->sk);
	r.result = result;
	r.requested = result;
	r.moved = result;
	if (is_tasks()) {
		iot_net_record(&r, latency);
		return;
	}
	iot_socket_owner_of(f->sk, &owner);
	iot_net_record_owner(&r, &owner, latency);
}

/* The program's call holds the file of the socket. */
static s32 descriptor_of(const struct sock *sk)
{
	const struct socket *sock = READ_ONCE(sk->sk_socket);
	s32 fd;

	preempt_disable_notrace();
	fd = sock ? iot_socket_fd(sock->file, 0) : -1;
	preempt_enable_notrace();
	return fd;
}

static void record_map(const struct frame *f, s32 result, u64 latency)
{
	struct iot_net r;

	iot_net_begin(&r, IOT_NET_RECV, f->start);
	iot_net_note_socket(&r, f->sk);
	r.way = IOT_NET_MAPPED;
	r.fd = descriptor_of(f->sk);
	r.requested = f->requested;
	if (!result)
		r.moved = (u64)f->map->length + max(f->map->copybuf_len, 0);
	r.result = result ?: (s64)r.moved;
	iot_net_record(&r, latency);
}

static int probe_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	u64 end = ktime_get_mono_fast_ns();
	const struct frame *f = (const struct frame *)ri->data;
	s32 result = regs_return_value(regs);

	if (f->map)
		record_map(f, result, iot_clock_since(f->start, end));
	else
		record_read(f, result, iot_clock_since(f->start, end));
	return 0;
}

static struct iot_site sites[] = {
	{ .symbol = "tcp_read_sock", .what = "RECV", .tag = TAG_READ_SOCK, .unbounded = true,
	  .proto = "int (struct sock *, _, function *)" },
	{ .symbol = "tcp_zerocopy_receive", .what = "RECV", .tag = TAG_MAP, .unbounded = true,
	  .proto = "int (struct sock *, struct tcp_zerocopy_receive *, ...)" },
};

static struct iot_hook_set set = {
	.sites = sites,
	.nr = ARRAY_SIZE(sites),
	.wants = wants,
	.entry = entry,
	.exit = probe_exit,
	.data_size = sizeof(struct frame),
};

/** iot_net_take_start() - attach the hooks. Context: task, may sleep */
int iot_net_take_start(void)
{
	if (!of_splice)
		of_splice = iot_symbol_find("tcp_splice_data_recv");
	return iot_hook_set_start(&set, NULL, 0);
}

/** iot_net_take_stop() - detach them. Context: task, may sleep */
void iot_net_take_stop(void)
{
	iot_hook_set_stop(&set, NULL, 0);
}

/** iot_net_take_missed() - count the calls that could not be followed. Context: any */
unsigned long iot_net_take_missed(void)
{
	return iot_hook_set_missed(&set);
}

#endif /* IOT_WITHOUT_NET */
