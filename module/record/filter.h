/* SPDX-License-Identifier: GPL-2.0 */
/* Which events of a category are wanted: those that meet all conditions. */
#ifndef IOT_FILTER_H
#define IOT_FILTER_H

#include <linux/bitmap.h>
#include <linux/cred.h>
#include <linux/in6.h>
#include <linux/sched.h>
#include <linux/socket.h>
#include <linux/types.h>
#include "core/address.h"
#include "file/below.h"
#include "record/descendants.h"
#include "uapi/iotracer.h"

struct iot_originator;
struct iot_why;
struct seq_file;

#define IOT_FILTER_PID		BIT(0)
#define IOT_FILTER_TID		BIT(1)
#define IOT_FILTER_COMM		BIT(2)
#define IOT_FILTER_UID		BIT(3)
#define IOT_FILTER_CGROUP	BIT(4)
#define IOT_FILTER_TREE		BIT(5)
#define IOT_FILTER_OP		BIT(6)
#define IOT_FILTER_DEV		BIT(7)
#define IOT_FILTER_INODE	BIT(8)
#define IOT_FILTER_LATENCY	BIT(9)
#define IOT_FILTER_SIZE		BIT(10)
#define IOT_FILTER_KIND		BIT(11)
#define IOT_FILTER_PATH		BIT(13)	/* checked at the end of an event only: scope.c */
#define IOT_FILTER_REJECTED	BIT(12)	/* no condition: adds calls that the VFS rejects */
#define IOT_FILTER_FAMILY	BIT(14)
#define IOT_FILTER_PROTO	BIT(15)
#define IOT_FILTER_ADDR		BIT(16)
#define IOT_FILTER_PORT		BIT(17)
#define IOT_FILTER_NETNS	BIT(18)

/* Conditions on the task alone. */
#define IOT_FILTER_TASK		(IOT_FILTER_PID | IOT_FILTER_TID | IOT_FILTER_COMM | \
				 IOT_FILTER_UID | IOT_FILTER_CGROUP | IOT_FILTER_TREE)

/* Conditions on a socket or packet: on its kind and place, and on the ends of its connection. */
#define IOT_FILTER_SOCKET	(IOT_FILTER_FAMILY | IOT_FILTER_PROTO | IOT_FILTER_NETNS)
#define IOT_FILTER_ENDS		(IOT_FILTER_ADDR | IOT_FILTER_PORT)

#define IOT_FILTER_DEVS_MAX	128	/* devices of one filter */
#define IOT_FILTER_COMMS_MAX	32	/* names of one filter */
#define IOT_FILTER_NUMBERS_MAX	32	/* values of one key that takes numbers */
#define IOT_FILTER_ADDRS_MAX	32	/* addresses and prefixes of one filter */
#define IOT_FILTER_PATHS_MAX	8	/* paths of one filter; all share IOT_BELOW_MAX */

/* A thread's name as two words, for which the kernel pads it with zeroes (__set_task_comm()). */
#define IOT_FILTER_COMM_WORDS	(TASK_COMM_LEN / sizeof(u64))

/**
 * struct iot_filter_of - what a filter needs to know about its category
 * @name:	for messages
 * @event_id:	event id of its records, IOT_EVENT_ID_*
 * @default_kinds: bits 1 << IOT_KIND_* of the files that are wanted if the filter names none;
 *		0 if its events have no kind
 */
struct iot_filter_of {
	const char *name;
	unsigned int event_id;
	u32 default_kinds;
};

/**
 * struct iot_numbers - the values of a key that takes numbers
 * @nr:	how many, at least one if the key was given
 */
struct iot_numbers {
	u32 nr;
	u64 at[IOT_FILTER_NUMBERS_MAX];
};

/**
 * struct iot_filter_path - a directory, or a file, that events have to be below
 * @root:	what had the path when the filter was set, whatever its path is now
 * @text:	the path, as it was given
 */
struct iot_filter_path {
	struct iot_below_root root;
	char *text;
};

/**
 * struct iot_filter_addr - an address, or all that begin as it does
 * @ip:		as struct iot_address has it
 * @bits:	leading bits of @ip that count; of IPv4 96 or more
 */
struct iot_filter_addr {
	struct in6_addr ip;
	unsigned int bits;
};

/**
 * struct iot_filter - immutable once a category has it; freed after an RCU grace period
 * @used:	IOT_FILTER_* of the conditions that were given
 * @kinds:	bits 1 << IOT_KIND_*
 * @pids:	as the initial pid namespace has them; so are @tids
 * @devs:	as in records, see kind device in events.def
 * @nr_devs:	number of @devs
 * @tree:	only events of these processes are wanted
 * @comms:	names of threads, padded with zeroes
 * @nr_comms:	number of @comms
 * @families:	AF_*
 * @protocols:	IPPROTO_*, which only IPv4 and IPv6 have
 * @ports:	of either end
 * @netns:	inode numbers of network namespaces
 * @addrs:	of either end
 * @nr_addrs:	number of @addrs
 * @ops:	bits 1 << operation
 * @paths:	events of what is below one of them are wanted
 * @nr_paths:	number of @paths
 */
