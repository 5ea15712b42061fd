// SPDX-License-Identifier: GPL-2.0
/*
 * Rows of sockets in logs of processes that were added with the network. The hooks of categories
 * net and conn see the calls. A row is an event of category fs, so that the log, its stream and its
 * pipe show it as any other. Instead of a path it has a label:
 *
 *	tcp:192.0.2.1:40000->192.0.2.2:5432	both ends, this one first
 *	udp:[::1]:53				not connected, and the message has no address
 *	unix:/run/x.sock, unix:@abstract	a UNIX socket that has a name
 *	unix:[4711], netlink:[4711]		any other socket, by its inode number
 *	unix:[4711]->/run/x.sock		CONNECT of one, and to what
 *
 * Labels are kept in the table of paths (file/paths.c), with its limits. They are found by a hash
 * of what they describe: as long as a connection is in the table, its calls make no text.
 */
#include <linux/build_bug.h>
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/preempt.h>
#include <linux/socket.h>
#include <linux/string.h>
#include <linux/un.h>
#include <net/af_unix.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include "core/names.h"
#include "file/below.h"
#include "file/paths.h"
#include "record/scope.h"
#include "probe/socket.h"
#include "probe/socket_log.h"

#define LABEL_MAX	192	/* bytes of a text: two ends of IPv6, or a name and a number */

static_assert(sizeof(struct iot_socket_key) == 48);

static bool is_inet(const struct iot_socket_key *key)
{
	return key->family == AF_INET || key->family == AF_INET6;
}

/** iot_socket_label_of() - begin the label of a socket that is in use. Context: task */
void iot_socket_label_of(struct iot_socket_label *l, struct sock *sk)
{
	struct iot_socket_key *key = &l->key;

	iot_socket_put_local(sk, key->local, &key->local_port);
	iot_socket_put_remote(sk, key->remote, &key->remote_port);
	key->family = sk->sk_family;
	key->protocol = sk->sk_protocol;
	key->socket = is_inet(key) ? 0 : iot_socket_cookie(sk) * 2 + !!iot_socket_unix_name(sk);
	l->sk = sk;
	l->conn = NULL;
}

/** iot_socket_label_remote() - set the other end: that of a message. Context: any */
void iot_socket_label_remote(struct iot_socket_label *l, const struct iot_address *remote)
{
	memcpy(l->key.remote, &remote->ip, sizeof(l->key.remote));
	l->key.remote_port = remote->port;
}

/** iot_socket_label_of_conn() - begin the label of a record of category conn. Context: any */
void iot_socket_label_of_conn(struct iot_socket_label *l, const struct iot_conn *r)
{
	struct iot_socket_key *key = &l->key;

	memcpy(key->local, r->local, sizeof(key->local));
	memcpy(key->remote, r->remote, sizeof(key->remote));
	key->local_port = r->local_port;
	key->remote_port = r->remote_port;
	key->family = r->family;
	key->protocol = r->protocol;
	key->socket = 0;
	l->sk = NULL;
	l->conn = r;
}

static int put_end(char *text, int n, const u8 *ip, u16 port)
{
	struct in6_addr address;

	memcpy(&address, ip, sizeof(address));
	if (ipv6_addr_v4mapped(&address))
		return scnprintf(text + n, LABEL_MAX - n, "%pI4:%u", &address.s6_addr32[3], port);
	return scnprintf(text + n, LABEL_MAX - n, "[%pI6c]:%u", &address, port);
}

/* Put the name of a value in lower case, or the value if it has none, and a colon. */
static int put_kind(char *text, const char *group, const char *prefix, unsigned int value)
{
	const char *name = iot_names_value(group, value);
	int n = 0;

	if (!name)
		return scnprintf(text, LABEL_MAX, "%s%u:", prefix, value);
	if (!strncmp(name, prefix, strlen(prefix)))
		name += strlen(prefix);
	for (; name[n]; n++)
		text[n] = tolower(name[n]);
	text[n++] = ':';
	return n;
}

