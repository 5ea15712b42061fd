/* SPDX-License-Identifier: GPL-2.0 */
/* Which files and block devices are traced: lookup, lifetime, rings. */
#ifndef IOT_TARGET_H
#define IOT_TARGET_H

#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/rhashtable-types.h>
#include <linux/uuid.h>
#include <linux/workqueue.h>
#include "probe.h"
#include "ring.h"
#include "uapi/iotracer.h"

#define IOT_NAME_LEN	64	/* of a folder in /proc/iotracer */
#define IOT_FH_WORDS	6	/* of a file handle that tells subvolumes apart */

struct iot_why;
struct proc_dir_entry;

/**
 * struct iot_link - one path under which a target was added
 * @list:	of the target's links, in the order of their adding
 * @node:	in the index of all links by path
 * @t:		the target, NULL in a copy
 */
struct iot_link {
	struct list_head list;
	struct rhlist_head node;
	struct iot_target *t;
	char path[];
};

/** struct iot_writer - who last wrote to a file, for its writeback */
struct iot_writer {
	u32 version;	/* odd while it is being changed */
	u32 pid;
	u64 comm[2];
};

/**
 * struct iot_key - what identifies a file, without holding it
 * @ino:	inode->i_ino
 * @dev:	its superblock's s_dev
 * @generation:	inode->i_generation: an inode number used again is another file
 * @fh_words:	used words of @fh, 0 where the rest is enough
 * @fh_type:	as encode_fh() returned it
 * @fh:		file handle; with @magic and @uuid in place of @dev, for filesystems
 *		whose superblock has another device number after each mount
 * @magic:	sb->s_magic
 * @uuid:	sb->s_uuid
 */
struct iot_key {
	u64 ino;
	dev_t dev;
	u32 generation;
	int fh_words;
	int fh_type;
	u32 fh[IOT_FH_WORDS];
	unsigned long magic;
	uuid_t uuid;
};

/**
 * struct iot_target - a traced file or block device
 * @hot:	in the table of running targets, under RCU: one for the present table, the
 *		other for the one that takes its place when it has grown
 * @device_node: in the list of running devices, under RCU
 * @device:	number of the disk or partition whose bios it has, 0: it is a file
 * @id:		never used twice; its low bits are its place
 * @ring:	replaced under RCU by resize, and by one that nobody reads while it is emptied
 * @writer:	see above
 * @all:	in the list of all targets, in the order of their adding
 * @cold:	in the index of all targets by inode number
 * @named:	in the index of all targets by @name
 * @free:	frees it and its ring
 * @name:	of its folder in /proc, padded with zeroes
 * @links:	struct iot_link, in the order of their adding
 * @st_dev:	device number as stat(2) gives it
 * @st_ino:	inode number as stat(2) gives it
 * @lock:	protects what follows, and @ring against replacement
 * @shift:	seq of a record = its index in @ring + @shift
 * @carried:	records seen in earlier rings since the last reset
 * @t0:		CLOCK_MONOTONIC ns
 * @running:	it is in the table of running targets and has its hooks enabled
 * @pipe_next:	seq of the next record that a pipe shows
 * @pipe_gap:	records before it that are gone, and that no pipe has told of yet
 * @pipes:	open ones
 * @gone:	its folder is about to be removed: nobody may wait in it
 * @hooks:	what it holds, and enables while running
 *
 * @all, @cold, @named, @name, @links, @dir: under control.c's lock.
 * Freed an RCU grace period after it left all tables and /proc.
 */
struct iot_target {
	struct hlist_node hot[2];
	struct hlist_node device_node;
	u64 id;
	dev_t device;
	struct iot_key key;
	struct iot_ring __rcu *ring;
	struct iot_writer writer;

	struct list_head all;
	struct rhlist_head cold;
	struct rhash_head named;
	struct rcu_work free;
	char name[IOT_NAME_LEN];
	struct list_head links;
	dev_t st_dev;
	u64 st_ino;
	struct proc_dir_entry *dir;

	struct mutex lock;	/* of what follows */
	u64 shift;
	u64 carried;
	u64 t0;
	u64 pipe_next;
	u64 pipe_gap;
	unsigned int pipes;
	bool gone;
	bool running;
	struct iot_vfs_hooks hooks;
};

/** struct iot_target_stats - counts of one level since the last reset */
struct iot_target_stats {
	u64 seen;
	u64 stored;
	u64 overwritten;
	u64 lost;
	u64 missed;
};

/**
 * struct iot_buckets - the running targets, by hash
 * @shift:	64 - log2 of the number of buckets
 * @target:	where the target begins, seen from its node in this table
 * @bucket:	lists of nodes
 */
struct iot_buckets {
	unsigned int shift;
	long target;
	struct hlist_head bucket[];
};

/**
 * struct iot_places - the running targets, by the lower bits of their ids
 * @nr:		number of places
 * @target:	NULL where it does not run or the place is free
 */
struct iot_places {
	unsigned int nr;
	struct iot_target __rcu *target[];
};

/* The tables of running targets; see target.c. */
#define IOT_FILTER_BITS	19
#define IOT_ID_PLACE_BITS 32	/* lower bits of an id: the place */

