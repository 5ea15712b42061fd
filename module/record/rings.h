/* SPDX-License-Identifier: GPL-2.0 */
/* The rings of a category: one for each CPU that is online. */
#ifndef IOT_RINGS_H
#define IOT_RINGS_H

#include <linux/compiler.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include "core/ring.h"

struct iot_why;

/**
 * struct iot_shard - the ring of one CPU, for its readers
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
 * struct iot_rings_of - what is the same for all rings of a category, of any size
 * @name:	name of the category, for messages
 * @record_size: bytes
 * @sink:	small ring that is never read, for CPUs that have no ring: it counts their events
 *		as seen and lost
 */
struct iot_rings_of {
	const char *name;
	size_t record_size;
	struct iot_ring *sink;
};

/**
 * struct iot_rings - the rings of a category
 * @refs:	held by the category and by every active reader. A ring may be added at any time,
 *		and is removed only while the category holds the only reference
 * @of:		see above
 * @keep:	records each ring keeps
 * @bytes:	bytes of memory, charged to the budget
 * @shard:	by CPU
 * @open:	by CPU, for its writers, under RCU: the ring of its shard, or @of->sink while it
 *		has none or its ring is being emptied
 */
struct iot_rings {
	refcount_t refs;
	const struct iot_rings_of *of;
	u64 keep;
	size_t bytes;
	struct iot_shard *shard;
	struct iot_ring __rcu *open[];
};

/** iot_shard_ring() - get a CPU's ring, or NULL; the ring stays while a reader holds a reference */
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

struct iot_rings *iot_rings_new(const struct iot_rings_of *of, u64 keep, size_t bytes);
void iot_rings_put(struct iot_rings *rings);
void iot_rings_continue(struct iot_rings *new, const struct iot_rings *old);
int iot_rings_refill(struct iot_rings *rings, u64 keep);
void iot_rings_reset(struct iot_rings *rings);
void iot_rings_add(struct iot_rings *rings, int cpu);
int iot_rings_refuse(const struct iot_rings_of *of, u64 keep, size_t bytes, struct iot_why *why);

/** struct iot_rings_stats - counts over all CPUs, since the rings were made or reset */
struct iot_rings_stats {
	u64 seen;
	u64 stored;
	u64 overwritten;
	u64 lost;
	unsigned int cpus;	/* CPUs that have a ring */
};

void iot_rings_count(const struct iot_rings *rings, struct iot_rings_stats *stats);

int iot_rings_init(void (*comes)(int cpu));
void iot_rings_exit(void);

#endif /* IOT_RINGS_H */
