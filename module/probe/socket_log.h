/* SPDX-License-Identifier: GPL-2.0 */
/* Rows of sockets in logs of processes: events of category fs whose path is a label. */
#ifndef IOT_SOCKET_LOG_H
#define IOT_SOCKET_LOG_H

#include <linux/types.h>
#include "core/address.h"
#include "uapi/iotracer.h"

struct sock;

/**
 * struct iot_socket_key - what a label describes, without holes, as it is hashed
 * @local:	this end: as in records, like @remote
 * @socket:	of IPv4 and IPv6 0, as their ends say it all; else the socket's cookie times 2, plus
 *		1 if it has a name
 */
struct iot_socket_key {
	u8 local[16];
	u8 remote[16];
	u64 socket;
	u16 local_port;
	u16 remote_port;
	u16 family;
	u16 protocol;
};

/**
 * struct iot_socket_label - a label that may have to be made
 * @key:	what it describes
 * @sk:		the socket, for its name; NULL if @conn has that. It is in use
 * @conn:	the record of category conn that it is for, or NULL
 */
struct iot_socket_label {
	struct iot_socket_key key;
	const struct sock *sk;
	const struct iot_conn *conn;
};

void iot_socket_label_of(struct iot_socket_label *l, struct sock *sk);
void iot_socket_label_remote(struct iot_socket_label *l, const struct iot_address *remote);
void iot_socket_label_of_conn(struct iot_socket_label *l, const struct iot_conn *r);

void iot_socket_log_begin(struct iot_fs *e, u16 op, u64 start, u64 latency);
void iot_socket_log_end(struct iot_fs *e, const struct iot_socket_label *l, bool may_sleep);

#endif /* IOT_SOCKET_LOG_H */
