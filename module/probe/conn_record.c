// SPDX-License-Identifier: GPL-2.0
/*
 * Records of category conn. A record is filled in while its call is in progress, and copied to the
 * ring when that ends.
 *
 * The socket is not locked, see socket.c. It stays meanwhile: a file, a call of the kernel or RCU
 * holds it.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_CONN /* left_out.h */
#include <linux/net.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/socket.h>
#include <linux/string.h>
#include <linux/un.h>
#include <net/af_unix.h>
#include <net/sock.h>
#include "core/task.h"
#include "file/originator.h"
#include "record/scope.h"
#include "record/category.h"
#include "record/event.h"
#include "record/wants.h"
#include "probe/conn_record.h"
#include "probe/socket.h"
#include "probe/socket_log.h"
#include "probe/socket_owner.h"

static struct iot_category * const category = &iot_category_conn;

static_assert(sizeof_field(struct iot_conn, name) == UNIX_PATH_MAX);

/** iot_conn_begin() - begin a record. Context: any */
void iot_conn_begin(struct iot_conn *r, u16 op, u64 start)
{
	memset(r, 0, sizeof(*r));
	r->op = op;
	r->time = start;
	r->fd = -1;
}

static void set_end(char *ip, u16 *port, const struct iot_address *end)
{
	memcpy(ip, &end->ip, sizeof(end->ip));
	*port = end->port;
}

/** iot_conn_note_ends() - note the addresses of both ends of a socket. Context: any */
void iot_conn_note_ends(struct iot_conn *r, const struct sock *sk)
{
	struct iot_address end;

	iot_socket_local(sk, &end);
	set_end(r->local, &r->local_port, &end);
	iot_socket_remote(sk, &end);
	set_end(r->remote, &r->remote_port, &end);
}

static void set_name(struct iot_conn *r, const char *name, int length)
{
	r->flags &= ~IOT_CONN_ABSTRACT;
	if (iot_socket_copy_name(r->name, name, length))
		r->flags |= IOT_CONN_ABSTRACT;
}

/** iot_conn_note_name() - note the name of a UNIX socket, which never changes. Context: any */
void iot_conn_note_name(struct iot_conn *r, const struct sock *sk)
{
	const struct unix_address *address = iot_socket_unix_name(sk);

	if (address)
		set_name(r, address->name->sun_path, iot_socket_name_length(address));
}

/* Sockets of UNIX use the states of TCP. */
static bool has_state(const struct sock *sk)
{
	if (sk->sk_family == AF_UNIX)
		return true;
	return (sk->sk_family == AF_INET || sk->sk_family == AF_INET6) &&
	       (sk->sk_protocol == IPPROTO_TCP || sk->sk_protocol == IPPROTO_MPTCP);
}

/** iot_conn_note() - note what a socket says of itself, except for its inode. Context: any */
void iot_conn_note(struct iot_conn *r, struct sock *sk)
{
	r->cookie = iot_socket_cookie(sk);
	r->netns = iot_socket_netns(sk);
	r->family = READ_ONCE(sk->sk_family);
	r->type = READ_ONCE(sk->sk_type);
	r->protocol = READ_ONCE(sk->sk_protocol);
	r->state = has_state(sk) ? READ_ONCE(sk->sk_state) : 0;
	iot_conn_note_ends(r, sk);
	iot_conn_note_name(r, sk);
}

/**
 * iot_conn_ask() - note the address that BIND or CONNECT asks for
 * @address:	in the kernel's memory; @length bytes, which may be any
 *
 * Context: any.
 */
void iot_conn_ask(struct iot_conn *r, const struct sockaddr_storage *address, int length)
{
	struct iot_address end;

	if (iot_socket_named(address, length, &end)) {
		if (r->op == IOT_CONN_BIND)
			set_end(r->local, &r->local_port, &end);
		else
			set_end(r->remote, &r->remote_port, &end);
	} else if (length > (int)sizeof(address->ss_family) && address->ss_family == AF_UNIX) {
		set_name(r, ((const struct sockaddr_un *)address)->sun_path,
			 length - (int)offsetof(struct sockaddr_un, sun_path));
	}
}

/* Copy all but the first word, which belongs to the ring. Context: preemption off. */
static struct iot_conn *store(const struct iot_conn *r, u64 latency, struct iot_event_at *at)
{
	struct iot_conn *e = iot_event_reserve(category, at);
	const size_t head = sizeof(e->seq);

	if (!e)
		return NULL;
	memcpy((char *)e + head, (const char *)r + head, sizeof(*e) - head);
	iot_event_fill(e, at, category, r->op, r->time, latency);
	return e;
}

