/* SPDX-License-Identifier: GPL-2.0 */
/* The running targets, as probes look them up. */
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
 *		other for the larger one that replaces it
 * @device_node: in the list of running devices, under RCU
 * @device:	number of the disk or partition whose bios are recorded, 0 if it is a file
 * @id:		never used twice; its low bits are its slot
 * @key:	which file it is
 * @ring:	under RCU: replaced by resize, and by the sink while it is being emptied
 * @writer:	thread that last wrote to it
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
 * @target:	offset of a target from its node in this table, bytes
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
 * @target:	NULL if the target does not run or the slot is free
 */
struct iot_running_slots {
	unsigned int nr;
	struct iot_running __rcu *target[];
};

/* The tables of running targets: running.c. */
#define IOT_RUNNING_FILTER_BITS	19
#define IOT_RUNNING_SLOT_BITS 32	/* lower bits of an id: the slot */

extern unsigned long iot_running_filter[];
extern unsigned int iot_running_count;	/* number of running targets */
extern u64 iot_running_secret;
extern struct iot_running_buckets __rcu *iot_running_buckets;
extern struct iot_running_slots __rcu *iot_running_slots;
extern struct hlist_head iot_running_devices;

/*
 * A process that chooses inode numbers (a FUSE server, or one that makes files in a tmpfs) does
 * not know the factor, so it cannot choose numbers that have the same hash.
 */
static __always_inline u64 iot_running_hash(u64 ino)
{
	return ino * iot_running_secret;
}

/**
 * iot_running_maybe() - check whether an inode can be a running target
 *
 * The whole cost of a call that is not traced: one bit of a table that never moves, and not
 * even that if there is no target. Context: any.
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
		__builtin_unreachable(); /* so that callers need not check for NULL */
	return t;
}

/*
 * Iterate over the running targets in the bucket of a hash. The upper bits of the hash select
 * the bucket: they spread consecutive inode numbers, such as those of files made together.
 * Context: any, preemption off.
 */
#define iot_running_for_each(t, b, n, hash)							\
	for (b = rcu_dereference_sched(iot_running_buckets),				\
	     n = rcu_dereference_raw_check(hlist_first_rcu(&b->bucket[(hash) >> b->shift])); \
	     n && (t = iot_running_at(b, n));						\
	     n = rcu_dereference_raw_check(hlist_next_rcu(n)))

/**
 * iot_running_find() - find the running target that an inode is, or NULL
 *
 * Context: any, preemption off; the result is valid until it is on again.
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
 * iot_running_find_number() - as above, but compare device, inode number and generation only
 * @hash:	of the inode
 *
 * If the key of the target found has a file handle, the device was not compared, and the file
 * handle decides.
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

/** iot_running_by_id() - find the running target with an id, or NULL. Context: as above */
static __always_inline struct iot_running *iot_running_by_id(u64 id)
{
	const struct iot_running_slots *p;
	struct iot_running *t;

	smp_rmb(); /* @id, which was given out after its slot was set, before the table */
	p = rcu_dereference_sched(iot_running_slots);
	t = rcu_dereference_sched(p->target[(u32)id]);
	return t && t->id == id ? t : NULL;
}

/** struct iot_running_chains - how targets are spread over the buckets of their tables */
struct iot_running_chains {
	u64 running;
	u64 buckets;
	u64 longest;	/* longest bucket, in targets */
};

void iot_running_chains(struct iot_running_chains *chains);

int iot_running_id_get(struct iot_running *t);
void iot_running_id_put(struct iot_running *t);
void iot_running_publish(struct iot_running *t);
void iot_running_unpublish(struct iot_running *t);

int iot_running_init(void);
void iot_running_exit(void);

#endif /* IOT_RUNNING_H */
