// SPDX-License-Identifier: GPL-2.0
/*
 * The running targets, as probes look them up.
 *
 * Probes look an inode up in two steps. A clear bit of iot_running_filter shows that no running
 * target has this inode's hash. That is all that other files cost; with 10,000 targets it still
 * stops 98 of 100 untraced files. Otherwise the running targets of a bucket are compared. The
 * filter is static, so it needs no RCU. If there are more targets than buckets, the table of
 * buckets is replaced by one of twice the size. A target has two nodes, so it can be in both. A
 * third table, which grows in the same way, leads from an id to its target.
 *
 * A probe uses a target only while preemption is off. A call that may sleep keeps the target's
 * id and looks it up again when it returns.
 */
#include <linux/idr.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include "record/running.h"

unsigned long iot_running_filter[BITS_TO_LONGS(BIT(IOT_RUNNING_FILTER_BITS))];
unsigned int iot_running_count;
u64 iot_running_secret;
struct iot_running_buckets __rcu *iot_running_buckets;
struct iot_running_slots __rcu *iot_running_slots;
struct hlist_head iot_running_devices;

/* Protects changes of the tables above; leaf lock. */
static DEFINE_MUTEX(tables_lock);

#define LEAST_BUCKET_BITS 14
#define MOST_BUCKET_BITS 24
#define LEAST_SLOTS 1024
#define MOST_SLOTS BIT(24)

static u64 last_serial;
static DEFINE_IDA(slots);	/* of targets, running or not */

/* Caller holds tables_lock. */
static struct iot_running_buckets *buckets_of(void)
{
	return rcu_dereference_protected(iot_running_buckets, lockdep_is_held(&tables_lock));
}

static struct iot_running_buckets *buckets_new(unsigned int bits, unsigned int version)
{
	struct iot_running_buckets *b;

	b = kvzalloc(struct_size(b, bucket, BIT(bits)), GFP_KERNEL | __GFP_NOWARN);
	if (b) {
		b->shift = 64 - bits;
		b->target = -(long)(offsetof(struct iot_running, node) +
				    version * sizeof(struct hlist_node));
	}
	return b;
}

static struct hlist_node *node_of(const struct iot_running_buckets *b, struct iot_running *t)
{
	return (void *)t - b->target;
}

static void buckets_add(struct iot_running_buckets *b, struct iot_running *t)
{
	u64 nr = iot_running_hash(t->key.ino) >> b->shift;

	hlist_add_head_rcu(node_of(b, t), &b->bucket[nr]);
}

static void buckets_copy(struct iot_running_buckets *new, const struct iot_running_buckets *old)
{
	u64 nr, nr_old = BIT_ULL(64 - old->shift);
	struct hlist_node *n;

	for (nr = 0; nr < nr_old; nr++) {
		hlist_for_each(n, &old->bucket[nr])
			buckets_add(new, (void *)n + old->target);
		cond_resched();
	}
}

/*
 * Grow the table if there are fewer buckets than targets. If there is no memory, chains get
 * longer. After the wait the nodes that the old table used are free for the next one.
 */
static void buckets_grow(void)
{
	struct iot_running_buckets *new, *old = buckets_of();
	unsigned int bits = 64 - old->shift;

	if (iot_running_count < BIT(bits) || bits == MOST_BUCKET_BITS)
		return;
	new = buckets_new(bits + 1, old->target == -(long)offsetof(struct iot_running, node));
	if (!new)
		return;
	buckets_copy(new, old);
	rcu_assign_pointer(iot_running_buckets, new);
	synchronize_rcu(); /* the last probe has left the old table */
	kvfree(old);
}

static struct iot_running_slots *slots_new(unsigned int nr)
{
	struct iot_running_slots *p = kvzalloc(struct_size(p, target, nr), GFP_KERNEL);

	if (p)
		p->nr = nr;
	return p;
}

static struct iot_running_slots *slots_of(void)
{
	return rcu_dereference_protected(iot_running_slots, lockdep_is_held(&tables_lock));
}

static unsigned int slot_of(const struct iot_running *t)
{
	return (u32)t->id;
}

static void slots_put(struct iot_running *t, struct iot_running *now)
{
	rcu_assign_pointer(slots_of()->target[slot_of(t)], now);
}

/* Make the table large enough for a slot, before a target with that slot is published. */
static int slots_reach(unsigned int slot)
{
	struct iot_running_slots *new, *old;
	int err = 0;

	mutex_lock(&tables_lock);
	old = slots_of();
	if (slot < old->nr)
		goto unlock;
	err = -ENOMEM;
	new = slots_new(roundup_pow_of_two(slot + 1));
	if (!new)
		goto unlock;
	memcpy(new->target, old->target, old->nr * sizeof(*old->target));
	rcu_assign_pointer(iot_running_slots, new);
	synchronize_rcu(); /* the last probe has left the old table */
	kvfree(old);
	err = 0;
unlock:
	mutex_unlock(&tables_lock);
	return err;
}

