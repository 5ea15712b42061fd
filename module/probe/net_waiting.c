// SPDX-License-Identifier: GPL-2.0
/*
 * Category net: threads that wait in a send or receive.
 *
 * read(2) and its like are one if the descriptor leads to a socket. sendfile(2) and splice(2) may
 * wait for the file or the pipe instead. Of recvmmsg(2) and sendmmsg(2), each message has a record
 * of its own; here they are one call.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_NET /* left_out.h */
#include <linux/net.h>
#include <linux/preempt.h>
#include <linux/socket.h>
#include <linux/string.h>
#include <net/sock.h>
#include "core/task.h"
#include "record/category.h"
#include "probe/socket.h"
#include "probe/waiting.h"
#include "uapi/iotracer.h"

#define CALL		BIT(7)	/* in @how, beside IOT_NET_*: a call for sockets only */

#define READS(...)	.op = IOT_NET_RECV, .how = IOT_NET_CALL, __VA_ARGS__
#define WRITES(...)	.op = IOT_NET_SEND, .how = IOT_NET_CALL, __VA_ARGS__
#define RECEIVES(...)	.op = IOT_NET_RECV, .how = IOT_NET_CALL | CALL, __VA_ARGS__
#define SENDS(...)	.op = IOT_NET_SEND, .how = IOT_NET_CALL | CALL, __VA_ARGS__
#define MOVES(o, w, ...) .op = IOT_NET_##o, .how = IOT_NET_##w, __VA_ARGS__

static const struct iot_waiting_call calls[] = {
#ifdef IOT_ARCH_KNOWN
	IOT_WAITING_BOTH(read, READS(.size = 2)),
	IOT_WAITING_BOTH(readv, READS()),
	IOT_WAITING_BOTH(preadv2, READS()),
	IOT_WAITING_BOTH(write, WRITES(.size = 2)),
	IOT_WAITING_BOTH(writev, WRITES()),
	IOT_WAITING_BOTH(pwritev2, WRITES()),
	IOT_WAITING_BOTH(recvfrom, RECEIVES(.size = 2, .flags = 3)),
	IOT_WAITING_BOTH(recvmsg, RECEIVES(.flags = 2)),
	IOT_WAITING_BOTH(recvmmsg, RECEIVES(.flags = 3)),
	IOT_WAITING_NARROW(recvmmsg_time64, RECEIVES(.flags = 3)),
	IOT_WAITING_BOTH(sendto, SENDS(.size = 2, .flags = 3)),
	IOT_WAITING_BOTH(sendmsg, SENDS(.flags = 2)),
	IOT_WAITING_BOTH(sendmmsg, SENDS(.flags = 3)),
#ifdef CONFIG_ARM64
	IOT_WAITING_NARROW(recv, RECEIVES(.size = 2, .flags = 3)),
	IOT_WAITING_NARROW(send, SENDS(.size = 2, .flags = 3)),
#endif
	IOT_WAITING_BOTH(sendfile, MOVES(SEND, SENDFILE, .fd = 0, .size = 3)),
	IOT_WAITING_NARROW(sendfile64, MOVES(SEND, SENDFILE, .fd = 0, .size = 3)),
	IOT_WAITING_BOTH(splice, MOVES(RECV, SPLICE, .fd = 0, .size = 4)),
	IOT_WAITING_BOTH(splice, MOVES(SEND, SPLICE, .fd = 2, .size = 4)),
#endif
};

/* Those whose functions net.c hooks. */
static bool is_traced(const struct sock *sk)
{
	return iot_socket_is_inet(sk) || sk->sk_family == AF_UNIX;
}

static void note_socket(struct iot_net *e, struct socket *sock, struct sock *sk)
{
	iot_socket_put_local(sk, e->local, &e->local_port);
	iot_socket_put_remote(sk, e->remote, &e->remote_port);
	e->type = sock->type;
	e->family = sk->sk_family;
	e->protocol = sk->sk_protocol;
	e->netns = iot_socket_netns(sk);
	e->cookie = iot_socket_cookie(sk);
	e->inode = SOCK_INODE(sock)->i_ino;
}

static bool note(const struct iot_waiting *w, const struct iot_waiting_call *call, void *record)
{
	struct iot_net *e = record;
	s32 fd = w->args[call->fd];
	struct socket *sock = iot_waiting_socket(w, fd);
	struct sock *sk = sock ? READ_ONCE(sock->sk) : NULL;

	if (sk ? !is_traced(sk) : !(call->how & CALL))
		return false;
	memset(e, 0, sizeof(*e));
	if (sk)
		note_socket(e, sock, sk);
	e->op = call->op;
	e->fd = fd;
	e->way = fd < 0 ? IOT_NET_OTHER : call->how & ~CALL;
	e->requested = call->size ? w->args[call->size] : 0;
	e->flags = call->flags ? w->args[call->flags] : 0;
	preempt_disable_notrace();
	iot_task_fill_other(e, w->task);
	e->ppid = iot_task_parent(w->task);
	preempt_enable_notrace();
	return true;
}

static bool rejects(struct iot_category *c, const void *record)
{
	const struct iot_net *e = record;
	struct iot_address local = { .port = e->local_port }, remote = { .port = e->remote_port };

	memcpy(&local.ip, e->local, sizeof(local.ip));
	memcpy(&remote.ip, e->remote, sizeof(remote.ip));
	return iot_category_rejects_inode(c, e->inode) ||
	       iot_category_rejects_socket(c, e->family, e->protocol, e->netns) ||
	       iot_category_rejects_ends(c, &local, &remote);
}

const struct iot_waiting_ops iot_net_waiting = {
	.calls = calls,
	.nr_calls = ARRAY_SIZE(calls),
	.note = note,
	.rejects = rejects,
};

#endif /* IOT_WITHOUT_NET */