extern unsigned long iot_target_filter[];
extern unsigned int iot_target_running;	/* how many */
extern u64 iot_target_secret;
extern struct iot_buckets __rcu *iot_target_buckets;
extern struct iot_places __rcu *iot_target_places;
extern struct hlist_head iot_target_devices;

/*
 * Who chooses inode numbers (a FUSE server, whoever makes files in a tmpfs) does not
 * know the factor, so cannot choose them so that their hashes are the same.
 */
static __always_inline u64 iot_target_hash(u64 ino)
{
	return ino * iot_target_secret;
}

/**
 * iot_target_maybe() - can this inode be a running target?
 *
 * The whole cost of a call that is not traced: one bit of a table that never
 * moves, and not even that where there is no target. Context: any.
 */
static __always_inline bool iot_target_maybe(const struct inode *inode)
{
	return READ_ONCE(iot_target_running) &&
	       arch_test_bit(iot_target_hash(inode->i_ino) >> (64 - IOT_FILTER_BITS),
			     iot_target_filter);
}

bool iot_target_fh_matches(const struct iot_key *key, struct inode *inode);

static __always_inline struct iot_target *iot_target_at(const struct iot_buckets *b,
							struct hlist_node *n)
{
	struct iot_target *t = (void *)n + b->target;

	if (!t)
		__builtin_unreachable(); /* so that callers need not look */
	return t;
}

/*
 * The running targets in the bucket of a hash. The upper bits of the hash name it:
 * they spread inode numbers that follow one another, as those of files made together
 * do. Context: any, preemption off.
 */
#define iot_for_each_hot(t, b, n, hash)							\
	for (b = rcu_dereference_sched(iot_target_buckets),				\
	     n = rcu_dereference_raw_check(hlist_first_rcu(&b->bucket[(hash) >> b->shift])); \
	     n && (t = iot_target_at(b, n));						\
	     n = rcu_dereference_raw_check(hlist_next_rcu(n)))

static __always_inline bool iot_target_is_number(const struct iot_key *key,
						 const struct inode *inode)
{
	return key->ino == inode->i_ino &&
	       key->generation == inode->i_generation &&
	       (likely(key->dev == inode->i_sb->s_dev) || key->fh_words);
}

static __always_inline bool iot_target_is(const struct iot_key *key,
					  struct inode *inode)
{
	return iot_target_is_number(key, inode) &&
	       (likely(!key->fh_words) || iot_target_fh_matches(key, inode));
}

/**
 * iot_target_find() - the running target that an inode is, or NULL
 *
 * Context: any, preemption off; the result is good until it is on again.
 */
static __always_inline struct iot_target *iot_target_find(struct inode *inode)
{
	const struct iot_buckets *b;
	struct iot_target *t;
	struct hlist_node *n;

	iot_for_each_hot(t, b, n, iot_target_hash(inode->i_ino))
		if (iot_target_is(&t->key, inode))
			return t;
	return NULL;
}

/**
 * iot_target_find_number() - likewise, by device, number and generation only
 *
 * @hash is the inode's. Where this finds a target whose key has a file handle,
 * that decides, whatever the device.
 */
static __always_inline struct iot_target *
iot_target_find_number(const struct inode *inode, u64 hash)
{
	const struct iot_buckets *b;
	struct iot_target *t;
	struct hlist_node *n;

	iot_for_each_hot(t, b, n, hash)
		if (iot_target_is_number(&t->key, inode))
			return t;
	return NULL;
}

/** iot_target_by_id() - the running target with that id, or NULL; as above */
static __always_inline struct iot_target *iot_target_by_id(u64 id)
{
	const struct iot_places *p;
	struct iot_target *t;

	smp_rmb(); /* @id, which was given away when it had its place, before the table */
	p = rcu_dereference_sched(iot_target_places);
	t = rcu_dereference_sched(p->target[(u32)id]);
	return t && t->id == id ? t : NULL;
}

struct iot_target *iot_target_lookup(struct inode *inode);
struct iot_target *iot_target_create(const struct path *path, const struct kstat *stat,
				     u64 max_events, struct iot_why *why);
void iot_target_remove(struct iot_target *t);
void iot_target_remove_all(void);
void iot_target_for_each(void (*fn)(struct iot_target *t, void *data), void *data);

struct iot_link *iot_target_link(struct iot_target *t, const char *path);
struct iot_link *iot_target_any_link(const char *path);
int iot_link_copy(struct list_head *links, const char *path);
int iot_target_add_link(struct iot_target *t, const char *path);
void iot_target_drop_link(struct iot_link *link);

int iot_target_start(struct iot_target *t);
void iot_target_stop(struct iot_target *t);
void iot_target_reset(struct iot_target *t, bool new_t0);
int iot_target_resize(struct iot_target *t, u64 max_events, struct iot_why *why);
u64 iot_target_max_events(struct iot_target *t);
void iot_target_stats(struct iot_target *t, struct iot_target_stats stats[IOT_LEVELS],
		      u64 *overwritten);
size_t iot_target_bytes(struct iot_target *t);

/** struct iot_target_chains - how targets are spread over the buckets of their tables */
struct iot_target_chains {
	u64 running;
	u64 buckets;
	u64 longest;	/* bucket, in targets */
};

void iot_target_chains(struct iot_target_chains *chains);

int iot_target_init(void);
void iot_target_exit(void);

#endif /* IOT_TARGET_H */
