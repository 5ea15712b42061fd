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
 * struct iot_shard - what one CPU writes to
 * @open:	@ring for its writers, under RCU; the rings' @sink while there is none or while
 *		it is being emptied
 * @ring:	for readers; NULL if the CPU was not online since the rings were made, or if
 *		there was no memory for its ring
 * @shift:	sequence number of a record = its index in @ring + @shift
 * @passed:	events since the last one that sampling took
 */
struct iot_shard {
	struct iot_ring __rcu *open;
	struct iot_ring *ring;
	u64 shift;
	u32 passed;
};

/**
 * struct iot_rings_of - what all rings of a category have in common, whatever their size
 * @name:	of the category, for messages
 * @record_size: bytes
 * @sink:	small ring that nobody reads, for CPUs that have none: their events are seen
 *		and lost
 */
struct iot_rings_of {
	const char *name;
	size_t record_size;
	struct iot_ring *sink;
};

/**
 * struct iot_rings - the rings of a category
 * @refs:	held by the category and by every active reader. Rings are added at any time,
 *		and removed only if the category holds the only reference
 * @of:		see above
 * @keep:	records each ring keeps
 * @bytes:	of memory, charged to the budget
 */
struct iot_rings {
	refcount_t refs;
	const struct iot_rings_of *of;
	u64 keep;
	size_t bytes;
	struct iot_shard shard[];	/* nr_cpu_ids */
};

/** iot_shard_ring() - get a CPU's ring or NULL; it stays while a reader holds a reference */
static inline const struct iot_ring *iot_shard_ring(const struct iot_shard *shard)
{
	return smp_load_acquire(&shard->ring); /* before its contents */
}

/** iot_shard_window() - see iot_ring_window(); empty if there is no ring */
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
	unsigned int cpus;	/* that have a ring */
};

void iot_rings_count(const struct iot_rings *rings, struct iot_rings_stats *stats);

int iot_rings_init(void (*comes)(int cpu));
void iot_rings_exit(void);

#endif /* IOT_RINGS_H */
