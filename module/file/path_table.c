// SPDX-License-Identifier: GPL-2.0
/*
 * The table of paths: its entries, how they are looked up, and the memory they may take.
 *
 * Ids only grow. An entry is owned by its slot in @slots, which is its id modulo their number.
 * The task that takes an entry out of its slot, under @slots_lock, removes it from its buckets
 * and frees it after an RCU grace period. So the table keeps the newest entries: a new one
 * replaces the oldest, and more of the oldest are evicted if they hold too much memory.
 *
 * Buckets are found by hashes that are keyed with secret numbers, and have at most
 * IOT_PATH_WAYS entries. An entry that has to leave its bucket keeps its slot: records that
 * name it can still be read, and the next event of its file makes another entry.
 *
 * Locks, in the order they are taken: one of the keys' bucket locks, one of the inodes',
 * @slots_lock. Each is held for a bounded number of steps, with interrupts off. None is taken in
 * an interrupt, but the caller may hold a lock that is. Lookups take no lock; they run under
 * RCU.
 *
 * Buckets and slots exist from the first iot_path_table_open() until iot_path_table_release()
 * finds the table closed and empty. Entries come and go with preemption off, so a grace period
 * after that nobody is in the buckets to change them.
 *
 * Memory is charged to ring_memory_limit, like that of rings, and that of entries also to
 * paths_memory_limit, until RCU has freed it. Room is made when seven eighths of the latter are
 * used, so that entries that wait for a grace period do not keep a new one out. Texts that lead
 * to no file may use at most a quarter of that, because any process can look up names that do
 * not exist. The kernel may reclaim the memory of entries by a shrinker.
 */
#include <linux/bitmap.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>
#include "compat/shrinker.h"
#include "core/budget.h"
#include "core/param.h"
#include "core/refusal.h"
#include "hook/hook.h"
#include "hook/symbol.h"
#include "file/path_table.h"

/* In place of buckets while there are none. */
static struct iot_path_buckets no_buckets = {
	.shift = 63,
	.head = { HLIST_HEAD_INIT, HLIST_HEAD_INIT },
};

struct iot_path_table iot_path_table __read_mostly = {
	.keys = RCU_INITIALIZER(&no_buckets),
	.inodes = RCU_INITIALIZER(&no_buckets),
};

static struct iot_path __rcu * __rcu *slots;	/* NULL while there are none */
static u64 nr_slots;			/* a power of two */
static bool is_open;			/* new entries are accepted */

#define NR_LOCKS	256

static raw_spinlock_t key_locks[NR_LOCKS];
static raw_spinlock_t inode_locks[NR_LOCKS];

/* Protects ids, slots and counts. */
static DEFINE_RAW_SPINLOCK(slots_lock);
static u64 last_id;
static u64 oldest_id = 1, oldest_name = 1;	/* lower ids need not be searched to evict */
static u64 nr_resolved, nr_evicted, nr_entries;
static size_t entry_bytes, name_bytes;

static atomic_long_t charged;

/* Slots that one insertion searches to evict entries: bounded, as interrupts may be off. */
#define LOOK_MAX	64

static bool charge(size_t bytes)
{
	if (atomic_long_add_return(bytes, &charged) <= iot_param_paths_memory_limit() &&
	    iot_budget_try(bytes))
		return true;
	atomic_long_sub(bytes, &charged);
	return false;
}

static void uncharge(size_t bytes)
{
	atomic_long_sub(bytes, &charged);
	iot_budget_give(bytes);
}

static void free_entry(struct iot_path *e)
{
	uncharge(ksize(e));
	kfree(e);
}

/* Called by RCU; the module waits for these calls with rcu_barrier(). */
static void free_fn(struct rcu_head *head)
{
	free_entry(container_of(head, struct iot_path, rcu));
}

static bool is_name(const struct iot_path *e)
{
	return !e->key.dentry;
}

static struct hlist_head *head_of(const struct iot_path_key *key)
{
	return iot_path_head(key->dentry, key->mnt, key->hash_len);
}

static raw_spinlock_t *key_lock(const struct hlist_head *head)
{
	const struct iot_path_buckets *b = rcu_dereference_sched(iot_path_table.keys);

	return &key_locks[(head - b->head) % NR_LOCKS];
}

