/* SPDX-License-Identifier: GPL-2.0 */
/* The files of running targets, as probes look them up. */
#ifndef IOT_TARGET_INDEX_H
#define IOT_TARGET_INDEX_H

#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/fs.h>
#include <linux/log2.h>
#include <linux/rculist.h>
#include <linux/types.h>
#include "core/ring.h"
#include "file/key.h"
#include "record/writer.h"

/**
 * struct iot_indexed_target - what probes know of a target
 * @ring:	under RCU: replaced by resize, and by the sink while it is being emptied
 * @run:	number of starts
 * @all_operations: not only reads and writes are recorded
 *
 * Part of struct iot_target, and freed with it.
 */
struct iot_indexed_target {
	struct iot_ring __rcu *ring;
	u32 run;
	bool all_operations;
};

/**
 * struct iot_indexed_file - what probes know of a file of a target
 * @node:	in the table of running files, under RCU: one for the present table, the
 *		other for the larger one that replaces it
 * @device_node: in the list of running devices, under RCU
 * @device:	number of the disk or partition whose bios are recorded, 0 if it is a file
 * @id:		never used twice; its low bits are its slot
 * @key:	which file it is
 * @ino:	its inode number as stat(2) gives it
 * @t:		the target whose log has its events
 * @writer:	thread that last wrote to it
 * @shown:	it is in the tables of files and devices; under target_index.c's lock
 *
 * Part of struct iot_target_file, and freed with it.
 */
struct iot_indexed_file {
	struct hlist_node node[2];
	struct hlist_node device_node;
	u64 id;
	dev_t device;
	struct iot_key key;
	u64 ino;
	struct iot_indexed_target *t;
	struct iot_writer writer;
	bool shown;
};

/**
 * struct iot_target_index_buckets - the running files, by hash
 * @mask:	of the offset of a bucket from the first one, bytes
 * @file:	offset of a file from its node in this table, bytes
 * @bucket:	lists of nodes
 */
struct iot_target_index_buckets {
	u64 mask;
	long file;
	struct hlist_head bucket[];
};

/**
 * struct iot_target_index_slots - the running files, by the lower bits of their ids
 * @nr:		number of slots
 * @file:	one with another id if the file does not run or the slot is free
 */
struct iot_target_index_slots {
	unsigned int nr;
	struct iot_indexed_file __rcu *file[];
};

/* The tables of running files: target_index.c. */
#define IOT_TARGET_INDEX_FILTER_BITS	19
#define IOT_TARGET_INDEX_BUCKET_BITS	24	/* of a hash; at most 1 << this many buckets */
#define IOT_TARGET_INDEX_SLOT_BITS	32	/* lower bits of an id: the slot */

extern unsigned long iot_target_index_filter[];
extern bool iot_target_index_any;	/* there are running files */
extern u64 iot_target_index_secret;
extern struct iot_target_index_buckets __rcu *iot_target_index_buckets;
extern struct iot_target_index_slots __rcu *iot_target_index_slots;
extern struct hlist_head iot_target_index_devices;

/*
 * A process that chooses inode numbers (a FUSE server, or one that makes files in a tmpfs) does
 * not know the factor, so it cannot choose numbers that have the same hash.
 */
static __always_inline u64 iot_target_index_hash(u64 ino)
{
	return ino * iot_target_index_secret;
}

/**
 * iot_target_index_passes() - check whether the filter has the bit of an inode
 *
 * The whole cost of a call that is not traced while nothing but targets has hooks: one bit of a
 * table that never moves. Context: any.
 */
static __always_inline bool iot_target_index_passes(const struct inode *inode)
{
	return arch_test_bit(iot_target_index_hash(inode->i_ino) >>
			     (64 - IOT_TARGET_INDEX_FILTER_BITS), iot_target_index_filter);
}

/** iot_target_index_maybe() - the same, quicker if there may be no target. Context: any */
static __always_inline bool iot_target_index_maybe(const struct inode *inode)
{
	/* no READ_ONCE(): the load is then a part of the comparison */
	return data_race(iot_target_index_any) && iot_target_index_passes(inode);
}

static __always_inline struct iot_indexed_file *
iot_target_index_at(const struct iot_target_index_buckets *b, struct hlist_node *n)
{
	struct iot_indexed_file *f = (void *)n + b->file;

	if (!f)
		__builtin_unreachable(); /* so that callers need not check for NULL */
	return f;
}

/*
 * Get the offset of the bucket of a hash. The upper half of the hash selects the bucket: it
 * spreads consecutive inode numbers, such as those of files made together. With the lower bits of
 * that half the shift is the same for every size of the table.
 */
static __always_inline u64
iot_target_index_offset(const struct iot_target_index_buckets *b, u64 hash)
{
	return (hash >> (64 - IOT_TARGET_INDEX_BUCKET_BITS - ilog2(sizeof(*b->bucket)))) & b->mask;
}

/* Get the first node in the bucket of a hash, or NULL. Context: any, preemption off. */
static __always_inline struct hlist_node *
iot_target_index_first(const struct iot_target_index_buckets *b, u64 hash)
{
	const struct hlist_head *head = (void *)b->bucket + iot_target_index_offset(b, hash);

	return rcu_dereference_raw_check(hlist_first_rcu(head));
}

/**
 * iot_target_index_find() - find the running file that an inode is, or NULL
 *
 * Context: any, preemption off; the result is valid until it is on again.
 */
static __always_inline struct iot_indexed_file *iot_target_index_find(struct inode *inode)
{
	const struct iot_target_index_buckets *b;
	struct hlist_node *n;

	b = rcu_dereference_sched(iot_target_index_buckets);
	n = iot_target_index_first(b, iot_target_index_hash(inode->i_ino));
	for (; n; n = rcu_dereference_raw_check(hlist_next_rcu(n))) {
		struct iot_indexed_file *f = iot_target_index_at(b, n);

		if (iot_key_is(&f->key, inode))
			return f;
	}
	return NULL;
}

/** iot_target_index_by_id() - find the running file with an id, or NULL. Context: as above */
static __always_inline struct iot_indexed_file *iot_target_index_by_id(u64 id)
{
	const struct iot_target_index_slots *p;
	struct iot_indexed_file *f;

	smp_rmb(); /* @id, which was given out after its slot was set, before the table */
	p = rcu_dereference_sched(iot_target_index_slots);
	f = rcu_dereference_sched(p->file[(u32)id]);
	if (!f)
		__builtin_unreachable(); /* so that callers need not check again */
	return f->id == id ? f : NULL;
}

/** struct iot_target_index_chains - how files are spread over the buckets of their tables */
struct iot_target_index_chains {
	u64 running;
	u64 buckets;
	u64 longest;	/* longest bucket, in files */
};

void iot_target_index_chains(struct iot_target_index_chains *chains);

int iot_target_index_id_get(struct iot_indexed_file *f);
void iot_target_index_id_put(struct iot_indexed_file *f);
void iot_target_index_publish(struct iot_indexed_file *f);
void iot_target_index_hide(struct iot_indexed_file *f);
void iot_target_index_unpublish(struct iot_indexed_file *f);

int iot_target_index_init(void);
void iot_target_index_exit(void);

#endif /* IOT_TARGET_INDEX_H */