/**
 * iot_running_id_get() - give a target an id that was never used before, and its slot
 *
 * Context: task, may sleep; one caller at a time. Return: 0 or -ENOMEM.
 */
int iot_running_id_get(struct iot_running *t)
{
	int slot = ida_alloc_max(&slots, MOST_SLOTS - 1, GFP_KERNEL);

	if (slot < 0)
		return -ENOMEM;
	if (slots_reach(slot)) {
		ida_free(&slots, slot);
		return -ENOMEM;
	}
	t->id = ++last_serial << IOT_RUNNING_SLOT_BITS | slot;
	return 0;
}

/** iot_running_id_put() - release the slot of a target. Context: any */
void iot_running_id_put(struct iot_running *t)
{
	ida_free(&slots, slot_of(t));
}

static u64 filter_bit(u64 hash)
{
	return hash >> (64 - IOT_RUNNING_FILTER_BITS);
}

/* Check whether another running target needs the bit of @hash in the filter. */
static bool filter_shared(const struct iot_running *t, u64 hash)
{
	u64 bit = filter_bit(hash);
	u64 from = bit << (64 - IOT_RUNNING_FILTER_BITS);
	u64 to = from | (BIT_ULL(64 - IOT_RUNNING_FILTER_BITS) - 1);
	const struct iot_running_buckets *b = buckets_of();
	struct iot_running *other;
	struct hlist_node *n;
	u64 nr;

	for (nr = from >> b->shift; nr <= to >> b->shift; nr++) {
		hlist_for_each(n, &b->bucket[nr]) {
			other = (void *)n + b->target;
			if (other != t && filter_bit(iot_running_hash(other->key.ino)) == bit)
				return true;
		}
	}
	return false;
}

/**
 * iot_running_publish() - make a target visible to probes
 *
 * Context: task, may sleep: a table that is too small is replaced.
 */
void iot_running_publish(struct iot_running *t)
{
	mutex_lock(&tables_lock);
	buckets_grow();
	slots_put(t, t); /* before probes can find it, and take its id */
	buckets_add(buckets_of(), t);
	if (t->device)
		hlist_add_head_rcu(&t->device_node, &iot_running_devices);
	set_bit(filter_bit(iot_running_hash(t->key.ino)), iot_running_filter);
	WRITE_ONCE(iot_running_count, iot_running_count + 1);
	mutex_unlock(&tables_lock);
}

/**
 * iot_running_unpublish() - hide a target from probes
 *
 * Probes that have found it use it until an RCU grace period is over. Context: task.
 */
void iot_running_unpublish(struct iot_running *t)
{
	u64 hash = iot_running_hash(t->key.ino);

	mutex_lock(&tables_lock);
	if (!filter_shared(t, hash))
		clear_bit(filter_bit(hash), iot_running_filter);
	slots_put(t, NULL);
	hlist_del_rcu(node_of(buckets_of(), t));
	if (t->device)
		hlist_del_rcu(&t->device_node);
	WRITE_ONCE(iot_running_count, iot_running_count - 1);
	mutex_unlock(&tables_lock);
}

/** iot_running_chains() - get the longest search for a target. Context: task */
void iot_running_chains(struct iot_running_chains *chains)
{
	const struct iot_running_buckets *b;
	struct hlist_node *n;
	u64 nr;

	mutex_lock(&tables_lock);
	b = buckets_of();
	chains->running = iot_running_count;
	chains->buckets = BIT_ULL(64 - b->shift);
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

/** iot_running_init() - allocate the tables at load. Return: 0 or -ENOMEM */
int iot_running_init(void)
{
	iot_running_secret = get_random_u64() | 1;
	RCU_INIT_POINTER(iot_running_buckets, buckets_new(LEAST_BUCKET_BITS, 0));
	RCU_INIT_POINTER(iot_running_slots, slots_new(LEAST_SLOTS));
	if (rcu_access_pointer(iot_running_buckets) && rcu_access_pointer(iot_running_slots))
		return 0;
	iot_running_exit();
	return -ENOMEM;
}

/** iot_running_exit() - free the tables, when no probe and no target is left */
void iot_running_exit(void)
{
	kvfree(rcu_dereference_protected(iot_running_slots, true));
	kvfree(rcu_dereference_protected(iot_running_buckets, true));
	ida_destroy(&slots);
}
