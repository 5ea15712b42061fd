// SPDX-License-Identifier: GPL-2.0
/*
 * Whose a socket is. TCP changes the state of a socket, and sends and drops its packets, mostly in
 * softirqs, where the current task is any. So the owner is noted in process context: the process
 * that makes a socket, accepts it, connects it, or has it open when tracing begins. A socket that
 * another process gets later (fork(2), SCM_RIGHTS) keeps its owner.
 *
 * The table has a fixed number of slots, found by the cookie of the socket, which no other socket
 * gets. A program can make any number of sockets: one that finds no free slot displaces another
 * one, first of the user and process with the most (core/table.c), and its owner is not known from
 * then on, which is counted. Its memory belongs to ring_memory_limit; it is there from the first
 * start on until the module is unloaded, since a probe may still use it after stop.
 *
 * An entry ends when the socket has no file any more, and if it is of TCP is in state CLOSE, too:
 * whichever happens later. The entry of a connection that nobody has accepted ends with its state.
 *
 * Context: any; a held entry is never waited for longer than TRIES, as the other CPU holds it with
 * preemption off, but an interrupt may have come on this one.
 */
#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/cgroup.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <net/sock.h>
#include <net/tcp_states.h>
#include "core/budget.h"
#include "core/table.h"
#include "core/task.h"
#include "hook/point.h"
#include "probe/socket_owner.h"

#define BITS	17
#define TRIES	64
#define BYTES	(IOT_TABLE_SLOTS(BITS) * (sizeof(struct iot_table_slot) +		\
			sizeof(struct iot_socket_owner)) + (sizeof(atomic_t) << BITS))

static atomic_long_t nr_lost;

/* Context: as for iot_table_new() */
static void gone(void *thing, bool displaced)
{
	if (displaced)
		atomic_long_inc(&nr_lost);
}

static struct iot_table owners = {
	IOT_TABLE_OF(struct iot_socket_owner, time, uid, pid),
	IOT_TABLE_BEGUN(BITS),
	.gone = gone,
};

/* The table may be used. Changed under the @control of category conn. */
static bool is_open __read_mostly;

/** iot_socket_owners_get() - make the table, empty. Context: task, may sleep; under @control */
int iot_socket_owners_get(void)
{
	bool charged = owners.slots;
	int err;

	if (!charged && !iot_budget_try(BYTES)) {
		iot_budget_settle();
		if (!iot_budget_try(BYTES))
			return -ENOMEM;
	}
	iot_points_wait(); /* probes of an earlier trace may still run */
	err = iot_table_begin(&owners);
	if (err) {
		iot_budget_give(BYTES);
		return err;
	}
	/* the table is empty before it is used; pairs with may_use() */
	smp_store_release(&is_open, true);
	return 0;
}

/** iot_socket_owners_put() - find no owner any more. Context: task; under @control */
void iot_socket_owners_put(void)
{
	WRITE_ONCE(is_open, false);
}

/** iot_socket_owners_exit() - free the table. Context: unload, no probe is left */
void iot_socket_owners_exit(void)
{
	if (!owners.slots)
		return;
	iot_table_free(&owners);
	iot_budget_give(BYTES);
}

/** iot_socket_owners_lost() - count the owners that were displaced. Context: any */
unsigned long iot_socket_owners_lost(void)
{
	return atomic_long_read(&nr_lost);
}

static bool may_use(u64 cookie)
{
	/* pairs with iot_socket_owners_get() */
	return cookie && smp_load_acquire(&is_open);
}

static const void *key_of(u64 cookie)
{
	return (const void *)(unsigned long)(cookie << 1); /* the lowest bit is the table's */
}

/* Hold the entry of a socket; preemption is off. Return: NULL if there is none. */
static struct iot_socket_owner *take(u64 cookie)
{
	const void *key = key_of(cookie);
	struct iot_socket_owner *o;
	unsigned int i;

	if (!may_use(cookie))
		return NULL;
	for (i = 0; i < TRIES; i++) {
		o = iot_table_take(&owners, key);
		if (o || !iot_table_may_have(&owners, key))
			return o;
		cpu_relax();
	}
	return NULL;
}

/* As take(), and make an entry without an owner if there is none. */
static struct iot_socket_owner *take_or_make(u64 cookie, u64 now)
{
	struct iot_socket_owner *o = take(cookie);

	if (o || !may_use(cookie))
		return o;
	o = iot_table_new(&owners, key_of(cookie));
	if (!o) {
		atomic_long_inc(&nr_lost);
		return NULL;
	}
	memset(o, 0, sizeof(*o));
	o->time = now;
	o->uid = UINT_MAX;
	return o;
}

/* Context: preemption off, which is the RCU read section that the reads here need. */
static void note_task(struct iot_socket_owner *o, struct task_struct *task)
{
	iot_task_fill_other(o, task);
	o->ppid = iot_task_parent(task);
}

/* Copy what is known of a socket. Context: any. Return: false if nothing is. */
static bool find(u64 cookie, struct iot_socket_owner *owner)
{
	struct iot_socket_owner *o;

	preempt_disable_notrace();
	o = take(cookie);
	if (o) {
		*owner = *o;
		iot_table_keep(o);
	}
	preempt_enable_notrace();
	return o;
}

