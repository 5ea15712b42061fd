/* SPDX-License-Identifier: GPL-2.0 */
/* What records of the network categories say of a socket. */
#ifndef IOT_SOCKET_H
#define IOT_SOCKET_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/in6.h>
#include <linux/ns_common.h>
#include <linux/socket.h>
#include <linux/string.h>
#include <linux/types.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include "core/address.h"

struct file;
struct unix_address;

void iot_socket_local6(const struct sock *sk, struct in6_addr *to);
bool iot_socket_named(const void *name, int length, struct iot_address *to);
const struct unix_address *iot_socket_unix_name(const struct sock *sk);
int iot_socket_name_length(const struct unix_address *address);
bool iot_socket_copy_name(char *to, const char *name, int length);
u64 iot_socket_new_cookie(struct sock *sk);
int iot_socket_fd(const struct file *file, unsigned int arg);
int iot_socket_call_fd(const struct file *file);
struct file *iot_socket_call_file(unsigned int arg);

/** iot_socket_is_inet() - has a socket addresses and ports, bound and connected or not? */
static __always_inline bool iot_socket_is_inet(const struct sock *sk)
{
	return sk->sk_family == AF_INET || sk->sk_family == AF_INET6;
}

/** iot_socket_local_port() - get the port of a socket of IPv4 or IPv6, 0 if it is bound to none */
static __always_inline u16 iot_socket_local_port(const struct sock *sk)
{
	return be16_to_cpu(inet_sk(sk)->inet_sport);
}

/** iot_socket_remote_port() - get the port that it is connected to, 0 if it is not */
static __always_inline u16 iot_socket_remote_port(const struct sock *sk)
{
	return be16_to_cpu(sk->sk_dport);
}

/* As iot_socket_local(), into two fields of a record. */
static __always_inline void iot_socket_put_local(const struct sock *sk, u8 *ip, u16 *port)
{
	const struct inet_sock *inet = inet_sk(sk);
	struct in6_addr *to = (struct in6_addr *)ip;

	if (sk->sk_family == AF_INET) {
		ipv6_addr_set_v4mapped(inet->inet_saddr ?: sk->sk_rcv_saddr, to);
		*port = iot_socket_local_port(sk);
	} else if (IS_ENABLED(CONFIG_IPV6) && sk->sk_family == AF_INET6) {
		iot_socket_local6(sk, to);
		*port = iot_socket_local_port(sk);
	} else {
		memset(to, 0, sizeof(*to));
		*port = 0;
	}
}

/* As iot_socket_remote(), into two fields of a record. */
static __always_inline void iot_socket_put_remote(const struct sock *sk, u8 *ip, u16 *port)
{
	struct in6_addr *to = (struct in6_addr *)ip;

	if (sk->sk_family == AF_INET && (sk->sk_daddr || sk->sk_dport)) {
		ipv6_addr_set_v4mapped(sk->sk_daddr, to);
		*port = iot_socket_remote_port(sk);
#if IS_ENABLED(CONFIG_IPV6)
	} else if (sk->sk_family == AF_INET6) {
		*to = sk->sk_v6_daddr;
		*port = iot_socket_remote_port(sk);
#endif
	} else {
		memset(to, 0, sizeof(*to));
		*port = 0;
	}
}

/**
 * iot_socket_local() - get the address that a socket of IPv4 or IPv6 is bound to
 *
 * All zero if it is bound to none yet, or of another family. Context: any; the socket is in use.
 */
static __always_inline void iot_socket_local(const struct sock *sk, struct iot_address *to)
{
	iot_socket_put_local(sk, to->ip.s6_addr, &to->port);
}

/**
 * iot_socket_remote() - get the address that a socket of IPv4 or IPv6 is connected to
 *
 * All zero if it is not connected, or of another family. Context: any; the socket is in use.
 */
static __always_inline void iot_socket_remote(const struct sock *sk, struct iot_address *to)
{
	iot_socket_put_remote(sk, to->ip.s6_addr, &to->port);
}

/**
 * iot_socket_cookie() - get the number of a socket, which no other one gets until the next boot
 *
 * It is the one of getsockopt(SO_COOKIE) and of ss -e. A socket that has none gets one.
 * Context: task or softirq; the socket is in use.
 */
static __always_inline u64 iot_socket_cookie(struct sock *sk)
{
	return atomic64_read(&sk->sk_cookie) ?: iot_socket_new_cookie(sk);
}

/** iot_socket_netns() - get the inode number of a socket's network namespace. Context: any */
static __always_inline u32 iot_socket_netns(const struct sock *sk)
{
	return sock_net(sk)->ns.inum;
}

#endif /* IOT_SOCKET_H */
