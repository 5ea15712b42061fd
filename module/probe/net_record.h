/* SPDX-License-Identifier: GPL-2.0 */
/* Records of category net that no function of a socket's family makes. */
#ifndef IOT_NET_RECORD_H
#define IOT_NET_RECORD_H

#include <linux/compiler.h>
#include <linux/types.h>
#include <net/sock.h>
#include "probe/socket.h"
#include "uapi/iotracer.h"

struct iot_socket_owner;

void iot_net_begin(struct iot_net *r, u16 op, u64 start);
void iot_net_note_socket(struct iot_net *r, struct sock *sk);
void iot_net_record(const struct iot_net *r, u64 latency);
void iot_net_record_owner(const struct iot_net *r, const struct iot_socket_owner *owner,
			  u64 latency);

/** iot_net_fill_kind() - store what a socket is, and its numbers. Context: task or softirq */
static __always_inline void iot_net_fill_kind(struct iot_net *e, struct sock *sk, u16 type,
					      u64 inode)
{
	e->type = type;
	e->family = sk->sk_family;
	e->protocol = sk->sk_protocol;
	e->netns = iot_socket_netns(sk);
	e->cookie = iot_socket_cookie(sk);
	e->inode = inode;
}

#endif /* IOT_NET_RECORD_H */