static int make_inet(char *text, const struct iot_socket_key *key)
{
	struct iot_address remote = { .port = key->remote_port };
	int n = put_kind(text, "ipproto", "IPPROTO_", key->protocol);

	memcpy(&remote.ip, key->remote, sizeof(remote.ip));
	n += put_end(text, n, key->local, key->local_port);
	if (!remote.port && iot_address_is_none(&remote.ip))
		return n;
	n += scnprintf(text + n, LABEL_MAX - n, "->");
	return n + put_end(text, n, key->remote, key->remote_port);
}

/* Copy the name of a UNIX socket, or that which a record of conn asks for: UNIX_PATH_MAX bytes. */
static void copy_name(char *name, const struct iot_socket_label *l)
{
	const struct unix_address *address = l->sk ? iot_socket_unix_name(l->sk) : NULL;

	memset(name, 0, UNIX_PATH_MAX);
	if (address)
		iot_socket_copy_name(name, address->name->sun_path,
				     iot_socket_name_length(address));
	else if (l->conn)
		memcpy(name, l->conn->name, UNIX_PATH_MAX);
}

static int make_other(char *text, const struct iot_socket_label *l, u64 inode)
{
	bool asked = l->conn && l->conn->op == IOT_CONN_CONNECT;
	int n = put_kind(text, "sockfamily", "AF_", l->key.family);
	char name[UNIX_PATH_MAX];

	copy_name(name, l);
	if (asked || !name[0])
		n += scnprintf(text + n, LABEL_MAX - n, "[%llu]", inode);
	if (name[0])
		n += scnprintf(text + n, LABEL_MAX - n, "%s%.*s", asked ? "->" : "",
			       UNIX_PATH_MAX, name);
	return n;
}

static int make_text(char *text, const struct iot_socket_label *l, u64 inode)
{
	return is_inet(&l->key) ? make_inet(text, &l->key) : make_other(text, l, inode);
}

/* A name of a UNIX socket is that of its file, of which it is not known where it is. */
static u64 keep_once(const struct iot_socket_label *l, u64 inode, bool may_sleep)
{
	struct iot_below below;
	char text[LABEL_MAX];
	int n = make_text(text, l, inode);

	iot_below_none(&below);
	return iot_paths_name(text, n, &below, may_sleep);
}

static noinline u64 keep(u64 hash, const struct iot_socket_label *l, u64 inode, bool may_sleep)
{
	char text[LABEL_MAX];
	int n = make_text(text, l, inode);

	return iot_paths_label_keep(hash, text, n, may_sleep);
}

/* Get the id of a label. One that only a single record of conn describes is found by its text. */
static u64 id_of(const struct iot_socket_label *l, u64 inode, bool may_sleep)
{
	u64 hash;

	if (!l->key.socket && !is_inet(&l->key))
		return keep_once(l, inode, may_sleep);
	hash = iot_paths_label_hash(&l->key, sizeof(l->key));
	return iot_paths_label_find(hash) ?: keep(hash, l, inode, may_sleep);
}

/** iot_socket_log_begin() - begin the row of a call that has ended. Context: any */
void iot_socket_log_begin(struct iot_fs *e, u16 op, u64 start, u64 latency)
{
	memset(e, 0, sizeof(*e));
	e->op = op;
	e->time = start;
	e->latency = latency;
	e->kind = IOT_KIND_SOCKET;
}

/**
 * iot_socket_log_end() - record a row in the logs of all processes that it concerns
 * @l:		the label that is its path
 * @may_sleep:	the caller may sleep, which only a kernel with PREEMPT_RT needs to make a label
 *
 * No other kernel sleeps here: the call may be one that writes to a disk behind the network, which
 * must not wait for memory. Context: task, where a call of categories net and conn ends.
 */
void iot_socket_log_end(struct iot_fs *e, const struct iot_socket_label *l, bool may_sleep)
{
	e->path = id_of(l, e->inode, may_sleep && IS_ENABLED(CONFIG_PREEMPT_RT));
	preempt_disable_notrace();
	iot_scopes_record_socket(e);
	preempt_enable_notrace();
}
