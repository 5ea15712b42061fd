/* SPDX-License-Identifier: GPL-2.0 */
/* The running targets, as probes find them. */
#ifndef IOT_RUNNING_H
#define IOT_RUNNING_H

#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/fs.h>
#include <linux/rculist.h>
#include <linux/types.h>
#include "core/ring.h"
#include "record/key.h"
#include "record/writer.h"

/**
 * struct iot_running - what probes know of a target
 * @node:	in the table of running targets, under RCU: one for the present table, the
 *		other for the one that takes its place when it has grown
 * @device_node: in the list of running devices, under RCU
 * @device:	number of the disk or partition whose bios it has, 0: it is a file
 * @id:		never used twice; its low bits are its slot
 * @key:	which file it is
 * @ring:	replaced under RCU by resize, and by one that nobody reads while it is emptied
 * @writer:	who last wrote to it
 *
 * Part of struct iot_target, and freed with it.
 */
struct iot_running {
	struct hlist_node node[2];
	struct hlist_node device_node;
	u64 id;
	dev_t device;
	struct iot_key key;
	struct iot_ring __rcu *ring;
	struct iot_writer writer;
};

/**
 * struct iot_running_buckets - the running targets, by hash
 * @shift:	64 - log2 of the number of buckets
 * @target:	where the target begins, seen from its node in this table
 * @bucket:	lists of nodes
 */
struct iot_running_buckets {
	unsigned int shift;
	long target;
	struct hlist_head bucket[];
};

/**
 * struct iot_running_slots - the running targets, by the lower bits of their ids
 * @nr:		number of slots
 * @target:	NULL where it does not run or the slot is free
 */
struct iot_running_slots {
	unsigned int nr;
	struct iot_running __rcu *target[];
};

/* The tables of running targets: running.c. */
#define IOT_RUNNING_FILTER_BITS	19
#define IOT_RUNNING_SLOT_BITS 32	/* lower bits of an id: the slot */

extern unsigned long iot_running_filter[];
extern unsigned int iot_running_count;	/* how many */
extern u64 iot_running_secret;
extern struct iot_running_buckets __rcu *iot_running_buckets;
extern struct iot_running_slots __rcu *iot_running_slots;
extern struct hlist_head iot_running_devices;

/*
 * Who chooses inode numbers (a FUSE server, whoever makes files in a tmpfs) does not
 * know the factor, so cannot choose them so that their hashes are the same.
 */
static __always_inline u64 iot_running_hash(u64 ino)
{
	return ino * iot_running_secret;
}

/**
 * iot_running_maybe() - can this inode be a running target?
 *
 * The whole cost of a call that is not traced: one bit of a table that never
 * moves, and not even that where there is no target. Context: any.
 */
static __always_inline bool iot_running_maybe(const struct inode *inode)
{
	return READ_ONCE(iot_running_count) &&
	       arch_test_bit(iot_running_hash(inode->i_ino) >> (64 - IOT_RUNNING_FILTER_BITS),
			     iot_running_filter);
}

static __always_inline struct iot_running *
iot_running_at(const struct iot_running_buckets *b, struct hlist_node *n)
{
	struct iot_running *t = (void *)n + b->target;

	if (!t)
		__builtin_unreachable(); /* so that callers need not look */
	return t;
}

/*
 * The running targets in the bucket of a hash. The upper bits of the hash name it:
 * they spread inode numbers that follow one another, as those of files made together
 * do. Context: any, preemption off.
 */
#define iot_running_for_each(t, b, n, hash)							\
	for (b = rcu_dereference_sched(iot_running_buckets),				\
	     n = rcu_dereference_raw_check(hlist_first_rcu(&b->bucket[(hash) >> b->shift])); \
	     n && (t = iot_running_at(b, n));						\
	     n = rcu_dereference_raw_check(hlist_next_rcu(n)))

/**
 * iot_running_find() - the running target that an inode is, or NULL
 *
 * Context: any, preemption off; the result is good until it is on again.
 */
static __always_inline struct iot_running *iot_running_find(struct inode *inode)
{
	const struct iot_running_buckets *b;
	struct iot_running *t;
	struct hlist_node *n;

	iot_running_for_each(t, b, n, iot_running_hash(inode->i_ino))
		if (iot_key_is(&t->key, inode))
			return t;
	return NULL;
}

/**
 * iot_running_find_number() - likewise, by device, number and generation only
 *
 * @hash is the inode's. Where this finds a target whose key has a file handle,
 * that decides, whatever the device.
 */
static __always_inline struct iot_running *
iot_running_find_number(const struct inode *inode, u64 hash)
{
	const struct iot_running_buckets *b;
	struct iot_running *t;
	struct hlist_node *n;

	iot_running_for_each(t, b, n, hash)
		if (iot_key_is_number(&t->key, inode))
			return t;
	return NULL;
}

/** iot_running_by_id() - the running target with that id, or NULL; as above */
static __always_inline struct iot_running *iot_running_by_id(u64 id)
{
	const struct iot_running_slots *p;
	struct iot_running *t;

	smp_rmb(); /* @id, which was given away when it had its place, before the table */
	p = rcu_dereference_sched(iot_running_slots);
	t = rcu_dereference_sched(p->target[(u32)id]);
	return t && t->id == id ? t : NULL;
}

/** struct iot_running_chains - how targets are spread over the buckets of their tables */
struct iot_running_chains {
	u64 running;
	u64 buckets;
	u64 longest;	/* bucket, in targets */
};

void iot_running_chains(struct iot_running_chains *chains);

int iot_running_id_get(struct iot_running *t);
void iot_running_id_put(struct iot_running *t);
void iot_running_publish(struct iot_running *t);
void iot_running_unpublish(struct iot_running *t);

int iot_running_init(void);
void iot_running_exit(void);

#endif /* IOT_RUNNING_H */