static raw_spinlock_t *inode_lock_of(const struct hlist_head *head)
{
	const struct iot_path_buckets *b = rcu_dereference_sched(iot_path_table.inodes);

	return &inode_locks[(head - b->head) % NR_LOCKS];
}

/* If a bucket is full, remove its last node. The bucket's lock is held. */
static void make_way(struct hlist_head *head)
{
	struct hlist_node *node, *last = NULL;
	unsigned int n = 0;

	hlist_for_each(node, head) {
		last = node;
		n++;
	}
	if (n >= IOT_PATH_WAYS)
		hlist_del_init_rcu(last);
}

static void unlink_node(struct hlist_node *node, raw_spinlock_t *lock)
{
	unsigned long flags;

	raw_spin_lock_irqsave(lock, flags);
	if (!hlist_unhashed(node))
		hlist_del_init_rcu(node);
	raw_spin_unlock_irqrestore(lock, flags);
}

/*
 * Free an entry that was taken out of its slot. The task that put it there holds the lock of
 * its key until the entry is in both buckets. Preemption has been off since it was taken out;
 * while it is, iot_path_table_release() leaves the buckets alone.
 */
static void drop(struct iot_path *e)
{
	unlink_node(&e->node, key_lock(head_of(&e->key)));
	if (e->inode)
		unlink_node(&e->inode_node, inode_lock_of(iot_path_inode_head(e->inode)));
	call_rcu(&e->rcu, free_fn);
}

/* Caller holds @slots_lock. */
static void count(const struct iot_path *e, int n)
{
	long bytes = n * (long)ksize(e);

	nr_entries += n;
	entry_bytes += bytes;
	if (is_name(e))
		name_bytes += bytes;
}

/* Get the slot of an id. Caller holds @slots_lock, and there are slots. */
static struct iot_path __rcu **slot_of(u64 id)
{
	return &rcu_dereference_protected(slots, lockdep_is_held(&slots_lock))[id & (nr_slots - 1)];
}

/* Get the entry of a slot, if it has this id. Caller holds @slots_lock. */
static struct iot_path *slot_entry(u64 id)
{
	struct iot_path *e;

	if (!rcu_access_pointer(slots))
		return NULL;
	e = rcu_dereference_protected(*slot_of(id), lockdep_is_held(&slots_lock));
	return e && e->file.id == id ? e : NULL;
}

/* Caller holds @slots_lock, and must drop() the entry. */
static void take_out(struct iot_path *e)
{
	RCU_INIT_POINTER(*slot_of(e->file.id), NULL);
	count(e, -1);
}

/*
 * Evict the oldest entry, or the oldest text that led to no file. @left is the number of slots
 * that may still be searched.
 * Return: false if there is nothing left to evict, or no slot may be searched any more.
 */
static bool evict(bool name, unsigned int *left)
{
	u64 *next = name ? &oldest_name : &oldest_id;
	struct iot_path *e = NULL;
	unsigned long flags;

	preempt_disable_notrace();
	raw_spin_lock_irqsave(&slots_lock, flags);
	if (last_id >= nr_slots && *next <= last_id - nr_slots)
		*next = last_id - nr_slots + 1;
	for (; !e && *left && *next <= last_id; --*left) {
		e = slot_entry((*next)++);
		if (e && name && !is_name(e))
			e = NULL;
	}
	if (e) {
		take_out(e);
		nr_evicted++;
	}
	raw_spin_unlock_irqrestore(&slots_lock, flags);
	if (e)
		drop(e);
	preempt_enable_notrace();
	return e;
}

/*
 * Make room for an entry of about @bytes, as far as @left slots allow. Each insertion takes one
 * slot and may search LOOK_MAX, so later insertions evict the rest.
 */
static void make_room(const struct iot_path *like, size_t bytes, unsigned int *left)
{
	size_t most = iot_param_paths_memory_limit() / 8 * 7;

	if (is_name(like))
		while (READ_ONCE(name_bytes) + bytes > most / 4)
			if (!evict(true, left))
				break;
	while (READ_ONCE(entry_bytes) + bytes > most)
		if (!evict(false, left))
			break;
}

/* Write the depths of the directories behind the text of an entry. */
static void put_depths(struct iot_path *e, const struct iot_below *below)
{
	u16 *depths = iot_path_depths(e);
	unsigned long bits = e->roots;
	unsigned int slot, n = 0;

	for_each_set_bit(slot, &bits, IOT_BELOW_MAX)
		depths[n++] = below->depth[slot];
}

