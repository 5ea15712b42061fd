// SPDX-License-Identifier: GPL-2.0
/*
 * Category net: what sockets of TCP, UDP, MPTCP, raw IP and UNIX send and receive.
 *
 * Whatever the way in, a send or receive arrives at a function of the socket's family
 * (struct proto_ops): inet_sendmsg() and its like for IPv4 and IPv6, one for each kind of UNIX
 * socket. So send(2), sendto(2), sendmsg(2), each message of sendmmsg(2), write(2), io_uring, and
 * the kernel's own sockets (NFS, nbd, iSCSI) are all seen once, with the bytes before TLS of the
 * kernel (net/tls) has made records of them. splice(2) and sendfile(2) use these functions to
 * send, before 6.5 ->sendpage; to receive they use ->splice_read.
 *
 * What else is an event of this category is in net_zerocopy.c and net_take.c.
 *
 * A call that fails before it arrives there is no event: the descriptor is not a socket, the
 * message cannot be read, a security module refuses.
 *
 * Contexts: the hooked functions run in task context and may sleep. They may sleep without bound,
 * for data or for room. A call that need not wait, as far as can be seen when it begins, is
 * followed by a wrapper, all others by their return address. What was seen may change: another
 * thread takes the data. Then the wrapper waits with the call, and an attempt to unload the module
 * is refused, with the name of the task (hook/unload.c); stop does not wait for it.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_NET /* left_out.h */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/in.h>
#include <linux/kprobes.h>
#include <linux/net.h>
#include <linux/sched.h>
#include <linux/skbuff.h>
#include <linux/socket.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/uio.h>
#include <net/sock.h>
#include <net/tcp_states.h>
#include "core/clock.h"
#include "core/task.h"
#include "file/paths.h"
#include "hook/enter.h"
#include "hook/hook.h"
#include "hook/hook_set.h"
#include "hook/kretprobe.h"
#include "hook/redirect.h"
#include "hook/symbol.h"
#include "probe/categories.h"
#include "probe/inner.h"
#include "probe/net_record.h"
#include "probe/net_take.h"
#include "probe/net_zerocopy.h"
#include "probe/socket.h"
#include "probe/socket_log.h"
#include "probe/waiting.h"
#include "record/scope.h"
#include "record/category.h"
#include "record/event.h"
#include "record/wants.h"
#include "uapi/iotracer.h"

static struct iot_category * const category = &iot_category_net;

/* How a function passes what is sent or received. */
enum shape {
	MESSAGE,	/* (socket, msghdr, size) or (socket, msghdr, size, flags) */
	SPLICE,		/* (socket, position, pipe, size, flags of splice) */
	PAGE,		/* (socket, page, offset, size, flags) */
};

/**
 * struct frame - a send or receive in progress
 * @sock:	the socket; its file, or the kernel's user of it, holds it during the call
 * @msg:	the message, NULL if there is none
 * @start:	CLOCK_MONOTONIC ns
 * @requested:	bytes
 * @left:	bytes that @msg could hold when the call began
 * @flags:	MSG_* of the caller
 */
struct frame {
	struct socket *sock;
	struct msghdr *msg;
	u64 start;
	u64 requested;
	size_t left;
	u32 flags;
};

/*
 * Where a call ends: in the wrapper of handle(), which has no MSG_ZEROCOPY as is_bounded() has
 * found; in that of the general way; or where its return was followed, which must not sleep.
 */
enum end { QUICKLY, BY_WRAPPER, BY_RETURN };

struct function {
	u16 op;
	enum shape shape;
	bool may_fit;	/* a send with enough room does not wait */
	u16 but_of;	/* not for sockets of this type: another function calls it for them */
};

/* Is there room for what is sent, as far as can be seen now? */
static __always_inline bool has_room(const struct sock *sk, u64 size)
{
	if (sk->sk_type == SOCK_STREAM && sk->sk_family != AF_UNIX)
		return READ_ONCE(sk->sk_state) == TCP_ESTABLISHED &&
		       READ_ONCE(sk->sk_sndbuf) - READ_ONCE(sk->sk_wmem_queued) > (s64)size;
	return sock_wspace((struct sock *)sk) > (s64)size;
}

