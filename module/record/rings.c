// SPDX-License-Identifier: GPL-2.0
/*
 * The rings of a category: one for each CPU that is online.
 *
 * Writers are in a ring with preemption off. A task that empties or replaces rings closes them
 * and waits for an RCU grace period. Readers hold a reference, and may sleep.
 *
 * A CPU that comes online gets its ring before it runs anything. If there is no memory it gets
 * none, and its events are counted as seen and lost until the next reset or size. The ring of a
 * CPU that goes offline stays, with its records, until then.
 *
 * All of these run in task context and may sleep, under the lock of the category.
 */
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "core/budget.h"
#include "core/refusal.h"
#include "record/rings.h"

/*
 * CPUs that are online or about to be. A CPU is set here before its ring is added to the
 * categories, under their locks one after the other. So a task that makes rings under such a
 * lock sees the CPU, or the ring of the CPU is added later. Hotplug holds its own lock
 * meanwhile, so that lock must not be taken inside these.
 */
static struct cpumask cpus;
static DEFINE_MUTEX(cpus_lock);	/* protects @cpus; taken inside a category's lock */
static int cpus_state;
static void (*cpu_is_coming)(int cpu);

/** iot_rings_lock_cpus() - keep the set of CPUs with rings until iot_rings_unlock_cpus() */
void iot_rings_lock_cpus(void)
{
	mutex_lock(&cpus_lock);
}

void iot_rings_unlock_cpus(void)
{
	mutex_unlock(&cpus_lock);
}

/** iot_rings_cpus() - count the CPUs that have rings. Context: under iot_rings_lock_cpus() */
unsigned int iot_rings_cpus(void)
{
	return cpumask_weight(&cpus);
}

/* Bytes of the ring of one CPU: one allocation, in whole pages. */
static size_t ring_size(const struct iot_rings_of *of, u64 keep)
{
	return PAGE_ALIGN(iot_ring_bytes(keep, of->record_size));
}

/**
 * iot_rings_size() - get the bytes of the rings of all CPUs that are online
 *
 * Context: under iot_rings_lock_cpus().
 */
size_t iot_rings_size(const struct iot_rings_of *of, u64 keep)
{
	return ring_size(of, keep) * iot_rings_cpus();
}

/* Make the ring of a CPU, and publish it to readers, then to writers. */
static bool shard_fill(struct iot_rings *rings, int cpu, u64 keep)
{
	size_t size = rings->of->record_size;
	struct iot_ring *ring;

	ring = __vmalloc(iot_ring_bytes(keep, size), GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN |
			 __GFP_RETRY_MAYFAIL);
	if (!ring)
		return false;
	iot_ring_init(ring, keep, size, 0);
	smp_store_release(&rings->shard[cpu].ring, ring); /* the ring is initialized */
	rcu_assign_pointer(rings->open[cpu], ring);
	return true;
}

/* Free a ring that has no writer and no reader. The next one continues its sequence numbers. */
static void shard_empty(struct iot_shard *shard)
{
	if (!shard->ring)
		return;
	shard->shift += atomic64_read(&shard->ring->head);
	kvfree(shard->ring);
	shard->ring = NULL;
}

static void empty(struct iot_rings *rings)
{
	int cpu;

	for_each_possible_cpu(cpu)
		shard_empty(&rings->shard[cpu]);
}

static void rings_free(struct iot_rings *rings)
{
	empty(rings);
	iot_budget_give(rings->bytes);
	kvfree(rings->shard);
	kvfree(rings);
}

/* Make the rings of all CPUs. On error those that were made stay. @rings->bytes are charged. */
static bool fill(struct iot_rings *rings, u64 keep)
{
	int cpu;

	rings->keep = keep;
	for_each_cpu(cpu, &cpus)
		if (!shard_fill(rings, cpu, keep))
			return false;
	return true;
}

static struct iot_rings *rings_alloc(void)
{
	struct iot_rings *rings = kvzalloc(struct_size(rings, open, nr_cpu_ids), GFP_KERNEL);

	if (!rings)
		return NULL;
	rings->shard = kvcalloc(nr_cpu_ids, sizeof(*rings->shard), GFP_KERNEL);
	if (rings->shard)
		return rings;
	kvfree(rings);
	return NULL;
}