static bool has_depths(const struct iot_path *e, const struct iot_below *below)
{
	const u16 *depths = iot_path_depths(e);
	unsigned long bits = e->roots;
	unsigned int slot, n = 0;

	for_each_set_bit(slot, &bits, IOT_BELOW_MAX)
		if (depths[n++] != below->depth[slot])
			return false;
	return true;
}

/*
 * Check whether an entry is below the same directories. A bit has the meaning that it had in the
 * epoch of the entry.
 */
static bool is_below_same(const struct iot_path *e, const struct iot_path *like,
			  const struct iot_below *below)
{
	if (likely(!e->roots && !like->roots))
		return true;
	return e->roots == like->roots && e->epoch == like->epoch && has_depths(e, below);
}

static struct iot_path *new_entry(const struct iot_path *like, const char *text,
				  const struct iot_below *below, gfp_t gfp)
{
	size_t size = sizeof(*like) + like->len + 1 + (hweight32(like->roots) + 1) * sizeof(u16);
	unsigned int left = LOOK_MAX;
	struct iot_path *e;

	make_room(like, size, &left);
	e = kmalloc(size, gfp | __GFP_NOWARN);
	if (!e)
		return NULL;
	if (!charge(ksize(e))) {
		kfree(e);
		/* if rings use the memory, paths are evicted */
		evict(false, &left);
		return NULL;
	}
	*e = *like;
	INIT_HLIST_NODE(&e->node);
	INIT_HLIST_NODE(&e->inode_node);
	memcpy(e->text, text, e->len);
	e->text[e->len] = '\0';
	put_depths(e, below);
	return e;
}

/* Find the same text of the same file. Under RCU or with the bucket's lock held. */
static struct iot_path *find_same(const struct iot_path *like, const char *text,
				  const struct iot_below *below)
{
	struct iot_path *e;

	hlist_for_each_entry_rcu_notrace(e, head_of(&like->key), node)
		if (!memcmp(&e->key, &like->key, sizeof(e->key)) && e->len == like->len &&
		    e->inode == like->inode && e->generation == like->generation &&
		    e->file.ino == like->file.ino && e->file.dev == like->file.dev &&
		    !memcmp(e->text, text, e->len) && is_below_same(e, like, below))
			return e;
	return NULL;
}

/* Check whether a directory was added since @like was resolved. Context: preemption off */
static bool is_outdated(const struct iot_path *like)
{
	return like->epoch != READ_ONCE(iot_below_now);
}

/*
 * Update an entry to what is known now. Stamp and print are each correct for the text, so it
 * does no harm if two tasks store them at once. Context: preemption off, as
 * iot_path_table_forget() waits for this.
 */
static void renew(struct iot_path *e, const struct iot_path *like)
{
	u64 stamp = like->stamp;

	if ((stamp & IOT_PATH_STALE) || is_outdated(like))
		return;
	if (!e->roots)
		WRITE_ONCE(e->epoch, like->epoch);
	if (!(READ_ONCE(e->stamp) & IOT_PATH_COARSE))
		stamp &= ~IOT_PATH_COARSE;
	if (like->print) {
		WRITE_ONCE(e->print, like->print);
		WRITE_ONCE(e->mounts, like->mounts);
	}
	if (READ_ONCE(e->stamp) != stamp)
		WRITE_ONCE(e->stamp, stamp);
}

/* Give an entry its id and slot. Return: the slot's previous entry, which the caller drops. */
static struct iot_path *settle(struct iot_path *e)
{
	struct iot_path __rcu **slot;
	struct iot_path *old;
	unsigned long flags;

	raw_spin_lock_irqsave(&slots_lock, flags);
	e->file.id = last_id + 1;
	slot = slot_of(e->file.id);
	old = rcu_dereference_protected(*slot, lockdep_is_held(&slots_lock));
	if (old) {
		count(old, -1);
		nr_evicted++;
	}
	count(e, 1);
	nr_resolved++;
	rcu_assign_pointer(*slot, e);
	smp_store_release(&last_id, e->file.id); /* a task that reads the new id finds the entry */
	raw_spin_unlock_irqrestore(&slots_lock, flags);
	return old;
}