/**
 * iot_socket_owner_became() - the current process has made or accepted a socket
 * @since:	if not NULL, where to store when its handshake ended, 0 if that is not known
 *
 * Context: task.
 */
void iot_socket_owner_became(u64 cookie, u64 inode, u64 *since)
{
	struct iot_socket_owner *o;

	preempt_disable_notrace();
	o = take_or_make(cookie, ktime_get_mono_fast_ns());
	if (since)
		*since = o && !o->pid ? o->since : 0;
	if (o) {
		note_task(o, current);
		o->inode = inode;
		o->since = 0;
		o->seen = true;
		iot_table_keep(o);
	}
	preempt_enable_notrace();
}

/**
 * iot_socket_owner_connects() - the current process begins to connect a socket
 * @began:	CLOCK_MONOTONIC ns; 0: it connects it once more, and gets when it began, if known
 *
 * It is the owner if none is known. Context: task.
 */
void iot_socket_owner_connects(u64 cookie, u64 inode, u64 *began)
{
	struct iot_socket_owner *o;

	preempt_disable_notrace();
	o = take_or_make(cookie, ktime_get_mono_fast_ns());
	if (o) {
		if (!o->pid)
			note_task(o, current);
		o->inode = inode;
		if (*began)
			o->since = *began;
		else
			*began = o->since;
		iot_table_keep(o);
	}
	preempt_enable_notrace();
}

/**
 * iot_socket_owner_list() - a process has a socket open that may be older than the trace
 * @owner:	filled in: what is known of it now
 *
 * Context: task; @task is held. Return: false if the socket was made, accepted or listed before.
 */
bool iot_socket_owner_list(u64 cookie, u64 inode, struct task_struct *task,
			   struct iot_socket_owner *owner)
{
	struct iot_socket_owner *o, none = { .uid = UINT_MAX };
	bool is_new;

	preempt_disable_notrace();
	o = take_or_make(cookie, ktime_get_mono_fast_ns());
	is_new = !o || !o->seen;
	if (!o)
		o = &none;
	if (is_new) {
		note_task(o, task);
		o->inode = inode;
		o->seen = true;
	}
	*owner = *o;
	if (o != &none)
		iot_table_keep(o);
	preempt_enable_notrace();
	return is_new;
}

/* A handshake has ended: that of a connect(2), or of a connection that waits for accept(2). */
static u64 note_established(struct iot_socket_owner *o, u64 now)
{
	u64 since = o->pid ? o->since : 0;

	o->since = o->pid ? 0 : now;
	return since;
}

/**
 * iot_socket_owner_changed() - the state of a socket of TCP has changed
 * @since:	where to store when connect(2) began that has ended now, 0 if none has
 * @owner:	filled in, if true is returned
 *
 * Context: any, preemption off. Return: false if nothing is known of the socket.
 */
bool iot_socket_owner_changed(u64 cookie, int old, int state, u64 now, u64 *since,
			      struct iot_socket_owner *owner)
{
	bool is_accepted = state == TCP_ESTABLISHED && old == TCP_SYN_RECV;
	struct iot_socket_owner *o = is_accepted ? take_or_make(cookie, now) : take(cookie);

	*since = 0;
	if (!o)
		return false;
	o->state = state;
	if (is_accepted) /* it is no older than the trace */
		o->seen = true;
	if (state == TCP_ESTABLISHED)
		*since = note_established(o, now);
	*owner = *o;
	if (state == TCP_CLOSE && (o->closed || !o->pid))
		iot_table_drop(&owners, o);
	else
		iot_table_keep(o);
	return true;
}

/** iot_socket_owner_closed() - the last file of a socket is gone. Context: any */
void iot_socket_owner_closed(u64 cookie, bool is_tcp)
{
	struct iot_socket_owner *o;

	preempt_disable_notrace();
	o = take(cookie);
	if (o && is_tcp && o->state && o->state != TCP_CLOSE) {
		o->closed = true;
		iot_table_keep(o);
	} else if (o) {
		iot_table_drop(&owners, o);
	}
	preempt_enable_notrace();
}

/**
 * iot_socket_owner_of() - get what is known of the owner of a full socket
 *
 * User and cgroup are those that the kernel keeps with the socket. The process is known while
 * category conn is started. Context: any, preemption off, or the socket is held.
 */
void iot_socket_owner_of(const struct sock *sk, struct iot_socket_owner *owner)
{
	if (!find(atomic64_read(&sk->sk_cookie), owner))
		memset(owner, 0, sizeof(*owner));
	owner->uid = __kuid_val(READ_ONCE(sk->sk_uid));
	owner->cgroup = 0;
#ifdef CONFIG_SOCK_CGROUP_DATA
	if (READ_ONCE(sk->sk_cgrp_data.cgroup))
		owner->cgroup = cgroup_id(READ_ONCE(sk->sk_cgrp_data.cgroup));
#endif
}

/** iot_socket_owner_who() - an owner as the filter wants it. Context: any */
void iot_socket_owner_who(const struct iot_socket_owner *owner, struct iot_originator *who)
{
	*who = (struct iot_originator) {
		.tid = owner->tid,
		.pid = owner->pid,
		.uid = owner->uid,
		.cgroup = owner->cgroup,
	};
	memcpy(who->comm, owner->comm, sizeof(who->comm));
}