/*
 * Is the call over without a wait for another process, as far as can be seen now? A send with
 * MSG_ZEROCOPY is never said to be, as the way of the others does not look for its number: see
 * follow(). Context: any.
 */
static __always_inline bool is_bounded(const struct function *f, const unsigned long *args)
{
	const struct sock *sk = ((const struct socket *)args[0])->sk;
	const struct msghdr *msg = (const struct msghdr *)args[1];
	unsigned int flags;

	if (f->shape != MESSAGE)
		return false;
	flags = f->op == IOT_NET_SEND ? msg->msg_flags : args[3];
	if (flags & (f->op == IOT_NET_SEND ? MSG_DONTWAIT | MSG_ZEROCOPY : MSG_DONTWAIT))
		return f->op != IOT_NET_SEND || !(flags & MSG_ZEROCOPY);
	if (f->op == IOT_NET_SEND)
		return f->may_fit && has_room(sk, args[2]);
	return !(flags & MSG_WAITALL) && !skb_queue_empty_lockless(&sk->sk_receive_queue);
}

/* Conditions that are checked when a call begins, as far as they can be, and when it ends. */
#define BY_SOCKET (IOT_FILTER_SOCKET | IOT_FILTER_ENDS)

/*
 * Is the other end of a call known when it begins? What is received may name where it came from.
 * Also what a connected socket of UDP receives, which may have been in its queue before it was
 * connected, and what TCP takes from the queue of errors.
 */
static bool is_remote_known(const struct function *f, const unsigned long *args)
{
	return f->shape != MESSAGE || f->op == IOT_NET_SEND ||
	       !((const struct msghdr *)args[1])->msg_name ||
	       (((const struct socket *)args[0])->type == SOCK_STREAM && !(args[3] & MSG_ERRQUEUE));
}

static __always_inline bool are_ports_rejected(const struct iot_filter *filter, u16 local,
					       u16 remote)
{
	return (filter->used & IOT_FILTER_PORT) && local && remote &&
	       !iot_filter_port(filter, local) && !iot_filter_port(filter, remote);
}

static bool are_addresses_rejected(const struct iot_filter *filter, const struct sock *sk,
				   const struct iot_address *remote)
{
	struct iot_address local;

	iot_socket_local(sk, &local);
	return (filter->used & IOT_FILTER_ADDR) && !iot_address_is_none(&local.ip) &&
	       !iot_address_is_none(&remote->ip) && !iot_filter_addr(filter, &local.ip) &&
	       !iot_filter_addr(filter, &remote->ip);
}

/* As are_ends_rejected(), with the address that a message names, or else with the socket's. */
static noinline bool are_both_rejected(const struct iot_filter *filter, const struct sock *sk,
				       const struct msghdr *msg)
{
	struct iot_address remote;

	if (!msg || !iot_socket_named(msg->msg_name, msg->msg_namelen, &remote))
		iot_socket_remote(sk, &remote);
	return are_ports_rejected(filter, iot_socket_local_port(sk), remote.port) ||
	       are_addresses_rejected(filter, sk, &remote);
}

/*
 * Is it known that neither end will meet the conditions when the call ends? An end without a port,
 * or an address, may get one by then: a send binds the socket.
 */
static __always_inline bool are_ends_rejected(const struct iot_filter *filter,
					      const struct function *f, const unsigned long *args)
{
	const struct sock *sk = ((const struct socket *)args[0])->sk;
	const struct msghdr *msg = (const struct msghdr *)args[1];

	if (!iot_socket_is_inet(sk))
		return true;
	if (!is_remote_known(f, args))
		return false;
	if (f->op == IOT_NET_SEND && f->shape == MESSAGE && msg->msg_name &&
	    sk->sk_type != SOCK_STREAM)
		return are_both_rejected(filter, sk, msg);
	return are_ports_rejected(filter, iot_socket_local_port(sk), iot_socket_remote_port(sk)) ||
	       ((filter->used & IOT_FILTER_ADDR) && are_both_rejected(filter, sk, NULL));
}

