/* SPDX-License-Identifier: GPL-2.0 */
/* Records of category conn: what they say of a socket, and how they are stored. */
#ifndef IOT_CONN_RECORD_H
#define IOT_CONN_RECORD_H

#include <linux/types.h>
#include "uapi/iotracer.h"

struct iot_socket_owner;
struct sock;
struct sockaddr_storage;

void iot_conn_begin(struct iot_conn *r, u16 op, u64 start);
void iot_conn_note(struct iot_conn *r, struct sock *sk);
void iot_conn_note_ends(struct iot_conn *r, const struct sock *sk);
void iot_conn_note_name(struct iot_conn *r, const struct sock *sk);
void iot_conn_ask(struct iot_conn *r, const struct sockaddr_storage *address, int length);

bool iot_conn_socket_is_rejected(const struct iot_conn *r);
void iot_conn_record(const struct iot_conn *r, u64 latency);
void iot_conn_record_owner(const struct iot_conn *r, const struct iot_socket_owner *owner,
			   u64 latency);

#endif /* IOT_CONN_RECORD_H */