struct iot_filter {
	struct rcu_head rcu;
	u32 used;
	u32 kinds;
	struct iot_numbers pids;
	struct iot_numbers tids;
	struct iot_numbers uids;
	u32 nr_devs;
	u32 devs[IOT_FILTER_DEVS_MAX];
	struct iot_descendants *tree;
	u64 comms[IOT_FILTER_COMMS_MAX][IOT_FILTER_COMM_WORDS];
	u32 nr_comms;
	struct iot_numbers cgroups;
	struct iot_numbers inodes;
	struct iot_numbers families;
	struct iot_numbers protocols;
	struct iot_numbers ports;
	struct iot_numbers netns;
	struct iot_filter_addr addrs[IOT_FILTER_ADDRS_MAX];
	u32 nr_addrs;
	u64 min_latency;
	u64 min_size;
	DECLARE_BITMAP(ops, IOT_OPS_MAX);
	struct iot_filter_path paths[IOT_FILTER_PATHS_MAX];
	u32 nr_paths;
};

void iot_filter_free(struct iot_filter *f);
void iot_filter_show(struct seq_file *m, const struct iot_filter *f,
		     unsigned int event);

bool iot_numbers_search(const struct iot_numbers *numbers, u64 number);
bool iot_filter_rare(const struct iot_filter *f);
bool iot_filter_addr(const struct iot_filter *f, const struct in6_addr *ip);
bool iot_filter_ends(const struct iot_filter *f, const struct iot_address *one,
		     const struct iot_address *other);
bool iot_filter_origin(const struct iot_filter *f, const struct iot_originator *who);

/** iot_numbers_have() - is a number among the values of a key that was given? */
static __always_inline bool iot_numbers_have(const struct iot_numbers *numbers, u64 number)
{
	return numbers->at[0] == number ||
	       (unlikely(numbers->nr > 1) && iot_numbers_search(numbers, number));
}

/**
 * iot_filter_task() - check whether the current task meets the conditions on tasks
 *
 * Context: any, but in an interrupt the current task is not the one that caused the event.
 */
static __always_inline bool iot_filter_task(const struct iot_filter *f)
{
	if (!(f->used & IOT_FILTER_TASK))
		return true;
	if ((f->used & IOT_FILTER_PID) && !iot_numbers_have(&f->pids, current->tgid))
		return false;
	if ((f->used & IOT_FILTER_TREE) && !iot_descendants_has(f->tree, current->tgid))
		return false;
	if ((f->used & IOT_FILTER_TID) && !iot_numbers_have(&f->tids, current->pid))
		return false;
	return !(f->used & (IOT_FILTER_COMM | IOT_FILTER_UID | IOT_FILTER_CGROUP)) ||
	       iot_filter_rare(f);
}

/** iot_filter_op() - check whether an operation is wanted */
static __always_inline bool iot_filter_op(const struct iot_filter *f, unsigned int op)
{
	return !(f->used & IOT_FILTER_OP) || test_bit(op, f->ops);
}

/** iot_filter_has_dev() - is a device among those of the condition dev=? */
static __always_inline bool iot_filter_has_dev(const struct iot_filter *f, u32 dev)
{
	unsigned int i;

	for (i = 0; i < f->nr_devs; i++)
		if (f->devs[i] == dev)
			return true;
	return false;
}

/** iot_filter_file() - check whether a file is wanted, by kind, device and inode number */
static __always_inline bool iot_filter_file(const struct iot_filter *f, u16 kind, u32 dev,
					    u64 inode)
{
	if (!(f->kinds & BIT(kind)))
		return false;
	if ((f->used & IOT_FILTER_DEV) && !iot_filter_has_dev(f, dev))
		return false;
	return !(f->used & IOT_FILTER_INODE) || iot_numbers_have(&f->inodes, inode);
}

/**
 * iot_filter_kind() - check the conditions on the kind of a socket or packet
 * @family:	AF_*
 * @protocol:	a number of that family: only those of IPv4 and IPv6 can meet the condition
 *
 * Context: any.
 */
static __always_inline bool iot_filter_kind(const struct iot_filter *f, u16 family, u16 protocol)
{
	if ((f->used & IOT_FILTER_FAMILY) && !iot_numbers_have(&f->families, family))
		return false;
	return !(f->used & IOT_FILTER_PROTO) ||
	       ((family == AF_INET || family == AF_INET6) &&
		iot_numbers_have(&f->protocols, protocol));
}

/** iot_filter_port() - is a port among those of the condition port=? 0 is none */
static __always_inline bool iot_filter_port(const struct iot_filter *f, u16 port)
{
	return port && iot_numbers_have(&f->ports, port);
}

/** iot_filter_netns() - check the condition on the network namespace, by its inode number */
static __always_inline bool iot_filter_netns(const struct iot_filter *f, u32 netns)
{
	return !(f->used & IOT_FILTER_NETNS) || iot_numbers_have(&f->netns, netns);
}

/** iot_filter_amount() - check the minimum latency, ns, and the minimum size, bytes */
static __always_inline bool iot_filter_amount(const struct iot_filter *f, u64 latency,
					      s64 size)
{
	if ((f->used & IOT_FILTER_LATENCY) && latency < f->min_latency)
		return false;
	return !(f->used & IOT_FILTER_SIZE) || size >= (s64)f->min_size;
}

#endif /* IOT_FILTER_H */
