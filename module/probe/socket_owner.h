/* SPDX-License-Identifier: GPL-2.0 */
/* Whose a socket is: for events that happen in an interrupt. */
#ifndef IOT_SOCKET_OWNER_H
#define IOT_SOCKET_OWNER_H

#include <linux/string.h>
#include <linux/types.h>
#include "file/originator.h"

struct sock;
struct task_struct;

/**
 * struct iot_socket_owner - what is known of a socket, beside what it says itself
 * @time:	when this was noted first, CLOCK_MONOTONIC ns
 * @since:	when connect(2) of it began; without an owner, when its handshake ended; 0: neither
 * @inode:	number of its inode; 0: not known
 * @cgroup:	of the owner, like the next four and @comm: as they were when it became the owner
 * @pid:	0: no owner is known
 * @state:	TCP_*, after the last change that was seen; 0: none was seen
 * @seen:	it was made, accepted or listed since the start
 * @closed:	no file of it is left
 */
struct iot_socket_owner {
	u64 time;
	u64 since;
	u64 inode;
	u64 cgroup;
	u32 uid;
	u32 pid;
	u32 tid;
	u32 ppid;
	char comm[16];
	u8 state;
	bool seen;
	bool closed;
};

int iot_socket_owners_get(void);
void iot_socket_owners_put(void);
void iot_socket_owners_exit(void);
unsigned long iot_socket_owners_lost(void);

void iot_socket_owner_became(u64 cookie, u64 inode, u64 *since);
void iot_socket_owner_connects(u64 cookie, u64 inode, u64 *began);
bool iot_socket_owner_list(u64 cookie, u64 inode, struct task_struct *task,
			   struct iot_socket_owner *owner);
bool iot_socket_owner_changed(u64 cookie, int old, int state, u64 now, u64 *since,
			      struct iot_socket_owner *owner);
void iot_socket_owner_closed(u64 cookie, bool is_tcp);
void iot_socket_owner_of(const struct sock *sk, struct iot_socket_owner *owner);
void iot_socket_owner_who(const struct iot_socket_owner *owner, struct iot_originator *who);

/** iot_socket_owner_fill() - store an owner in a record, as iot_task_fill() a task. Context: any */
#define iot_socket_owner_fill(e, owner) do {					\
	(e)->pid = (owner)->pid;						\
	(e)->tid = (owner)->tid;						\
	(e)->ppid = (owner)->ppid;						\
	(e)->uid = (owner)->uid;						\
	(e)->cgroup = (owner)->cgroup;						\
	memcpy((e)->comm, (owner)->comm, sizeof((e)->comm));			\
} while (0)

#endif /* IOT_SOCKET_OWNER_H */
