/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Objects in flight, found by an address: requests, or calls that will be retried.
 *
 * Which hash table of the module is for what:
 *
 * This one, for what a program without privileges can make any number of. Probes make, find and end
 * the objects, in any context. Its memory is fixed, a search is short, and no CPU waits: the owner
 * of a slot holds it (table.c). When there is no slot an object is displaced, and the file that has
 * the table counts what that costs. There is one for
 *
 *	requests		probe/block.c, uring.c (core/second_key.c finds them by user_data,
 *				too), vfs_async.c, vfs_iter.c
 *	calls of a task		probe/fs_inside.c
 *	retries of a task	probe/fault.c, cache.c (those of requests, too)
 *	open files		probe/fs_opened.c
 *	sockets, their sends	probe/socket_owner.c, net_zerocopy.c
 *
 * Tables of fixed size, also written by probes without a lock, but with other rules:
 *
 *	file/direct.c		the call that a task is in, by task. The call frees its slot itself:
 *				none is displaced, and a call that finds no slot is missed
 *	file/originator.c	who made a page dirty, by page; threads, by id. A newer entry
 *				overwrites an older one, as there are more pages than slots
 *	probe/drop.c		names of addresses in the kernel: a cache for each CPU
 *
 * Tables of what lives longer. Probes read them under RCU; changes take a lock:
 *
 *	file/path_table.c	paths, by dentry and mount, and by inode. Probes add to it, under
 *				spinlocks of its buckets; limits decide when the oldest are freed
 *	file/watch.c		names that paths of targets are made of, by directory; names_lock.
 *				The last watch of a name frees it
 *	record/target_index.c	files of running targets, by inode number, by id; tables_lock.
 *				They are a part of those in proc/target_file.c
 *	hook/engine.c		functions with an ftrace handler, by the address of their entry.
 *				The sets and hooks own them
 *
 * Tables of what commands name. No probe reads them; they are rhashtables:
 *
 *	proc/target_file.c	files of all targets, running or not, by inode number; under the
 *				lock of targets, like the next
 *	proc/target_path.c	the paths that targets were added by
 *	proc/entry_name.c	names that entries of /proc/iotracer have; each gives its own back
 */
#ifndef IOT_TABLE_H
#define IOT_TABLE_H

#include <linux/atomic.h>
#include <linux/stddef.h>
#include <linux/types.h>

#define IOT_TABLE_PROBES	8	/* slots that a key may be in */
#define IOT_TABLE_SLOTS(bits)	((1U << (bits)) + IOT_TABLE_PROBES - 1)

/**
 * struct iot_table - a table; static, for the life of the module
 * @size:	bytes of an object, a multiple of 8
 * @time:	offset of the u64 with the object's start time; @time, @uid and @pid determine
 *		which object is displaced if there is no slot
 * @uid:	offset of the u32 with the object's user
 * @pid:	offset of the u32 with the object's process
 * @bits:	bits of the hash
 * @shift:	64 - @bits
 * @used_mask:	bits of the hash that select a counter in @used: all of them, or none
 * @gone:	called for a held object that ends without iot_table_drop(). @displaced is
 *		true if another object needs its slot. Otherwise the object is stale: its key
 *		belongs to another object now. Context: as for iot_table_new(). May be NULL
 * @slots:	the slots, static or from the first iot_table_begin() to iot_table_free()
 * @used:	number of slots in use, by the bits of the hash in @used_mask; most searches
 *		end there, at 0
 */
struct iot_table {
	size_t size;
	u16 time;
	u16 uid;
	u16 pid;
	u8 bits;
	u8 shift;
	u32 used_mask;
	void (*gone)(void *thing, bool displaced);
	void *slots;
	atomic_t *used;
};

/* IOT_TABLE_OF() - initialize a table of objects of @type with these fields */
#define IOT_TABLE_OF(type, time_field, uid_field, pid_field)			\
	.size = sizeof(type),							\
	.time = offsetof(type, time_field),					\
	.uid = offsetof(type, uid_field),					\
	.pid = offsetof(type, pid_field)

/* IOT_TABLE_STORE() - define static memory of a small table; needs no iot_table_begin() */
#define IOT_TABLE_STORE(name, type, nr_bits)					\
	static struct { unsigned long key; type thing; }			\
		name##_slots[IOT_TABLE_SLOTS(nr_bits)];			\
	static atomic_t name##_used
#define IOT_TABLE_STORED(name, nr_bits)						\
	.bits = (nr_bits),							\
	.shift = 64 - (nr_bits),						\
	.slots = name##_slots,						\
	.used = &name##_used

/* IOT_TABLE_BEGUN() - initialize a large table, with a counter per hash; needs iot_table_begin() */
#define IOT_TABLE_BEGUN(nr_bits)						\
	.bits = (nr_bits),							\
	.shift = 64 - (nr_bits),						\
	.used_mask = (1U << (nr_bits)) - 1

void iot_table_init(void);

int iot_table_begin(struct iot_table *t);
void iot_table_clear(struct iot_table *t);
void iot_table_free(struct iot_table *t);

void *iot_table_new_slow(struct iot_table *t, u32 hash, unsigned long key);
void *iot_table_take_used(struct iot_table *t, u32 hash, unsigned long key);
void *iot_table_take_at(struct iot_table *t, void *thing);
void *iot_table_rename(struct iot_table *t, void *thing, const void *key);