/* Do conditions on the socket reject a call that begins? Context: any. */
static noinline bool is_rejected_now(const struct function *f, const unsigned long *args)
{
	const struct sock *sk = ((const struct socket *)args[0])->sk;
	const struct iot_filter *filter;
	bool rejected;

	preempt_disable_notrace();
	filter = rcu_dereference_sched(category->filter);
	rejected = !filter || !iot_filter_kind(filter, sk->sk_family, sk->sk_protocol) ||
		   !iot_filter_netns(filter, iot_socket_netns(sk)) ||
		   ((filter->used & IOT_FILTER_ENDS) && are_ends_rejected(filter, f, args));
	preempt_enable_notrace();
	return rejected;
}

/* Context: entry of the function; must not sleep. */
static enum iot_hook_verdict wants(const struct iot_site *site, const unsigned long *args,
				   unsigned long caller)
{
	const struct function *f = site->data;

	if (!iot_category_wants(category, f->op))
		return IOT_HOOK_IGNORE;
	if (f->but_of && ((const struct socket *)args[0])->type == f->but_of)
		return IOT_HOOK_IGNORE;
	if (unlikely(READ_ONCE(category->state) & BY_SOCKET) && is_rejected_now(f, args))
		return IOT_HOOK_IGNORE;
	return is_bounded(f, args) ? IOT_HOOK_FOLLOW : IOT_HOOK_FOLLOW_RETURN;
}

static __always_inline void frame_begin(struct frame *f, const struct function *fn,
					const unsigned long *args)
{
	struct msghdr *msg = (struct msghdr *)args[1];

	f->sock = (struct socket *)args[0];
	f->msg = NULL;
	f->left = 0;
	if (fn->shape == MESSAGE) {
		f->msg = msg;
		f->left = iov_iter_count(&msg->msg_iter);
		f->requested = args[2];
		f->flags = fn->op == IOT_NET_SEND ? msg->msg_flags : args[3];
	} else {
		f->requested = args[3];
		f->flags = fn->shape == PAGE ? args[4] : 0;
	}
	f->start = ktime_get_mono_fast_ns();
}

/* Bytes that the call has put into the socket, or has taken from it. */
static __always_inline u64 moved_by(const struct function *fn, const struct frame *f, s64 result)
{
	if (result <= 0)
		return 0;
	if (fn->op == IOT_NET_SEND || !f->msg)
		return result;
	if (f->flags & (MSG_PEEK | MSG_ERRQUEUE))
		return 0;
	/* TCP throws away what MSG_TRUNC asks for; a datagram has its length as the result */
	if ((f->flags & MSG_TRUNC) && f->sock->type == SOCK_STREAM)
		return result;
	return f->left - iov_iter_count(&f->msg->msg_iter);
}

/* As way_of(), for what is not simply a system call. */
static noinline u16 other_way_of(const struct file *file, u16 op, s32 *fd)
{
	u16 inner;

	*fd = -1;
	if (current->flags & PF_KTHREAD)
		return IOT_NET_KERNEL;
	inner = iot_inner_flags();
	if (inner & IOT_IO_URING)
		return IOT_NET_URING;
	*fd = iot_socket_fd(file, op == IOT_NET_SEND && (inner & IOT_IO_SPLICE) ? 2 : 0);
	if (inner & IOT_IO_SENDFILE)
		return IOT_NET_SENDFILE;
	if (inner & IOT_IO_SPLICE)
		return IOT_NET_SPLICE;
	if (*fd >= 0)
		return IOT_NET_CALL;
	return file && current->io_uring ? IOT_NET_URING : IOT_NET_OTHER;
}

/* How the call was made, and the descriptor that was used, -1 if none is known. */
static __always_inline u16 way_of(const struct file *file, u16 op, s32 *fd)
{
	s32 other;
	u16 way;

	*fd = iot_socket_call_fd(file);
	if (likely(*fd >= 0))
		return IOT_NET_CALL;
	way = other_way_of(file, op, &other);
	*fd = other;
	return way;
}

/*
 * Get the address that a datagram was sent to or came from, if its message has one. The kernel
 * ignores the name that is given with data of a stream. Of a received message it fills it in.
 */
