/* SPDX-License-Identifier: GPL-2.0 */
/* Which files and block devices are traced: lookup, lifetime, rings. */
#ifndef IOT_TARGET_H
#define IOT_TARGET_H

#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/uuid.h>
#include "probe.h"
#include "ring.h"
#include "uapi/iotracer.h"

#define IOT_NAME_LEN	64	/* of a folder in /proc/iotracer */
#define IOT_FH_WORDS	6	/* of a file handle that tells subvolumes apart */

struct proc_dir_entry;

/** struct iot_link - one path under which a target was added */
struct iot_link {
	struct list_head list;
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
 * @hot:	in the table of running targets, under RCU
 * @device_node: in the list of running devices, under RCU
 * @device:	number of the disk or partition whose bios it has, 0: it is a file
 * @id:		never used twice; its low bits name the bucket of @hot
 * @ring:	replaced under RCU by reset and resize
 * @writer:	see above
 * @cold:	in the table of all targets
 * @name:	of its folder in /proc
 * @links:	struct iot_link, in the order of their adding
 * @st_dev:	device number as stat(2) gives it
 * @st_ino:	inode number as stat(2) gives it
 * @lock:	protects what follows, and @ring against replacement
 * @shift:	seq of a record = its index in @ring + @shift
 * @carried:	records seen in earlier rings since the last reset
 * @t0:		CLOCK_MONOTONIC ns
 * @running:	it is in the table of running targets and has its hooks enabled
 * @hooks:	what it holds, and enables while running
 *
 * @cold, @name, @links, @dir: under control.c's lock.
 * Freed an RCU grace period after it left both tables and /proc.
 */
struct iot_target {
	struct hlist_node hot;
	struct hlist_node device_node;
	u64 id;
	dev_t device;
	struct iot_key key;
	struct iot_ring __rcu *ring;
	struct iot_writer writer;

	struct hlist_node cold;
	struct rcu_head rcu;
	char name[IOT_NAME_LEN];
	struct list_head links;
	dev_t st_dev;
	u64 st_ino;
	struct proc_dir_entry *dir;

	struct mutex lock;	/* of what follows */
	u64 shift;
	u64 carried;
	u64 t0;
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

/* The tables of running targets; see target.c. */
#define IOT_FILTER_BITS	19
#define IOT_BUCKET_BITS	14

extern unsigned long iot_target_filter[];
extern unsigned int iot_target_running;	/* how many */
extern struct hlist_head iot_target_buckets[];
extern struct hlist_head iot_target_devices;

static __always_inline u64 iot_target_hash(u64 ino)
{
	return (ino * 0x61C8864680B583EBull) >> (64 - IOT_FILTER_BITS);
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
	       arch_test_bit(iot_target_hash(inode->i_ino), iot_target_filter);
}

bool iot_target_fh_matches(const struct iot_key *key, struct inode *inode);

/*
 * The upper bits of the hash: they spread inode numbers that follow one another,
 * as those of files made together do, so that 10,000 are found as fast as one.
 */
static __always_inline u64 iot_target_bucket_nr(u64 hash)
{
	return hash >> (IOT_FILTER_BITS - IOT_BUCKET_BITS);
}

static __always_inline struct hlist_head *iot_target_bucket(u64 hash)
{
	return &iot_target_buckets[iot_target_bucket_nr(hash)];
}

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
	struct iot_target *t;

	hlist_for_each_entry_rcu_notrace(t, iot_target_bucket(iot_target_hash(inode->i_ino)), hot)
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
	struct iot_target *t;

	hlist_for_each_entry_rcu_notrace(t, iot_target_bucket(hash), hot)
		if (iot_target_is_number(&t->key, inode))
			return t;
	return NULL;
}

/** iot_target_by_id() - the running target with that id, or NULL; as above */
static __always_inline struct iot_target *iot_target_by_id(u64 id)
{
	struct hlist_head *bucket = &iot_target_buckets[id & (BIT(IOT_BUCKET_BITS) - 1)];
	struct iot_target *t;

	hlist_for_each_entry_rcu_notrace(t, bucket, hot)
		if (t->id == id)
			return t;
	return NULL;
}

struct iot_target *iot_target_lookup(struct inode *inode);
struct iot_target *iot_target_create(const struct path *path, const struct kstat *stat,
				     u64 max_events);
void iot_target_remove(struct iot_target *t);
void iot_target_remove_all(void);
void iot_target_for_each(void (*fn)(struct iot_target *t, void *data), void *data);

struct iot_link *iot_target_link(struct iot_target *t, const char *path);
int iot_link_add(struct list_head *links, const char *path);
int iot_target_add_link(struct iot_target *t, const char *path);

int iot_target_start(struct iot_target *t);
void iot_target_stop(struct iot_target *t);
int iot_target_reset(struct iot_target *t, bool new_t0);
int iot_target_resize(struct iot_target *t, u64 max_events);
u64 iot_target_max_events(struct iot_target *t);
void iot_target_stats(struct iot_target *t, struct iot_target_stats stats[IOT_LEVELS],
		      u64 *overwritten);
size_t iot_target_bytes(struct iot_target *t);

#endif /* IOT_TARGET_H */