extern u64 iot_table_secret;
extern u64 iot_table_secret2;

/*
 * iot_table_mix() - hash a key to 64 bits, of which the upper ones are to be used
 *
 * Objects of one slab are at equal distances, and so are their products with one number: with
 * some numbers they would be in few slots. Hence the second product.
 */
static __always_inline u64 iot_table_mix(u64 key)
{
	key *= iot_table_secret;
	return (key ^ key >> 32) * iot_table_secret2;
}

/* iot_table_hash() - hash a key; userspace cannot predict which keys collide. Context: any */
static __always_inline u32 iot_table_hash(unsigned long key, unsigned int bits)
{
	return iot_table_mix(key) >> (64 - bits);
}

/* iot_table_pair() - hash two words to 64 bits, in the same unpredictable way. Context: any */
static __always_inline u64 iot_table_pair(u64 first, u64 second)
{
	return first * iot_table_secret + second * iot_table_secret2;
}

#define IOT_TABLE_HELD	1UL	/* set in the key of a held object */

/**
 * struct iot_table_slot - a slot of a table
 * @key:	address and state of the object, see table.c
 * @thing:	the object, iot_table.size bytes
 */
struct iot_table_slot {
	unsigned long key;
	u8 thing[] __aligned(sizeof(u64));
};

static __always_inline struct iot_table_slot *iot_table_slot_of(void *thing)
{
	return thing - offsetof(struct iot_table_slot, thing);
}

static __always_inline u32 iot_table_hash_of(const struct iot_table *t, unsigned long key)
{
	return iot_table_mix(key) >> t->shift;
}

/** iot_table_may_have() - check whether an object may have @key, held or not. Context: any */
static __always_inline bool iot_table_may_have(const struct iot_table *t, const void *key)
{
	return atomic_read(&t->used[iot_table_hash_of(t, (unsigned long)key) & t->used_mask]);
}

/**
 * iot_table_new() - create an object for @key
 *
 * The caller fills all of the object, then calls iot_table_keep(). Context: any; not concurrently
 * for the same key. Return: the object, held, with the content that the slot had before; or NULL
 * if all slots of the key are held just now.
 */
static __always_inline void *iot_table_new(struct iot_table *t, const void *key)
{
	unsigned long k = (unsigned long)key;
	u32 hash = iot_table_hash_of(t, k);
	atomic_t *used = &t->used[hash & t->used_mask];
	struct iot_table_slot *slot = t->slots + hash * (sizeof(*slot) + t->size);

	/* a counter of 0: no object has the key */
	if (likely(!atomic_read(used) && !READ_ONCE(slot->key) &&
		   !cmpxchg(&slot->key, 0, k | IOT_TABLE_HELD))) {
		atomic_inc(used);
		return slot->thing;
	}
	return iot_table_new_slow(t, hash, k);
}

/**
 * iot_table_take() - find the object with @key and hold it
 *
 * The caller ends with iot_table_keep() or iot_table_drop(). Context: any; preemption is off
 * until then, as a held object cannot be displaced. Return: the object or NULL.
 */
static __always_inline void *iot_table_take(struct iot_table *t, const void *key)
{
	unsigned long k = (unsigned long)key;
	u32 hash = iot_table_hash_of(t, k);
	struct iot_table_slot *slot;

	if (!atomic_read(&t->used[hash & t->used_mask]))
		return NULL;
	slot = t->slots + hash * (sizeof(*slot) + t->size); /* the key's first slot */
	if (likely(READ_ONCE(slot->key) == k &&
		   cmpxchg(&slot->key, k, k | IOT_TABLE_HELD) == k))
		return slot->thing;
	return iot_table_take_used(t, hash, k);
}

/** iot_table_keep() - make a held object findable, for the first time or again. Context: any */
static __always_inline void iot_table_keep(void *thing)
{
	struct iot_table_slot *slot = iot_table_slot_of(thing);

	/* the object's fields are written first */
	smp_store_release(&slot->key, slot->key & ~IOT_TABLE_HELD);
}

/** iot_table_drop() - end a held object and free its slot. Context: any */
static __always_inline void iot_table_drop(struct iot_table *t, void *thing)
{
	struct iot_table_slot *slot = iot_table_slot_of(thing);
	u32 hash = iot_table_hash_of(t, slot->key & ~IOT_TABLE_HELD);

	smp_store_release(&slot->key, 0); /* the object's fields are no longer used */
	atomic_dec(&t->used[hash & t->used_mask]);
}

/** iot_table_index() - get an object's index: its offset in words of 8 bytes. Context: any */
static __always_inline u32 iot_table_index(const struct iot_table *t, const void *thing)
{
	return (thing - t->slots) / sizeof(u64);
}

/** iot_table_at() - get the object at an index now, which may be another one. Context: any */
static __always_inline void *iot_table_at(const struct iot_table *t, u32 number)
{
	return t->slots + number * sizeof(u64);
}

/** iot_table_is_empty() - check whether a table with one counter is empty. Context: any */
static __always_inline bool iot_table_is_empty(const struct iot_table *t)
{
	return !atomic_read(t->used);
}

#endif /* IOT_TABLE_H */