static noinline bool find_named(struct iot_address *named, u16 op, const struct socket *sock,
				const struct msghdr *msg, s64 result)
{
	return sock->type != SOCK_STREAM && (op == IOT_NET_SEND || result >= 0) &&
	       iot_socket_named(msg->msg_name, msg->msg_namelen, named);
}

static __always_inline bool may_be_named(const struct msghdr *msg)
{
	return unlikely(msg && msg->msg_name);
}

/* Do conditions reject a call that has ended? Those on the socket may be newer than the call. */
static noinline bool is_rejected(u16 op, const struct socket *sock, const struct msghdr *msg,
				 s64 result, u64 moved, u64 latency)
{
	struct iot_address local, remote;
	const struct sock *sk = sock->sk;

	iot_socket_local(sk, &local);
	if (!may_be_named(msg) || !find_named(&remote, op, sock, msg, result))
		iot_socket_remote(sk, &remote);
	return iot_category_rejects_inode(category, SOCK_INODE((struct socket *)sock)->i_ino) ||
	       iot_category_rejects_socket(category, sk->sk_family, sk->sk_protocol,
					   iot_socket_netns(sk)) ||
	       iot_category_rejects_ends(category, &local, &remote) ||
	       iot_category_rejects_at_end(category, op, latency, moved, false);
}

static noinline bool fill_named(struct iot_net *e, u16 op, const struct socket *sock,
				const struct msghdr *msg, s64 result)
{
	struct iot_address named;

	if (!find_named(&named, op, sock, msg, result))
		return false;
	memcpy(e->remote, &named.ip, sizeof(e->remote));
	e->remote_port = named.port;
	return true;
}

/* The addresses of both ends: for a message to or from another one, that one's. */
static __always_inline void fill_socket(struct iot_net *e, const struct function *fn,
					const struct frame *f, s64 result)
{
	const struct sock *sk = f->sock->sk;

	iot_socket_put_local(sk, e->local, &e->local_port);
	if (!may_be_named(f->msg) || !fill_named(e, fn->op, f->sock, f->msg, result))
		iot_socket_put_remote(sk, e->remote, &e->remote_port);
	iot_net_fill_kind(e, (struct sock *)sk, f->sock->type, SOCK_INODE(f->sock)->i_ino);
}

/* The file that sendfile(2) sends, from its argument 1: another thread may change what that is. */
static noinline void fill_file(struct iot_net *e)
{
	struct iot_paths_file sent = {};
	struct file *file = iot_socket_call_file(1);

	if (file) {
		iot_paths_of(iot_file_user_path(file), false, &sent);
		fput(file);
	}
	e->file_inode = sent.ino;
	e->file_device = sent.dev;
	e->file_path = sent.id;
}

/* Store flags2, and 0 in file_device: a word of a little-endian machine, by one instruction. */
static __always_inline void fill_flags2(struct iot_net *e, u32 flags2)
{
	static_assert(iot_task_is_word(struct iot_net, flags2, file_device));

	*(u64 *)&e->flags2 = flags2;
}

/* A send with MSG_ZEROCOPY: the number that its notification will have. */
static noinline void fill_number(struct iot_net *e, const struct frame *f)
{
	u32 number;

	if (!iot_net_zerocopy_number(f->sock->sk, f->start, &number))
		return;
	e->flags2 = IOT_NET_NOTIFIED;
	e->zerocopy_first = number;
	e->zerocopy_last = number;
}

static void record_row(const struct function *fn, const struct frame *f, s64 result, u64 latency,
		       u16 way, s32 fd, bool may_sleep)
{
	struct socket *sock = f->sock;
	struct iot_socket_label label;
	struct iot_address named;
	struct iot_fs e;

	iot_socket_log_begin(&e, fn->op == IOT_NET_SEND ? IOT_FS_SEND : IOT_FS_RECV, f->start,
			     latency);
	e.inode = SOCK_INODE(sock)->i_ino;
	e.requested = f->requested;
	e.result = iot_event_result(result);
	e.flags = way == IOT_NET_KERNEL ? IOT_CALL_KERNEL : 0;
	e.flags2 = f->flags;
	e.fd = fd;
	iot_socket_label_of(&label, sock->sk);
	if (may_be_named(f->msg) && find_named(&named, fn->op, sock, f->msg, result))
		iot_socket_label_remote(&label, &named);
	iot_socket_log_end(&e, &label, may_sleep);
}

