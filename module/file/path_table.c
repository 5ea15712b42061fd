// SPDX-License-Identifier: GPL-2.0
/*
 * The table of paths: its entries, how they are looked up, and the memory they may take.
 *
 * Ids rise. An entry is owned by its slot in @slots, which is its id modulo their number. The
 * task that takes an entry out of its slot, under @slots_lock, removes it from its buckets and
 * frees it after an RCU grace period. So the table keeps the newest entries: a new one replaces
 * the oldest, and more of the oldest are evicted if they hold too much memory.
 *
 * Buckets are found by hashes that are keyed with secret numbers, and have at most
 * IOT_PATH_WAYS entries. An entry that has to leave its bucket keeps its slot: records that
 * name it can still be read, and the next event of its file makes another entry.
 *
 * Locks, in the order they are taken: one of the keys' bucket locks, one of the inodes',
 * @slots_lock. Each is held for a number of steps that does not depend on how much there is,
 * with interrupts off. None is taken in an interrupt, but the caller may hold a lock that is.
 * Lookups take no lock; they run under RCU.
 *
 * Memory is charged to paths_memory_limit and, like that of rings, to ring_memory_limit, until
 * RCU has freed it. Room is made when seven eighths are used, so that entries that wait for a
 * grace period do not keep a new one out. Texts that lead to no file may use at most a quarter
 * of that, because any process can look up names that do not exist. The kernel may reclaim the
 * memory by a shrinker.
 */
#include <linux/bitmap.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include "compat/shrinker.h"
#include "core/budget.h"
#include "core/param.h"
#include "hook/hook.h"
#include "hook/symbol.h"
#include "file/path_table.h"

struct iot_path_table iot_path_table __read_mostly;

static struct iot_path __rcu **slots;
static u64 nr_slots;			/* a power of two */
static bool is_open;			/* new entries are accepted */

#define NR_LOCKS	256

static raw_spinlock_t key_locks[NR_LOCKS];
static raw_spinlock_t inode_locks[NR_LOCKS];

/* Protects ids, slots and counts. */
static DEFINE_RAW_SPINLOCK(slots_lock);
static u64 last_id;
static u64 oldest_id = 1, oldest_name = 1;	/* nothing below is left to evict */
static u64 nr_resolved, nr_evicted, nr_entries;
static size_t entry_bytes, name_bytes;

static atomic_long_t charged;

/* Limits of one insertion: entries that it evicts, and slots that it looks at for each. */
#define EVICT_MAX	64
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
	return &key_locks[(head - iot_path_table.heads) % NR_LOCKS];
}