/**
 * iot_rings_new() - make rings for all CPUs that are online
 * @keep:	records that each ring keeps
 * @bytes:	already charged to the budget; uncharged on error
 *
 * Context: under iot_rings_lock_cpus(). Return: the rings, with one reference, or NULL.
 */
struct iot_rings *iot_rings_new(const struct iot_rings_of *of, u64 keep, size_t bytes)
{
	struct iot_rings *rings = rings_alloc();
	int cpu;

	if (!rings) {
		iot_budget_give(bytes);
		return NULL;
	}
	refcount_set(&rings->refs, 1);
	rings->of = of;
	rings->bytes = bytes;
	for_each_possible_cpu(cpu)
		RCU_INIT_POINTER(rings->open[cpu], of->sink);
	if (fill(rings, keep))
		return rings;
	rings_free(rings);
	return NULL;
}

/** iot_rings_put() - drop a reference; the last one frees the rings, which have no writer then */
void iot_rings_put(struct iot_rings *rings)
{
	if (rings && refcount_dec_and_test(&rings->refs))
		rings_free(rings);
}

/** iot_rings_continue() - continue in @new the sequence numbers of @old, which has no writer now */
void iot_rings_continue(struct iot_rings *new, const struct iot_rings *old)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct iot_shard *shard = &old->shard[cpu];

		new->shard[cpu].shift = shard->shift;
		if (shard->ring)
			new->shard[cpu].shift += atomic64_read(&shard->ring->head);
	}
}

/* Close the rings to writers. When this returns, writers only use the sink. */
static void close_rings(struct iot_rings *rings)
{
	int cpu;

	for_each_possible_cpu(cpu)
		rcu_assign_pointer(rings->open[cpu], rings->of->sink);
	synchronize_rcu();
}

/**
 * iot_rings_refill() - free the rings, then make new ones in place
 * @keep:	records each ring keeps from now on
 *
 * The bytes by which the new rings are larger are charged. If there is no memory for the new
 * rings, rings of the old size are made, as far as memory allows.
 * Context: under iot_rings_lock_cpus(); there is no reader. Return: 0 or -ENOMEM.
 */
int iot_rings_refill(struct iot_rings *rings, u64 keep)
{
	size_t bytes = iot_rings_size(rings->of, keep);
	size_t old_bytes = rings->bytes;
	u64 old_keep = rings->keep;

	close_rings(rings);
	empty(rings);
	if (old_bytes > bytes)
		iot_budget_give(old_bytes - bytes);
	rings->bytes = bytes;
	iot_ring_reset(rings->of->sink);
	if (fill(rings, keep))
		return 0;
	close_rings(rings);
	empty(rings);
	if (bytes > old_bytes) {
		iot_budget_give(bytes - old_bytes);
		rings->bytes = old_bytes;
	}
	if (old_keep < keep)
		fill(rings, old_keep);
	return -ENOMEM;
}

/** iot_rings_add() - add a ring for one CPU; without a ring its events are lost */
void iot_rings_add(struct iot_rings *rings, int cpu)
{
	size_t bytes = ring_size(rings->of, rings->keep);
	struct iot_why why = {};
	char what[80];

	if (!iot_budget_try(bytes)) {
		snprintf(what, sizeof(what), "%s: a ring of %llu events for CPU %d",
			 rings->of->name, rings->keep, cpu);
		iot_budget_refuse(bytes, what, &why);
		return;
	}
	if (shard_fill(rings, cpu, rings->keep))
		rings->bytes += bytes;
	else
		iot_budget_give(bytes);
}

/* Free the ring of a CPU that is offline. No reader is in it. */
static void drop_ring(struct iot_rings *rings, int cpu)
{
	size_t bytes = ring_size(rings->of, rings->keep);

	shard_empty(&rings->shard[cpu]);
	rings->bytes -= bytes;
	iot_budget_give(bytes);
}

/* Empty the ring of a CPU. Context: the rings are closed. */
static void reset_shard(struct iot_rings *rings, int cpu)
{
	struct iot_shard *shard = &rings->shard[cpu];

	if (!cpumask_test_cpu(cpu, &cpus) && refcount_read(&rings->refs) == 1 && shard->ring)
		drop_ring(rings, cpu);
	if (cpumask_test_cpu(cpu, &cpus) && !shard->ring)
		iot_rings_add(rings, cpu);
	if (!shard->ring)
		return;
	iot_ring_reset(shard->ring);
	rcu_assign_pointer(rings->open[cpu], shard->ring);
}