/*
 * Record a call in the logs of processes that want it. Context: as where the call ends, preemption
 * off. It is on for a moment: a new label may take memory.
 */
static noinline void record_in_logs(const struct function *fn, const struct frame *f, s64 result,
				    u64 latency, bool may_sleep)
{
	u16 way;
	s32 fd;

	if (!iot_scopes_want_sockets())
		return;
	way = way_of(f->sock->file, fn->op, &fd);
	preempt_enable_notrace();
	record_row(fn, f, result, latency, way, fd, may_sleep);
	preempt_disable_notrace();
}

static __always_inline void record(const struct function *fn, const struct frame *f, s64 result,
				   u64 latency, enum end end)
{
	u64 moved = moved_by(fn, f, result);
	struct iot_event_at at;
	struct iot_net *e;
	s32 fd;
	u16 way;

	preempt_disable_notrace();
	way = way_of(f->sock->file, fn->op, &fd);
	/* io_uring tries without waiting, and calls again when there is data or room */
	if (unlikely(way == IOT_NET_URING) && result == -EAGAIN)
		goto out;
	if (unlikely(iot_category_asks_at_end(category, IOT_CATEGORY_BY_FILE | BY_SOCKET))) {
		if (iot_category_has_scopes(category)) {
			/* a copy, so that the frame itself need not be in memory */
			struct frame copy = *f;

			record_in_logs(fn, &copy, result, latency, end != BY_RETURN);
			/* not checked before */
			if (!iot_category_wants_task(category))
				goto out;
		}
		if (is_rejected(fn->op, f->sock, f->msg, result, moved, latency))
			goto out;
	}
	e = iot_event_reserve(category, &at);
	if (!e)
		goto out;
	iot_event_fill(e, &at, category, fn->op, f->start, latency);
	fill_socket(e, fn, f, result);
	e->result = iot_event_result(result);
	e->requested = f->requested;
	e->moved = moved;
	e->flags = f->flags;
	e->fd = fd;
	e->way = way;
	fill_flags2(e, fn->op == IOT_NET_RECV && f->msg && result >= 0 ? f->msg->msg_flags : 0);
	e->zerocopy_first = 0;
	e->zerocopy_last = 0;
	e->file_inode = 0;
	e->file_path = 0;
	if (unlikely(way == IOT_NET_SENDFILE))
		fill_file(e);
	if (end != QUICKLY && fn->op == IOT_NET_SEND && unlikely(f->flags & MSG_ZEROCOPY))
		fill_number(e, f);
	iot_task_fill(e);
	iot_event_commit(category, &at);
out:
	preempt_enable_notrace();
}

static __always_inline void frame_end(const struct function *fn, const struct frame *f, s64 result,
				      enum end end)
{
	record(fn, f, result, iot_clock_since(f->start, ktime_get_mono_fast_ns()), end);
}

/* The wrapper. The result is an int where the function has a message, else a long. */
static s64 call(const struct iot_site *site, unsigned long *args)
{
	const struct function *fn = site->data;
	struct frame f IOT_UNINITIALIZED;
	s64 result;

	frame_begin(&f, fn, args);
	result = iot_hook_call(args, site->entry);
	if (fn->shape == MESSAGE)
		result = (s32)result;
	frame_end(fn, &f, result, BY_WRAPPER);
	return result;
}

static int entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct iot_site *site = iot_site_of(ri);
	unsigned long args[IOT_CALL_ARGS];

	iot_kretprobe_args(regs, args, ARRAY_SIZE(args));
	if (wants(site, args, 0) == IOT_HOOK_IGNORE)
		return 1;
	frame_begin((struct frame *)ri->data, site->data, args);
	return 0;
}

static int probe_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct frame *f = (const struct frame *)ri->data;
	s64 result = regs_return_value(regs);

	frame_end(iot_site_of(ri)->data, f, f->msg ? (s32)result : result, BY_RETURN);
	return 0;
}