static void link_inode(struct iot_path *e)
{
	struct hlist_head *head = iot_path_inode_head(e->inode);
	raw_spinlock_t *lock = inode_lock_of(head);
	unsigned long flags;

	raw_spin_lock_irqsave(lock, flags);
	make_way(head);
	hlist_add_head_rcu(&e->inode_node, head);
	raw_spin_unlock_irqrestore(lock, flags);
}

/* Let an entry be found by its id only. Its print goes first: without it, none makes it current. */
static void outdate(struct iot_path *e)
{
	WRITE_ONCE(e->print, 0);
	WRITE_ONCE(e->stamp, IOT_PATH_STALE);
}

/* Put an entry into its slot and its buckets. Return: the entry, or the one that is there. */
static const struct iot_path *link_entry(struct iot_path *e, const struct iot_below *below)
{
	struct hlist_head *head = head_of(&e->key);
	raw_spinlock_t *lock = key_lock(head);
	struct iot_path *known, *old = NULL;
	unsigned long flags;

	raw_spin_lock_irqsave(lock, flags);
	known = find_same(e, e->text, below);
	if (known) {
		renew(known, e);
	} else {
		if (is_outdated(e))
			outdate(e);
		old = settle(e);
		if (e->inode)
			link_inode(e);
		make_way(head);
		hlist_add_head_rcu(&e->node, head);
	}
	raw_spin_unlock_irqrestore(lock, flags);
	if (old)
		drop(old);
	return known ?: e;
}

/* Frees the entry if it is not needed. Return: the id, or 0 if the table is closed. */
static u64 insert(struct iot_path *e, const struct iot_below *below)
{
	const struct iot_path *kept = NULL;
	u64 id = 0;

	preempt_disable_notrace();
	/* before the buckets: then they are those of the table that was opened */
	if (smp_load_acquire(&is_open)) {
		kept = link_entry(e, below);
		id = kept->file.id;
	}
	preempt_enable_notrace();
	if (kept != e)
		free_entry(e);
	return id;
}

/**
 * iot_path_table_keep() - find the entry of a path, or make it
 * @like:	what the entry is to contain, except its id
 * @text:	its text, @like->len bytes
 * @below:	the directories that it is below; @roots and @epoch are in @like, too
 *
 * Context: task; may sleep if @gfp allows it. Return: the id, or 0 if there is no memory or the
 * table is closed.
 */
u64 iot_path_table_keep(const struct iot_path *like, const char *text,
			const struct iot_below *below, gfp_t gfp)
{
	struct iot_path *e;
	u64 id = 0;

	preempt_disable_notrace();
	e = find_same(like, text, below);
	if (e) {
		renew(e, like);
		id = e->file.id;
	}
	preempt_enable_notrace();
	if (id || !READ_ONCE(is_open))
		return id;
	e = new_entry(like, text, below, gfp);
	return e ? insert(e, below) : 0;
}

/** iot_path_table_at() - get an entry by its id, or NULL. Context: under RCU, or preemption off */
const struct iot_path *iot_path_table_at(u64 id)
{
	struct iot_path __rcu **all = rcu_dereference_check(slots, rcu_read_lock_sched_held());
	const struct iot_path *e = NULL;

	if (all)
		e = rcu_dereference_check(all[id & (nr_slots - 1)], rcu_read_lock_sched_held());

	return e && e->file.id == id ? e : NULL;
}

static void outdate_all(bool print_only)
{
	u64 last, id = iot_path_table_oldest(&last);
	struct iot_path *e;

	for (; id <= last; id++) {
		cond_resched();
		rcu_read_lock();
		e = (struct iot_path *)iot_path_table_at(id);
		if (e && READ_ONCE(e->epoch) != READ_ONCE(iot_below_now)) {
			WRITE_ONCE(e->print, 0);
			if (!print_only)
				outdate(e);
		}
		rcu_read_unlock();
	}
}

/**
 * iot_path_table_forget() - have all paths resolved again, after the epoch has changed
 *
 * A task that inserts an entry, or makes one current, does so with preemption off. After the
 * first wait, no task takes an entry of an older epoch for a new one, and none without a print is
 * made current any more. Records go on naming the old entries. Context: task, sleeps.
 */
void iot_path_table_forget(void)
{
	synchronize_rcu();
	outdate_all(true);
	synchronize_rcu();
	outdate_all(false);
}

