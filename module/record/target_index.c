// SPDX-License-Identifier: GPL-2.0
/*
 * The files of running targets, as probes look them up.
 *
 * Probes look an inode up in two steps. A clear bit of iot_target_index_filter shows that no
 * running file has this inode's hash. That is all that other files cost; with 10,000 targets it
 * still stops 98 of 100 untraced files. Otherwise the running files of a bucket are compared. The
 * filter is static, so it needs no RCU. If there are more files than buckets, the table of
 * buckets is replaced by one of twice the size. A file has two nodes, so it can be in both. A
 * third table, which grows in the same way, leads from an id to its file.
 *
 * A probe uses a file and its target only while preemption is off. A call that may sleep keeps
 * the file's id and looks it up again when it returns.
 */
#include <linux/idr.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include "record/target_index.h"

unsigned long iot_target_index_filter[BITS_TO_LONGS(BIT(IOT_TARGET_INDEX_FILTER_BITS))];
bool iot_target_index_any;
u64 iot_target_index_secret;
struct iot_target_index_buckets __rcu *iot_target_index_buckets;
struct iot_target_index_slots __rcu *iot_target_index_slots;
struct hlist_head iot_target_index_devices;
static struct iot_indexed_file nobody = { .id = U64_MAX };	/* has the id of no file */

/* Protects changes of the tables above; leaf lock. */
static DEFINE_MUTEX(tables_lock);

#define LEAST_BUCKET_BITS 14
#define LEAST_SLOTS 1024
#define MOST_SLOTS BIT(24)

static unsigned int nr_running;
static u64 last_serial;
static DEFINE_IDA(slots);	/* of files, running or not */

/* Caller holds tables_lock. */
static struct iot_target_index_buckets *buckets_of(void)
{
	return rcu_dereference_protected(iot_target_index_buckets, lockdep_is_held(&tables_lock));
}

static struct iot_target_index_buckets *buckets_new(unsigned int bits, unsigned int version)
{
	struct iot_target_index_buckets *b;

	b = kvzalloc(struct_size(b, bucket, BIT(bits)), GFP_KERNEL | __GFP_NOWARN);
	if (b) {
		b->mask = (BIT_ULL(bits) - 1) * sizeof(*b->bucket);
		b->file = -(long)(offsetof(struct iot_indexed_file, node) +
				    version * sizeof(struct hlist_node));
	}
	return b;
}

static u64 nr_buckets(const struct iot_target_index_buckets *b)
{
	return b->mask / sizeof(*b->bucket) + 1;
}

static struct hlist_node *node_of(const struct iot_target_index_buckets *b,
				  struct iot_indexed_file *f)
{
	return (void *)f - b->file;
}

static void buckets_add(struct iot_target_index_buckets *b, struct iot_indexed_file *f)
{
	u64 offset = iot_target_index_offset(b, iot_target_index_hash(f->key.ino));

	hlist_add_head_rcu(node_of(b, f), (void *)b->bucket + offset);
}

static void buckets_copy(struct iot_target_index_buckets *new,
			 const struct iot_target_index_buckets *old)
{
	struct hlist_node *n;
	u64 nr;

	for (nr = 0; nr < nr_buckets(old); nr++) {
		hlist_for_each(n, &old->bucket[nr])
			buckets_add(new, (void *)n + old->file);
		cond_resched();
	}
}

/*
 * Grow the table if there are fewer than two buckets a file: most files are to be the first
 * of their bucket. If there is no memory, chains get longer. After the wait the nodes that the
 * old table used are free for the next one.
 */
static void buckets_grow(void)
{
	struct iot_target_index_buckets *new, *old = buckets_of();
	unsigned int bits = ilog2(nr_buckets(old));

	if (nr_running < nr_buckets(old) / 2 || bits == IOT_TARGET_INDEX_BUCKET_BITS)
		return;
	new = buckets_new(bits + 1, old->file == -(long)offsetof(struct iot_indexed_file, node));
	if (!new)
		return;
	buckets_copy(new, old);
	rcu_assign_pointer(iot_target_index_buckets, new);
	synchronize_rcu(); /* the last probe has left the old table */
	kvfree(old);
}

static struct iot_target_index_slots *slots_new(unsigned int nr)
{
	struct iot_target_index_slots *p = kvmalloc(struct_size(p, file, nr), GFP_KERNEL);
	unsigned int i;

	if (!p)
		return NULL;
	p->nr = nr;
	for (i = 0; i < nr; i++)
		RCU_INIT_POINTER(p->file[i], &nobody);
	return p;
}

static struct iot_target_index_slots *slots_of(void)
{
	return rcu_dereference_protected(iot_target_index_slots, lockdep_is_held(&tables_lock));
}

static unsigned int slot_of(const struct iot_indexed_file *f)
{
	return (u32)f->id;
}

static void slots_put(struct iot_indexed_file *f, struct iot_indexed_file *now)
{
	rcu_assign_pointer(slots_of()->file[slot_of(f)], now);
}

/* Make the table large enough for a slot, before a file with that slot is published. */
static int slots_reach(unsigned int slot)
{
	struct iot_target_index_slots *new, *old;
	int err = 0;

	mutex_lock(&tables_lock);
	old = slots_of();
	if (slot < old->nr)
		goto unlock;
	err = -ENOMEM;
	new = slots_new(roundup_pow_of_two(slot + 1));
	if (!new)
		goto unlock;
	memcpy(new->file, old->file, old->nr * sizeof(*old->file));
	rcu_assign_pointer(iot_target_index_slots, new);
	synchronize_rcu(); /* the last probe has left the old table */
	kvfree(old);
	err = 0;
unlock:
	mutex_unlock(&tables_lock);
	return err;
}