static const struct function send = { IOT_NET_SEND, MESSAGE, .may_fit = true };
static const struct function send_datagram = { IOT_NET_SEND, MESSAGE, .but_of = SOCK_SEQPACKET };
static const struct function send_packet = { IOT_NET_SEND, MESSAGE };
static const struct function send_page = { IOT_NET_SEND, PAGE };
static const struct function receive = { IOT_NET_RECV, MESSAGE };
static const struct function receive_datagram = { IOT_NET_RECV, MESSAGE, .but_of = SOCK_SEQPACKET };
static const struct function receive_pages = { IOT_NET_RECV, SPLICE };

#ifdef IOT_REDIRECT
/* Called in place of a function with a message. */
static __always_inline s64 follow(const struct function *fn, unsigned long sock,
				  unsigned long msg, unsigned long size, unsigned long flags,
				  unsigned long original)
{
	const unsigned long args[] = { sock, msg, size, flags };
	struct frame f IOT_UNINITIALIZED;
	s64 result;

	frame_begin(&f, fn, args);
	result = (s32)iot_hook_enter4(sock, msg, size, flags, original);
	frame_end(fn, &f, result, QUICKLY);
	iot_redirect_leave();
	return result;
}

static s64 follow_send(unsigned long sock, unsigned long msg, unsigned long size,
		       unsigned long flags, unsigned long original)
{
	return follow(&send, sock, msg, size, flags, original);
}

static s64 follow_receive(unsigned long sock, unsigned long msg, unsigned long size,
			  unsigned long flags, unsigned long original)
{
	return follow(&receive, sock, msg, size, flags, original);
}

static __always_inline void load_args(unsigned long *args, struct iot_regs *regs)
{
	args[0] = iot_regs_arg(regs, 0);
	args[1] = iot_regs_arg(regs, 1);
	args[2] = iot_regs_arg(regs, 2);
	args[3] = iot_regs_arg(regs, 3);
}

/* As handle(), with conditions on the socket. */
static noinline void handle_by_socket(const struct function *fn, unsigned long ip,
				      unsigned long parent_ip, struct ftrace_ops *ops,
				      struct ftrace_regs *fregs)
{
	unsigned long args[4] IOT_UNINITIALIZED;

	load_args(args, iot_ftrace_regs(fregs));
	if (!is_rejected_now(fn, args))
		iot_hook_set_handle(ip, parent_ip, ops, fregs);
}

/* As handle(), while logs of processes have the rows of sockets. */
static noinline void handle_late(const struct function *fn, void *wrapper, unsigned long ip,
				 unsigned long parent_ip, struct ftrace_ops *ops,
				 struct ftrace_regs *fregs)
{
	struct iot_regs *regs = iot_ftrace_regs(fregs);
	unsigned long args[4] IOT_UNINITIALIZED;

	if (!iot_category_wants(category, fn->op))
		return;
	load_args(args, regs);
	if (is_bounded(fn, args))
		iot_redirect4(regs, ip, wrapper);
	else
		iot_hook_set_handle(ip, parent_ip, ops, fregs);
}

/*
 * The quick way for the calls of most programs: those of a process that is not wanted, and those
 * that are recorded and need not wait. All others go the general way. What is not always needed is
 * in functions of their own, so that this one saves no registers. Context: entry of a function with
 * a message.
 */
static __always_inline void handle(const struct function *fn, void *wrapper, unsigned long ip,
				   unsigned long parent_ip, struct ftrace_ops *ops,
				   struct ftrace_regs *fregs)
{
	struct iot_regs *regs = iot_ftrace_regs(fregs);
	u32 state = READ_ONCE(category->state);
	unsigned long args[4];

