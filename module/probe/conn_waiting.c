// SPDX-License-Identifier: GPL-2.0
/*
 * Category conn: threads that wait in accept(2) or connect(2).
 *
 * Its other calls wait for a lock at most, and close(2) with SO_LINGER for its data. That one is
 * not listed: its descriptor is not in the table any more.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_CONN /* left_out.h */
#include <linux/net.h>
#include <linux/preempt.h>
#include <net/sock.h>
#include "core/task.h"
#include "record/category.h"
#include "probe/conn_record.h"
#include "probe/waiting.h"
#include "uapi/iotracer.h"

#define ACCEPTS(...)	.op = IOT_CONN_ACCEPT, __VA_ARGS__
#define CONNECTS	.op = IOT_CONN_CONNECT

static const struct iot_waiting_call calls[] = {
#ifdef IOT_ARCH_KNOWN
	IOT_WAITING_NATIVE(accept, ACCEPTS()),
#ifdef CONFIG_ARM64
	IOT_WAITING_NARROW(accept, ACCEPTS()),
#endif
	IOT_WAITING_BOTH(accept4, ACCEPTS(.flags = 3)),
	IOT_WAITING_BOTH(connect, CONNECTS),
#endif
};

static bool note(const struct iot_waiting *w, const struct iot_waiting_call *call, void *record)
{
	struct iot_conn *r = record;
	s32 fd = w->args[call->fd];
	struct socket *sock = iot_waiting_socket(w, fd);
	struct sock *sk = sock ? READ_ONCE(sock->sk) : NULL;

	iot_conn_begin(r, call->op, 0);
	r->fd = fd;
	if (call->flags)
		r->flags = w->args[call->flags] & (SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (sk) {
		iot_conn_note(r, sk);
		r->inode = SOCK_INODE(sock)->i_ino;
	}
	if (call->op == IOT_CONN_ACCEPT)
		r->listener = r->cookie;
	preempt_disable_notrace();
	iot_task_fill_other(r, w->task);
	r->ppid = iot_task_parent(w->task);
	preempt_enable_notrace();
	return true;
}

static bool rejects(struct iot_category *c, const void *record)
{
	return iot_conn_socket_is_rejected(record);
}

const struct iot_waiting_ops iot_conn_waiting = {
	.calls = calls,
	.nr_calls = ARRAY_SIZE(calls),
	.note = note,
	.rejects = rejects,
};

#endif /* IOT_WITHOUT_CONN */