#define BY_SOCKET	(IOT_FILTER_SOCKET | IOT_FILTER_ENDS)

/**
 * iot_conn_socket_is_rejected() - do conditions on the socket reject a record?
 *
 * Context: preemption off.
 */
bool iot_conn_socket_is_rejected(const struct iot_conn *r)
{
	struct iot_address local = { .port = r->local_port }, remote = { .port = r->remote_port };

	memcpy(&local.ip, r->local, sizeof(local.ip));
	memcpy(&remote.ip, r->remote, sizeof(remote.ip));
	return iot_category_rejects_inode(category, r->inode) ||
	       iot_category_rejects_socket(category, r->family, r->protocol, r->netns) ||
	       iot_category_rejects_ends(category, &local, &remote);
}

/* Do conditions that are checked at the end reject a record? Context: preemption off. */
static bool is_rejected(const struct iot_conn *r, unsigned int op, u64 latency)
{
	if (likely(!iot_category_asks_at_end(category, IOT_CATEGORY_BY_FILE | BY_SOCKET)))
		return false;
	return iot_conn_socket_is_rejected(r) ||
	       iot_category_rejects_at_end(category, op, latency, 0, false);
}

/* Is the task one that only logs of processes want? Else that was checked. Preemption is off. */
static bool is_unwanted(void)
{
	return unlikely(iot_category_has_scopes(category)) && !iot_category_wants_task(category);
}

/* The operations in logs of processes. STATE and EXISTING are not there: they are no calls. */
static const u8 logged[] = {
	[IOT_CONN_SOCKET_CREATE] = IOT_FS_SOCKET,
	[IOT_CONN_BIND] = IOT_FS_BIND,
	[IOT_CONN_LISTEN] = IOT_FS_LISTEN,
	[IOT_CONN_ACCEPT] = IOT_FS_ACCEPT,
	[IOT_CONN_CONNECT] = IOT_FS_CONNECT,
	[IOT_CONN_SHUTDOWN] = IOT_FS_SHUTDOWN,
	[IOT_CONN_CLOSE] = IOT_FS_CLOSE,
};

static u32 logged_flags(const struct iot_conn *r)
{
	switch (r->op) {
	case IOT_CONN_CLOSE:
		return 0;
	case IOT_CONN_SHUTDOWN:
		return r->how;
	default:
		return r->flags;
	}
}

/* Record a call for logs of processes. Context: task. */
static noinline void record_in_logs(const struct iot_conn *r, u64 latency)
{
	struct iot_socket_label label;
	struct iot_fs e;

	iot_socket_log_begin(&e, logged[r->op], r->time, latency);
	e.inode = r->inode;
	e.result = r->result;
	e.flags = r->flags & IOT_CONN_KERNEL ? IOT_CALL_KERNEL : 0;
	e.flags2 = logged_flags(r);
	e.fd = r->fd;
	iot_socket_label_of_conn(&label, r);
	iot_socket_log_end(&e, &label, false);
}

/**
 * iot_conn_record() - record a call of the current task, unless the filter rejects it
 *
 * Context: task.
 */
void iot_conn_record(const struct iot_conn *r, u64 latency)
{
	struct iot_event_at at;
	struct iot_conn *e;

	if (!iot_category_wants(category, r->op))
		return;
	if (unlikely(iot_category_has_scopes(category)) && iot_scopes_want_sockets())
		record_in_logs(r, latency);
	preempt_disable_notrace();
	if (is_unwanted() || is_rejected(r, r->op, latency))
		goto out;
	e = store(r, latency, &at);
	if (e) {
		iot_task_fill(e);
		iot_event_commit(category, &at);
	}
out:
	preempt_enable_notrace();
}

/**
 * iot_conn_record_owner() - record an event of the owner of a socket, as iot_conn_record()
 *
 * Context: any.
 */
void iot_conn_record_owner(const struct iot_conn *r, const struct iot_socket_owner *owner,
			   u64 latency)
{
	struct iot_originator who;
	struct iot_event_at at;
	struct iot_conn *e;

	iot_socket_owner_who(owner, &who);
	preempt_disable_notrace();
	if (!iot_category_wants_op(category, r->op) ||
	    !iot_category_wants_originator(category, &who))
		goto out;
	if (is_rejected(r, r->op, latency))
		goto out;
	e = store(r, latency, &at);
	if (!e)
		goto out;
	iot_socket_owner_fill(e, owner);
	iot_event_commit(category, &at);
out:
	preempt_enable_notrace();
}

#endif /* IOT_WITHOUT_CONN */