/** iot_path_table_outdate() - as above, while the table is closed: there is nobody to wait for */
void iot_path_table_outdate(void)
{
	outdate_all(false);
}

/** iot_path_table_oldest() - get the range of ids that may be in use, up to @last */
u64 iot_path_table_oldest(u64 *last)
{
	*last = smp_load_acquire(&last_id); /* read the id before the entries */
	return *last > nr_slots ? *last - nr_slots + 1 : 1;
}

/**
 * iot_path_table_marks() - allocate empty marks for kvfree()
 *
 * Context: task, may sleep. Return: NULL if there is no table, or no memory.
 */
unsigned long *iot_path_table_marks(void)
{
	if (!rcu_access_pointer(slots))
		return NULL;
	return kvcalloc(BITS_TO_LONGS(nr_slots), sizeof(unsigned long), GFP_KERNEL);
}

/** iot_path_table_mark() - mark an entry as needed, if it exists. Context: task */
void iot_path_table_mark(unsigned long *marks, u64 id)
{
	rcu_read_lock();
	if (iot_path_table_at(id))
		__set_bit(id & (nr_slots - 1), marks);
	rcu_read_unlock();
}

/**
 * iot_path_table_sweep() - free the entries below id @end and below the first marked one
 *
 * The entries that stay have no gaps, because readers of /proc/iotracer/paths count gaps as
 * loss.
 *
 * Context: task, may sleep.
 */
void iot_path_table_sweep(const unsigned long *marks, u64 end)
{
	u64 last, id = iot_path_table_oldest(&last);
	struct iot_path *e;
	unsigned long flags;

	for (; id < end && id <= last; id++) {
		cond_resched();
		if (test_bit(id & (nr_slots - 1), marks))
			break;
		preempt_disable_notrace();
		raw_spin_lock_irqsave(&slots_lock, flags);
		e = slot_entry(id);
		if (e)
			take_out(e);
		raw_spin_unlock_irqrestore(&slots_lock, flags);
		if (e)
			drop(e);
		preempt_enable_notrace();
	}
}

/** iot_path_table_stats() - get all counts except @missed */
void iot_path_table_stats(struct iot_paths_stats *stats)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&slots_lock, flags);
	stats->entries = nr_entries;
	stats->resolved = nr_resolved;
	stats->evicted = nr_evicted;
	stats->bytes = entry_bytes;
	raw_spin_unlock_irqrestore(&slots_lock, flags);
}

/* Bytes of the buckets of keys or inodes: one allocation, in whole pages. */
static size_t buckets_size(void)
{
	struct iot_path_buckets *b;

	return PAGE_ALIGN(struct_size(b, head, max(nr_slots, 2ULL)));
}

static size_t slots_size(void)
{
	return PAGE_ALIGN(nr_slots * sizeof(struct iot_path *));
}

static size_t table_size(void)
{
	return 2 * buckets_size() + slots_size();
}

static struct iot_path_buckets *new_buckets(void)
{
	struct iot_path_buckets *b = vzalloc(buckets_size());

	if (b)
		b->shift = 64 - max(ilog2(nr_slots), 1);
	return b;
}

/* Allocate what is charged already. Return: false if there is no memory. */
static bool allocate(void)
{
	struct iot_path_buckets *keys = new_buckets(), *inodes = new_buckets();
	struct iot_path __rcu **new = vzalloc(slots_size());

	if (!keys || !inodes || !new) {
		vfree(new);
		vfree(inodes);
		vfree(keys);
		return false;
	}
	rcu_assign_pointer(slots, new);
	rcu_assign_pointer(iot_path_table.keys, keys);
	rcu_assign_pointer(iot_path_table.inodes, inodes);
	return true;
}

/* Allocate the table, unless there is no room for any entry. Return: false if there is none. */
static bool need_table(void)
{
	size_t bytes = table_size();
	struct iot_why why = {};

	if (rcu_access_pointer(slots))
		return true;
	if (!iot_param_paths_memory_limit() ||
	    !iot_budget_take(bytes, "events have no paths: a table of paths (paths_limit)", &why))
		return false;
	if (allocate())
		return true;
	iot_budget_give(bytes);
	return false;
}

/**
 * iot_path_table_open() - start accepting entries, if there is memory for the table
 *
 * Does nothing if it is open. Context: task, may sleep; the caller serialises this and what
 * follows.
 */