/**
 * iot_target_index_id_get() - give a file an id that was never used before, and its slot
 *
 * Context: task, may sleep; one caller at a time. Return: 0 or -ENOMEM.
 */
int iot_target_index_id_get(struct iot_indexed_file *f)
{
	int slot = ida_alloc_max(&slots, MOST_SLOTS - 1, GFP_KERNEL);

	if (slot < 0)
		return -ENOMEM;
	if (slots_reach(slot)) {
		ida_free(&slots, slot);
		return -ENOMEM;
	}
	f->id = ++last_serial << IOT_TARGET_INDEX_SLOT_BITS | slot;
	return 0;
}

/** iot_target_index_id_put() - release the slot of a file. Context: any */
void iot_target_index_id_put(struct iot_indexed_file *f)
{
	ida_free(&slots, slot_of(f));
}

static u64 filter_bit(u64 hash)
{
	return hash >> (64 - IOT_TARGET_INDEX_FILTER_BITS);
}

/* Check whether another running file needs the bit of @hash in the filter. */
static bool filter_shared(const struct iot_indexed_file *f, u64 hash)
{
	u64 bit = filter_bit(hash);
	u64 at = bit << (64 - IOT_TARGET_INDEX_FILTER_BITS);
	u64 step = BIT_ULL(64 - IOT_TARGET_INDEX_BUCKET_BITS);
	const struct iot_target_index_buckets *b = buckets_of();
	struct iot_indexed_file *other;
	struct hlist_node *n;

	/* the buckets of all hashes that have the bit */
	for (; filter_bit(at) == bit; at += step) {
		for (n = iot_target_index_first(b, at); n; n = n->next) {
			other = (void *)n + b->file;
			if (other != f && filter_bit(iot_target_index_hash(other->key.ino)) == bit)
				return true;
		}
	}
	return false;
}

/**
 * iot_target_index_publish() - make a file visible to probes
 *
 * Context: task, may sleep: a table that is too small is replaced.
 */
void iot_target_index_publish(struct iot_indexed_file *f)
{
	mutex_lock(&tables_lock);
	buckets_grow();
	slots_put(f, f); /* before probes can find it, and take its id */
	buckets_add(buckets_of(), f);
	if (f->device)
		hlist_add_head_rcu(&f->device_node, &iot_target_index_devices);
	set_bit(filter_bit(iot_target_index_hash(f->key.ino)), iot_target_index_filter);
	f->shown = true;
	nr_running++;
	WRITE_ONCE(iot_target_index_any, true);
	mutex_unlock(&tables_lock);
}

/* Caller holds tables_lock. */
static void hide(struct iot_indexed_file *f)
{
	u64 hash = iot_target_index_hash(f->key.ino);

	if (!f->shown)
		return;
	f->shown = false;
	if (!filter_shared(f, hash))
		clear_bit(filter_bit(hash), iot_target_index_filter);
	hlist_del_rcu(node_of(buckets_of(), f));
	if (f->device)
		hlist_del_rcu(&f->device_node);
	nr_running--;
	WRITE_ONCE(iot_target_index_any, nr_running);
}

/**
 * iot_target_index_hide() - let probes find a file by its id only: calls under way can still end
 *
 * Does nothing if it is hidden or not published. Context: task.
 */
void iot_target_index_hide(struct iot_indexed_file *f)
{
	mutex_lock(&tables_lock);
	hide(f);
	mutex_unlock(&tables_lock);
}

/**
 * iot_target_index_unpublish() - hide a file from probes
 *
 * Probes that have found it use it until an RCU grace period is over. Context: task.
 */
void iot_target_index_unpublish(struct iot_indexed_file *f)
{
	mutex_lock(&tables_lock);
	hide(f);
	slots_put(f, &nobody);
	mutex_unlock(&tables_lock);
}

/** iot_target_index_chains() - get the longest search for a file. Context: task */
void iot_target_index_chains(struct iot_target_index_chains *chains)
{
	const struct iot_target_index_buckets *b;
	struct hlist_node *n;
	u64 nr;

	mutex_lock(&tables_lock);
	b = buckets_of();
	chains->running = nr_running;
	chains->buckets = nr_buckets(b);
	chains->longest = 0;
	for (nr = 0; nr < chains->buckets; nr++) {
		u64 length = 0;

		hlist_for_each(n, &b->bucket[nr])
			length++;
		chains->longest = max(chains->longest, length);
		cond_resched();
	}
	mutex_unlock(&tables_lock);
}

/** iot_target_index_init() - allocate the tables at load. Return: 0 or -ENOMEM */
int iot_target_index_init(void)
{
	iot_target_index_secret = get_random_u64() | 1;
	RCU_INIT_POINTER(iot_target_index_buckets, buckets_new(LEAST_BUCKET_BITS, 0));
	RCU_INIT_POINTER(iot_target_index_slots, slots_new(LEAST_SLOTS));
	if (rcu_access_pointer(iot_target_index_buckets) &&
	    rcu_access_pointer(iot_target_index_slots))
		return 0;
	iot_target_index_exit();
	return -ENOMEM;
}

/** iot_target_index_exit() - free the tables, when no probe and no target is left */
void iot_target_index_exit(void)
{
	kvfree(rcu_dereference_protected(iot_target_index_slots, true));
	kvfree(rcu_dereference_protected(iot_target_index_buckets, true));
	ida_destroy(&slots);
}