/**
 * iot_rings_reset() - drop all records and counts
 *
 * It allocates nothing, except the ring of a CPU that has none, and frees the rings of CPUs that
 * are offline.
 */
void iot_rings_reset(struct iot_rings *rings)
{
	int cpu;

	close_rings(rings);
	iot_ring_reset(rings->of->sink);
	mutex_lock(&cpus_lock);
	for_each_possible_cpu(cpu)
		reset_shard(rings, cpu);
	mutex_unlock(&cpus_lock);
}

/**
 * iot_rings_refuse() - report that the budget does not allow rings
 * @bytes:	bytes that the rings would take
 *
 * Context: under iot_rings_lock_cpus(). Return: -ENOMEM.
 */
int iot_rings_refuse(const struct iot_rings_of *of, u64 keep, size_t bytes, struct iot_why *why)
{
	char what[80];

	snprintf(what, sizeof(what), "%s: a ring of %llu events for each of %u CPUs", of->name,
		 keep, iot_rings_cpus());
	return iot_budget_refuse(bytes, what, why);
}

/* Count the records in one ring that can be read. */
static u64 count_stored(const struct iot_ring *ring)
{
	u64 end, n = 0, i = iot_ring_window(ring, &end);

	for (; i < end; i++) {
		n += iot_ring_holds(ring, i);
		cond_resched();
	}
	return n;
}

static void count_shard(struct iot_rings_stats *stats, const struct iot_shard *shard)
{
	const struct iot_ring *ring = iot_shard_ring(shard);
	u64 stored, taken, lost, holes;

	if (!ring)
		return;
	stored = count_stored(ring);
	taken = atomic64_read(&ring->head) - READ_ONCE(ring->first);
	lost = atomic64_read(&ring->lost[0]) + atomic64_read(&ring->lost[1]);
	holes = lost - atomic64_read(&ring->refused[0]) - atomic64_read(&ring->refused[1]);
	stats->seen += iot_ring_seen(ring, 0) + iot_ring_seen(ring, 1);
	stats->lost += lost;
	stats->stored += stored;
	stats->overwritten += taken - min(taken, stored + holes);
	stats->cpus++;
}

/**
 * iot_rings_count() - count over all CPUs
 *
 * lost comes from the writers' counter, seen from the indices taken, and stored from the rings'
 * slots. Tests check that they agree while there is no writer. Class 1 of a ring
 * counts what mode discard refused, in a branch its bios. Context: a reference is held.
 */
void iot_rings_count(const struct iot_rings *rings, struct iot_rings_stats *stats)
{
	const struct iot_ring *sink = rings->of->sink;
	int cpu;

	memset(stats, 0, sizeof(*stats));
	stats->lost = iot_ring_seen(sink, 0) + iot_ring_seen(sink, 1);
	stats->seen = stats->lost;
	for_each_possible_cpu(cpu)
		count_shard(stats, &rings->shard[cpu]);
}

/* Hotplug: @cpu does not run anything yet. This never fails, so the CPU always comes online. */
static int cpu_comes(unsigned int cpu)
{
	mutex_lock(&cpus_lock);
	cpumask_set_cpu(cpu, &cpus);
	mutex_unlock(&cpus_lock);
	cpu_is_coming(cpu);
	return 0;
}

/* Hotplug: @cpu no longer runs anything. */
static int cpu_goes(unsigned int cpu)
{
	mutex_lock(&cpus_lock);
	cpumask_clear_cpu(cpu, &cpus);
	mutex_unlock(&cpus_lock);
	return 0;
}

/**
 * iot_rings_init() - start following CPU hotplug, before there are rings
 * @comes:	called for each CPU before it runs anything
 */
int iot_rings_init(void (*comes)(int cpu))
{
	cpu_is_coming = comes;
	cpus_state = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "iotracer:online", cpu_comes,
				       cpu_goes);
	return min(cpus_state, 0);
}

/** iot_rings_exit() - stop following CPU hotplug at unload, when nothing can be started any more */
void iot_rings_exit(void)
{
	cpuhp_remove_state_nocalls(cpus_state);
}