static raw_spinlock_t *inode_lock_of(const struct hlist_head *head)
{
	return &inode_locks[(head - iot_path_table.inode_heads) % NR_LOCKS];
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
 * its key until the entry is in both buckets.
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

/* Get the entry of a slot, if it has this id. Caller holds @slots_lock. */
static struct iot_path *slot_entry(u64 id)
{
	struct iot_path *e = rcu_dereference_protected(slots[id & (nr_slots - 1)],
						       lockdep_is_held(&slots_lock));

	return e && e->file.id == id ? e : NULL;
}

/* Caller holds @slots_lock, and must drop() the entry. */
static void take_out(struct iot_path *e)
{
	RCU_INIT_POINTER(slots[e->file.id & (nr_slots - 1)], NULL);
	count(e, -1);
}

/*
 * Evict the oldest entry, or the oldest text that led to no file, if it is found soon.
 * Return: false if there is nothing left to evict.
 */
static bool evict(bool name)
{
	u64 *next = name ? &oldest_name : &oldest_id;
	struct iot_path *e = NULL;
	unsigned long flags;
	unsigned int i;

	raw_spin_lock_irqsave(&slots_lock, flags);
	if (last_id >= nr_slots && *next <= last_id - nr_slots)
		*next = last_id - nr_slots + 1;
	for (i = 0; !e && i < LOOK_MAX && *next <= last_id; i++) {
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
	return e || i == LOOK_MAX;
}

/* Make room for an entry of about @bytes. */
static void make_room(const struct iot_path *like, size_t bytes)
{
	size_t most = iot_param_paths_memory_limit() / 8 * 7;
	unsigned int i = 0;

	if (is_name(like))
		while (READ_ONCE(name_bytes) + bytes > most / 4 && i++ < EVICT_MAX)
			if (!evict(true))
				break;
	while (READ_ONCE(entry_bytes) + bytes > most && i++ < EVICT_MAX)
		if (!evict(false))
			break;
}

static struct iot_path *new_entry(const struct iot_path *like, const char *text, gfp_t gfp)
{
	size_t size = sizeof(*like) + like->len + 1;
	struct iot_path *e;

	make_room(like, size);
	e = kmalloc(size, gfp | __GFP_NOWARN);
	if (!e)
		return NULL;
	if (!charge(ksize(e))) {
		kfree(e);
		/* if rings have taken the memory, paths have to give way */
		evict(false);
		return NULL;
	}
	*e = *like;
	INIT_HLIST_NODE(&e->node);
	INIT_HLIST_NODE(&e->inode_node);
	memcpy(e->text, text, e->len);
	e->text[e->len] = '\0';
	return e;
}

/* Find the same text of the same file. Under RCU or with the bucket's lock held. */
static struct iot_path *find_same(const struct iot_path *like, const char *text)
{
	struct iot_path *e;

	hlist_for_each_entry_rcu_notrace(e, head_of(&like->key), node)
		if (!memcmp(&e->key, &like->key, sizeof(e->key)) && e->len == like->len &&
		    e->inode == like->inode && e->generation == like->generation &&
		    e->file.ino == like->file.ino && e->file.dev == like->file.dev &&
		    !memcmp(e->text, text, e->len))
			return e;
	return NULL;
}

/*
 * Update an entry to what is known now. Stamp and print are each true of the text by itself, so
 * two tasks that store them at once do no harm.
 */
static void renew(struct iot_path *e, const struct iot_path *like)
{
	u64 stamp = like->stamp;

	if (stamp & IOT_PATH_STALE)
		return;
	if (!(READ_ONCE(e->stamp) & IOT_PATH_COARSE))
		stamp &= ~IOT_PATH_COARSE;
	if (like->print) {
		WRITE_ONCE(e->print, like->print);
		WRITE_ONCE(e->mounts, like->mounts);
	}
	if (READ_ONCE(e->stamp) != stamp)
		WRITE_ONCE(e->stamp, stamp);
}

/* Give an entry its id and its slot. Return: the slot's previous entry, to be dropped. */
static struct iot_path *settle(struct iot_path *e)
{
	struct iot_path __rcu **slot;
	struct iot_path *old;
	unsigned long flags;

	raw_spin_lock_irqsave(&slots_lock, flags);
	e->file.id = last_id + 1;
	slot = &slots[e->file.id & (nr_slots - 1)];
	old = rcu_dereference_protected(*slot, lockdep_is_held(&slots_lock));
	if (old) {
		count(old, -1);
		nr_evicted++;
	}
	count(e, 1);
	nr_resolved++;
	rcu_assign_pointer(*slot, e);
	smp_store_release(&last_id, e->file.id); /* a task that sees the id finds the entry */
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

/* Frees the entry if it is not needed. Return: the id, or 0 if the table is closed. */
static u64 insert(struct iot_path *e)
{
	struct hlist_head *head = head_of(&e->key);
	raw_spinlock_t *lock = key_lock(head);
	struct iot_path *known, *old = NULL;
	unsigned long flags;
	u64 id = 0;

	raw_spin_lock_irqsave(lock, flags);
	known = find_same(e, e->text);
	if (known) {
		renew(known, e);
		id = known->file.id;
	} else if (READ_ONCE(is_open)) {
		old = settle(e);
		id = e->file.id;
		if (e->inode)
			link_inode(e);
		make_way(head);
		hlist_add_head_rcu(&e->node, head);
	}
	raw_spin_unlock_irqrestore(lock, flags);
	if (known || !id)
		free_entry(e);
	if (old)
		drop(old);
	return id;
}

/**
 * iot_path_table_keep() - find the entry of a path, or make it
 * @like:	what the entry is to contain, except its id
 * @text:	its text, @like->len bytes
 *
 * Context: task; may sleep if @gfp allows it. Return: the id, or 0 if there is no memory or the
 * table is closed.
 */
u64 iot_path_table_keep(const struct iot_path *like, const char *text, gfp_t gfp)
{
	struct iot_path *e;
	u64 id = 0;

	preempt_disable_notrace();
	e = find_same(like, text);
	if (e) {
		renew(e, like);
		id = e->file.id;
	}
	preempt_enable_notrace();
	if (id || !READ_ONCE(is_open))
		return id;
	e = new_entry(like, text, gfp);
	return e ? insert(e) : 0;
}

/** iot_path_table_at() - get an entry by its id, or NULL. Context: under RCU */
const struct iot_path *iot_path_table_at(u64 id)
{
	const struct iot_path *e = rcu_dereference(slots[id & (nr_slots - 1)]);

	return e && e->file.id == id ? e : NULL;
}

/** iot_path_table_oldest() - get the range of ids that may be in use, up to @last */
u64 iot_path_table_oldest(u64 *last)
{
	*last = smp_load_acquire(&last_id); /* before the entries */
	return *last > nr_slots ? *last - nr_slots + 1 : 1;
}

/** iot_path_table_marks() - allocate marks, none set, for kvfree(). Return: NULL: no memory */
unsigned long *iot_path_table_marks(void)
{
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
 * What stays has no gaps, because readers of /proc/iotracer/paths count gaps as loss.
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
		raw_spin_lock_irqsave(&slots_lock, flags);
		e = slot_entry(id);
		if (e)
			take_out(e);
		raw_spin_unlock_irqrestore(&slots_lock, flags);
		if (e)
			drop(e);
	}
}

/** iot_path_table_stats() - get all counts except those of events */
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

/** iot_path_table_open() - start accepting entries */
void iot_path_table_open(void)
{
	WRITE_ONCE(is_open, true);
}

/** iot_path_table_close() - stop accepting entries. Context: task, sleeps */
void iot_path_table_close(void)
{
	WRITE_ONCE(is_open, false);
	synchronize_rcu(); /* insertions read @is_open with preemption off */
}

/** iot_path_table_is_open() - check whether entries are accepted */
bool iot_path_table_is_open(void)
{
	return READ_ONCE(is_open);
}

/*
 * The kernel wants memory. Context: any that may reclaim, including an allocation of ours, in
 * which none of our locks is held.
 */
static unsigned long shrink_count(struct shrinker *shrinker, struct shrink_control *sc)
{
	return READ_ONCE(nr_entries) ?: SHRINK_EMPTY;
}

static unsigned long shrink_scan(struct shrinker *shrinker, struct shrink_control *sc)
{
	u64 before = READ_ONCE(nr_evicted);
	unsigned long i;

	for (i = 0; i < sc->nr_to_scan && evict(false); i++)
		cond_resched();
	return i ? READ_ONCE(nr_evicted) - before : SHRINK_STOP;
}

static struct iot_shrinker shrinker = {
	.count = shrink_count,
	.scan = shrink_scan,
};

/* Odd, so that multiplying by it loses nothing. */
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

static int allocate(void)
{
	struct iot_path_table *t = &iot_path_table;

	nr_slots = roundup_pow_of_two(iot_param_paths_limit());
	t->shift = 64 - max(ilog2(nr_slots), 1);
	t->inode_shift = t->shift;
	slots = kvcalloc(nr_slots, sizeof(*slots), GFP_KERNEL);
	t->heads = kvcalloc(BIT_ULL(64 - t->shift), sizeof(*t->heads), GFP_KERNEL);
	t->inode_heads = kvcalloc(BIT_ULL(64 - t->inode_shift), sizeof(*t->inode_heads),
				  GFP_KERNEL);
	return slots && t->heads && t->inode_heads ? 0 : -ENOMEM;
}

static void release(void)
{
	kvfree(iot_path_table.inode_heads);
	kvfree(iot_path_table.heads);
	kvfree(slots);
}

/** iot_path_table_init() - set up the table at load, closed */
int iot_path_table_init(void)
{
	struct iot_path_table *t = &iot_path_table;
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(t->secret); i++)
		t->secret[i] = odd_secret();
	for (i = 0; i < NR_LOCKS; i++) {
		raw_spin_lock_init(&key_locks[i]);
		raw_spin_lock_init(&inode_locks[i]);
	}
	t->mounts = find_mounts();
	err = allocate();
	if (!err)
		err = iot_shrinker_register(&shrinker, "iotracer-paths");
	if (err)
		release();
	return err;
}

/** iot_path_table_exit() - free the table at unload, when no probe and no reader is left */
void iot_path_table_exit(void)
{
	u64 i;

	iot_shrinker_unregister(&shrinker);
	for (i = 0; i < nr_slots; i++)
		if (rcu_access_pointer(slots[i]))
			free_entry(rcu_dereference_protected(slots[i], true));
	rcu_barrier(); /* for free_fn() */
	release();
}