	if (unlikely(iot_redirect_is_shared(regs))) {
		iot_hook_set_handle(ip, parent_ip, ops, fregs);
		return;
	}
	if (iot_category_rejects_process(category, state))
		return;
	if (unlikely(state & (BY_SOCKET | IOT_CATEGORY_SCOPES))) {
		if (state & IOT_CATEGORY_SCOPES)
			handle_late(fn, wrapper, ip, parent_ip, ops, fregs);
		else
			handle_by_socket(fn, ip, parent_ip, ops, fregs);
		return;
	}
	load_args(args, regs);
	if (likely(iot_category_wants_any(category, state)) && is_bounded(fn, args))
		iot_redirect4(regs, ip, wrapper);
	else
		iot_hook_set_handle(ip, parent_ip, ops, fregs);
}

static void handle_send(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			struct ftrace_regs *fregs)
{
	handle(&send, follow_send, ip, parent_ip, ops, fregs);
}

static void handle_receive(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			   struct ftrace_regs *fregs)
{
	handle(&receive, follow_receive, ip, parent_ip, ops, fregs);
}
#endif

#define SEND_PROTO	"int (struct socket *, struct msghdr *, long)"
#define RECEIVE_PROTO	"int (struct socket *, struct msghdr *, long, int)"
#define SPLICE_PROTO	"long (struct socket *, long *, struct pipe_inode_info *, long, int)"
#define PAGE_PROTO	"long (struct socket *, struct page *, int, long, int)"

#define FUNCTION(name, prototype, function, ...) {		\
	.symbol = (name),					\
	.what = "NET",						\
	.proto = (prototype),					\
	.may_be_unbounded = true,				\
	.data = (function),					\
	__VA_ARGS__						\
}

#define OWN(by)				.handler = IOT_HOOK_OWN(by)
#define SENDS(name, function, ...)	FUNCTION(name, SEND_PROTO, function, __VA_ARGS__)
#define RECEIVES(name, function, ...)	FUNCTION(name, RECEIVE_PROTO, function, __VA_ARGS__)
#define SPLICES(name)			FUNCTION(name, SPLICE_PROTO, &receive_pages)

/* A datagram of a UNIX socket may wait until the peer has taken others from its queue. */
static struct iot_site sites[] = {
	SENDS("inet_sendmsg", &send, OWN(handle_send)),
	SENDS("inet6_sendmsg", &send, OWN(handle_send)),
	SENDS("unix_stream_sendmsg", &send, OWN(handle_send)),
	SENDS("unix_dgram_sendmsg", &send_datagram),
	SENDS("unix_seqpacket_sendmsg", &send_packet),
	RECEIVES("inet_recvmsg", &receive, OWN(handle_receive)),
	RECEIVES("inet6_recvmsg", &receive, OWN(handle_receive)),
	RECEIVES("unix_stream_recvmsg", &receive, OWN(handle_receive)),
	RECEIVES("unix_dgram_recvmsg", &receive_datagram),
	RECEIVES("unix_seqpacket_recvmsg", &receive),
	SPLICES("tcp_splice_read"),
	SPLICES("unix_stream_splice_read"),
	/* until 6.4 */
	FUNCTION("inet_sendpage", PAGE_PROTO, &send_page),
	FUNCTION("unix_stream_sendpage", PAGE_PROTO, &send_page),
};

static struct iot_hook_set set = {
	.sites = sites,
	.nr = ARRAY_SIZE(sites),
	.wants = wants,
	.call = call,
	.entry = entry,
	.exit = probe_exit,
	.data_size = sizeof(struct frame),
};

static int start(void)
{
	int err = iot_net_zerocopy_start();

	if (err)
		return err;
	err = iot_net_take_start();
	if (err)
		goto err_zerocopy;
	err = iot_hook_set_start(&set, NULL, 0);
	if (err)
		goto err_take;
	return 0;

err_take:
	iot_net_take_stop();
err_zerocopy:
	iot_net_zerocopy_stop();
	return err;
}

static void stop(void)
{
	iot_hook_set_stop(&set, NULL, 0);
	iot_net_take_stop();
	iot_net_zerocopy_stop();
}

static unsigned long missed(void)
{
	return iot_hook_set_missed(&set) + iot_net_take_missed() + iot_net_zerocopy_missed();
}

const struct iot_category_ops iot_net_ops = {
	.start = start,
	.stop = stop,
	.missed = missed,
	.waiting = &iot_net_waiting,
};

#endif /* IOT_WITHOUT_NET */