void iot_path_table_open(void)
{
	if (need_table())
		smp_store_release(&is_open, true); /* after the buckets */
}

/** iot_path_table_close() - stop accepting entries. Context: task, sleeps */
void iot_path_table_close(void)
{
	WRITE_ONCE(is_open, false);
	synchronize_rcu(); /* insertions read @is_open with preemption off */
}

/* Free buckets and slots, which have no entry. */
static void free_table(void)
{
	struct iot_path_buckets *keys = rcu_dereference_protected(iot_path_table.keys, true);
	struct iot_path_buckets *inodes = rcu_dereference_protected(iot_path_table.inodes, true);
	struct iot_path __rcu **old = rcu_dereference_protected(slots, true);
	unsigned long flags;

	rcu_assign_pointer(iot_path_table.keys, &no_buckets);
	rcu_assign_pointer(iot_path_table.inodes, &no_buckets);
	raw_spin_lock_irqsave(&slots_lock, flags);
	RCU_INIT_POINTER(slots, NULL);
	raw_spin_unlock_irqrestore(&slots_lock, flags);
	synchronize_rcu(); /* the last lookup has left them */
	vfree(old);
	vfree(inodes);
	vfree(keys);
	iot_budget_give(table_size());
}

/**
 * iot_path_table_release() - free the memory of a table that is closed, if no entry is left
 *
 * Context: task, sleeps.
 */
void iot_path_table_release(void)
{
	struct iot_paths_stats stats;

	iot_path_table_stats(&stats);
	if (stats.entries || !rcu_access_pointer(slots))
		return;
	synchronize_rcu(); /* the tasks that took the last entries out have dropped them */
	free_table();
}

/*
 * The kernel reclaims memory. Context: any that may reclaim, including our own allocations; none
 * of our locks is held.
 */
static unsigned long shrink_count(struct shrinker *shrinker, struct shrink_control *sc)
{
	return READ_ONCE(nr_entries) ?: SHRINK_EMPTY;
}

static unsigned long shrink_scan(struct shrinker *shrinker, struct shrink_control *sc)
{
	u64 before = READ_ONCE(nr_evicted);
	unsigned int left = LOOK_MAX;
	unsigned long i;

	/* LOOK_MAX slots may all be empty, as texts without files were evicted from them */
	for (i = 0; i < sc->nr_to_scan && (evict(false, &left) || !left); i++) {
		left = LOOK_MAX;
		cond_resched();
	}
	return i ? READ_ONCE(nr_evicted) - before : SHRINK_STOP;
}

static struct iot_shrinker shrinker = {
	.count = shrink_count,
	.scan = shrink_scan,
};

/* An odd secret, as multiplying by an odd number loses no bits. */
static u64 odd_secret(void)
{
	return get_random_u64() | 1;
}

/* Find the count of the kernel's mount_lock (fs/namespace.c). Return: a constant 0 if not found. */
static const unsigned int *find_mounts(void)
{
	static const unsigned int never;
	const seqlock_t *lock = (const seqlock_t *)iot_symbol_data("mount_lock");

	return lock ? &lock->seqcount.seqcount.sequence : &never;
}

/** iot_path_table_init() - set up the table at load, closed */
int iot_path_table_init(void)
{
	struct iot_path_table *t = &iot_path_table;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(t->secret); i++)
		t->secret[i] = odd_secret();
	for (i = 0; i < NR_LOCKS; i++) {
		raw_spin_lock_init(&key_locks[i]);
		raw_spin_lock_init(&inode_locks[i]);
	}
	t->mounts = find_mounts();
	nr_slots = roundup_pow_of_two(iot_param_paths_limit());
	return iot_shrinker_register(&shrinker, "iotracer-paths");
}

/** iot_path_table_exit() - free the table at unload, when no probe and no reader is left */
void iot_path_table_exit(void)
{
	struct iot_path __rcu **all = rcu_dereference_protected(slots, true);
	u64 i;

	iot_shrinker_unregister(&shrinker);
	for (i = 0; all && i < nr_slots; i++)
		if (rcu_access_pointer(all[i]))
			free_entry(rcu_dereference_protected(all[i], true));
	rcu_barrier(); /* for free_fn() */
	if (all)
		free_table();
}
