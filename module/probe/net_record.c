// SPDX-License-Identifier: GPL-2.0
/*
 * Records of category net that no function of a socket's family makes: net_zerocopy.c, net_take.c.
 * These events are rare, or are those of the kernel itself. So a record is filled in first, and is
 * then copied to the ring.
 *
 * The socket is not locked, see socket.c. It stays meanwhile: a call on it, or a packet, holds it.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_NET /* left_out.h */
#include <linux/net.h>
#include <linux/preempt.h>
#include <linux/string.h>
#include <net/sock.h>
#include "core/task.h"
#include "file/originator.h"
#include "record/category.h"
#include "record/event.h"
#include "probe/net_record.h"
#include "probe/socket.h"
#include "probe/socket_owner.h"

static struct iot_category * const category = &iot_category_net;

/** iot_net_begin() - begin a record. Context: any */
void iot_net_begin(struct iot_net *r, u16 op, u64 start)
{
	memset(r, 0, sizeof(*r));
	r->op = op;
	r->time = start;
	r->fd = -1;
	r->way = IOT_NET_KERNEL;
}

/*
 * The number of a socket's inode, 0 if its last file is gone. An inode of a socket is freed after
 * a grace period of RCU. Context: any, preemption off.
 */
static u64 inode_of(const struct sock *sk)
{
	struct socket *sock = READ_ONCE(sk->sk_socket);

	return sock ? SOCK_INODE(sock)->i_ino : 0;
}

/** iot_net_note_socket() - note the ends of a socket, and what it is. Context: task or softirq */
void iot_net_note_socket(struct iot_net *r, struct sock *sk)
{
	preempt_disable_notrace();
	iot_socket_put_local(sk, r->local, &r->local_port);
	iot_socket_put_remote(sk, r->remote, &r->remote_port);
	iot_net_fill_kind(r, sk, sk->sk_type, inode_of(sk));
	preempt_enable_notrace();
}

#define BY_SOCKET	(IOT_FILTER_SOCKET | IOT_FILTER_ENDS)

/* Do conditions that are checked at the end reject a record? Context: preemption off. */
static bool is_rejected(const struct iot_net *r, u64 latency)
{
	struct iot_address local = { .port = r->local_port }, remote = { .port = r->remote_port };

	if (likely(!iot_category_asks_at_end(category, IOT_CATEGORY_BY_FILE | BY_SOCKET)))
		return false;
	memcpy(&local.ip, r->local, sizeof(local.ip));
	memcpy(&remote.ip, r->remote, sizeof(remote.ip));
	return iot_category_rejects_inode(category, r->inode) ||
	       iot_category_rejects_socket(category, r->family, r->protocol, r->netns) ||
	       iot_category_rejects_ends(category, &local, &remote) ||
	       iot_category_rejects_at_end(category, r->op, latency, r->moved, false);
}

/* Copy all but the first word, which belongs to the ring. Context: preemption off. */
static struct iot_net *store(const struct iot_net *r, u64 latency, struct iot_event_at *at)
{
	const size_t head = sizeof(r->seq);
	struct iot_net *e;

	if (is_rejected(r, latency))
		return NULL;
	e = iot_event_reserve(category, at);
	if (!e)
		return NULL;
	memcpy((char *)e + head, (const char *)r + head, sizeof(*e) - head);
	iot_event_fill(e, at, category, r->op, r->time, latency);
	return e;
}

/** iot_net_record() - record an event of the current task, which is wanted. Context: task */
void iot_net_record(const struct iot_net *r, u64 latency)
{
	struct iot_event_at at;
	struct iot_net *e;

	preempt_disable_notrace();
	/* with logs of processes, the task was not checked before */
	if (iot_category_has_scopes(category) && !iot_category_wants_task(category))
		goto out;
	e = store(r, latency, &at);
	if (!e)
		goto out;
	iot_task_fill(e);
	iot_event_commit(category, &at);
out:
	preempt_enable_notrace();
}

/**
 * iot_net_record_owner() - record an event of another task than the current one, if it is wanted
 *
 * Context: any.
 */
void iot_net_record_owner(const struct iot_net *r, const struct iot_socket_owner *owner,
			  u64 latency)
{
	struct iot_originator who;
	struct iot_event_at at;
	struct iot_net *e;

	iot_socket_owner_who(owner, &who);
	preempt_disable_notrace();
	if (!iot_category_wants_op(category, r->op) ||
	    !iot_category_wants_originator(category, &who))
		goto out;
	e = store(r, latency, &at);
	if (!e)
		goto out;
	iot_socket_owner_fill(e, owner);
	iot_event_commit(category, &at);
out:
	preempt_enable_notrace();
}

#endif /* IOT_WITHOUT_NET */
