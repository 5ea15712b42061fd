/* SPDX-License-Identifier: GPL-2.0 */
/* The rings of a log: one, or one for each CPU that is online. */
#ifndef IOT_RINGS_H
#define IOT_RINGS_H

#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include "core/ring.h"

struct iot_why;

/* The largest record, in words. */
#define IOT_RECORD_WORDS_MAX	40

/**
 * struct iot_shard - one ring, for its readers
 * @ring:	NULL if there was no memory, or the CPU was not online since the rings were made
 * @shift:	sequence number of a record = its index in @ring + @shift
 * @passed:	events since the last one that sampling took
 */
struct iot_shard {
	struct iot_ring *ring;
	u64 shift;
	u32 passed;
};

/**
 * struct iot_rings_of - what is the same for all rings of a log, of any size
 * @name:	what the log is called in messages
 * @size:	what the number of records is called there
 * @record_size: bytes
 * @by_cpu:	there is a ring for each CPU, and no other log has the same @sink
 * @class_of:	gets the class of a record (core/ring.h); NULL if all are of class 0
 * @sink:	small ring that is never read. Writers use it while a ring is being emptied; with
 *		@by_cpu also on a CPU that has no ring: its events count as seen and lost
 */
struct iot_rings_of {
	const char *name;
	const char *size;
	size_t record_size;
	bool by_cpu;
	unsigned int (*class_of)(const void *record);
	struct iot_ring *sink;
};

/**
 * struct iot_rings - the rings of a log
 * @refs:	held by the log and by every active reader. A ring may be added at any time, and is
 *		removed only while the log holds the only reference
 * @of:		see above
 * @nr:		number of shards
 * @keep:	records each ring keeps
 * @bytes:	bytes of memory, charged to the budget
 * @shard:	by CPU, or the only one
 * @single:	where the writers of the only ring find it; NULL if there is one for each CPU
 * @open:	by CPU, for its writers, under RCU: the ring of its shard, or @of->sink while it
 *		has none or its ring is being emptied
 */
struct iot_rings {
	refcount_t refs;
	const struct iot_rings_of *of;
	unsigned int nr;
	u64 keep;
	size_t bytes;
	struct iot_shard *shard;
	struct iot_ring __rcu **single;
	struct iot_ring __rcu *open[];
};

/** iot_rings_nr() - get the number of rings that a log may have: possible CPUs, or one */
static inline unsigned int iot_rings_nr(const struct iot_rings_of *of)
{
	return of->by_cpu ? nr_cpu_ids : 1;
}

/** iot_shard_ring() - get the ring of a shard, or NULL; it stays while a reader has a reference */
static inline const struct iot_ring *iot_shard_ring(const struct iot_shard *shard)
{
	return smp_load_acquire(&shard->ring); /* read the pointer before the contents */
}

/** iot_shard_window() - do iot_ring_window(); the window is empty if there is no ring */
static inline u64 iot_shard_window(const struct iot_shard *shard, u64 *end)
{
	const struct iot_ring *ring = iot_shard_ring(shard);

	*end = 0;
	return ring ? iot_ring_window(ring, end) : 0;
}

void iot_rings_lock_cpus(void);
void iot_rings_unlock_cpus(void);
unsigned int iot_rings_cpus(void);
size_t iot_rings_size(const struct iot_rings_of *of, u64 keep);

struct iot_rings *iot_rings_new(const struct iot_rings_of *of, struct iot_ring __rcu **single,
				u64 keep, u64 first, size_t bytes);
struct iot_ring *iot_rings_sink(size_t record_size);
void iot_rings_put(struct iot_rings *rings);
void iot_rings_publish(struct iot_rings *rings);
void iot_rings_continue(struct iot_rings *new, const struct iot_rings *old);
void iot_rings_carry(struct iot_rings *new, const struct iot_rings *old);
int iot_rings_refill(struct iot_rings *rings, u64 keep);
void iot_rings_reset(struct iot_rings *rings);
void iot_rings_add(struct iot_rings *rings, int cpu);
int iot_rings_refuse(const struct iot_rings_of *of, u64 keep, size_t bytes, struct iot_why *why);

/** struct iot_counts - events since the rings were made or reset */
struct iot_counts {
	u64 seen;
	u64 stored;
	u64 overwritten;
	u64 lost;
};

/**
 * struct iot_rings_stats - counts over all rings
 * @by_class:	by class of record (core/ring.h). In a category class 1 is what mode discard
 *		refused; in a target it is IOT_LEVEL_BLK
 * @all:	their sums
 * @cpus:	CPUs that have a ring
 */
struct iot_rings_stats {
	struct iot_counts by_class[IOT_RING_CLASSES];
	struct iot_counts all;
	unsigned int cpus;
};

void iot_rings_count(const struct iot_rings *rings, struct iot_rings_stats *stats);

int iot_rings_init(void (*comes)(int cpu));
void iot_rings_exit(void);

#endif /* IOT_RINGS_H */
