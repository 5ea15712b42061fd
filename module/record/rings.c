// SPDX-License-Identifier: GPL-2.0
/*
 * The rings of a log: one, or one for each CPU that is online.
 *
 * Writers are in a ring with preemption off. A task that empties or replaces rings closes them
 * and waits for an RCU grace period. Readers hold a reference, and may sleep.
 *
 * One ring orders the records of all CPUs. Such rings are many and small, and keep their records
 * when their size is changed.
 *
 * A CPU that comes online gets its ring before it runs anything. If there is no memory it gets
 * none, and its events are counted as seen and lost until the next reset or size. The ring of a
 * CPU that goes offline stays, with its records, until then.
 *
 * All of these run in task context and may sleep, under the lock of the log.
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
 * categories, under the locks of their logs one after the other. So a task that makes rings under
 * such a lock sees the CPU, or the ring of the CPU is added later. Hotplug holds its own lock
 * meanwhile, so that lock must not be taken inside these.
 */
static struct cpumask cpus;
static DEFINE_MUTEX(cpus_lock);	/* protects @cpus; taken inside a log's lock */
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

/* Bytes that are allocated for one ring: whole pages where __vmalloc() is used. */
static size_t ring_size(const struct iot_rings_of *of, u64 keep)
{
	size_t bytes = iot_ring_bytes(keep, of->record_size);

	return bytes <= KMALLOC_MAX_CACHE_SIZE ? bytes : PAGE_ALIGN(bytes);
}

/**
 * iot_rings_size() - get the bytes of all rings that a log has now
 *
 * Context: under iot_rings_lock_cpus() if there is one for each CPU.
 */
size_t iot_rings_size(const struct iot_rings_of *of, u64 keep)
{
	return ring_size(of, keep) * (of->by_cpu ? iot_rings_cpus() : 1);
}

static struct iot_ring *ring_alloc(const struct iot_rings_of *of, u64 keep, u64 first)
{
	size_t bytes = ring_size(of, keep);
	struct iot_ring *ring;

	if (bytes <= KMALLOC_MAX_CACHE_SIZE)
		ring = kzalloc(bytes, GFP_KERNEL | __GFP_NOWARN);
	else
		ring = __vmalloc(bytes, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN |
				 __GFP_RETRY_MAYFAIL);
	if (ring)
		iot_ring_init(ring, keep, of->record_size, first);
	return ring;
}

/** iot_rings_sink() - make a sink, to be freed with kfree(). Return: NULL if there is no memory */
struct iot_ring *iot_rings_sink(size_t record_size)
{
	const struct iot_rings_of of = { .record_size = record_size };

	return ring_alloc(&of, 1, 0);
}

/* Where the writers of a shard find their ring. */
static struct iot_ring __rcu **writers_at(struct iot_rings *rings, unsigned int i)
{
	return rings->single ?: &rings->open[i];
}

/* Make the ring of a shard, and publish it to readers. */
static bool shard_fill(struct iot_rings *rings, unsigned int i, u64 keep, u64 first)
{
	struct iot_ring *ring = ring_alloc(rings->of, keep, first);

	if (!ring)
		return false;
	smp_store_release(&rings->shard[i].ring, ring); /* the ring is initialized */
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
	unsigned int i;

	for (i = 0; i < rings->nr; i++)
		shard_empty(&rings->shard[i]);
}

static void rings_free(struct iot_rings *rings)
{
	empty(rings);
	iot_budget_give(rings->bytes);
	kvfree(rings);
}

/* Is there to be a ring for a shard? Context: as for iot_rings_size() */
static bool is_wanted(const struct iot_rings *rings, unsigned int i)
{
	return !rings->of->by_cpu || cpumask_test_cpu(i, &cpus);
}

/* Make all rings. On error those that were made stay. @rings->bytes are charged. */
static bool fill(struct iot_rings *rings, u64 keep, u64 first)
{
	unsigned int i;

	rings->keep = keep;
	for (i = 0; i < rings->nr; i++)
		if (is_wanted(rings, i) && !shard_fill(rings, i, keep, first))
			return false;
	return true;
}

static struct iot_rings *rings_alloc(const struct iot_rings_of *of,
				     struct iot_ring __rcu **single)
{
	unsigned int nr = iot_rings_nr(of), nr_open = of->by_cpu ? nr : 0;
	struct iot_rings *rings = kvzalloc(size_add(struct_size(rings, open, nr_open),
						    array_size(nr, sizeof(*rings->shard))),
					   GFP_KERNEL);

	if (!rings)
		return NULL;
	refcount_set(&rings->refs, 1);
	rings->of = of;
	rings->nr = nr;
	rings->single = single;
	rings->shard = (void *)&rings->open[nr_open];
	return rings;
}

/**
 * iot_rings_new() - make the rings of a log
 * @single:	where writers find the only ring; NULL if there is one for each CPU
 * @keep:	records that each ring keeps
 * @first:	index of the first record in a ring
 * @bytes:	already charged to the budget; uncharged on error
 *
 * Writers find them after iot_rings_publish().
 * Context: as for iot_rings_size(). Return: the rings, with one reference, or NULL.
 */
struct iot_rings *iot_rings_new(const struct iot_rings_of *of, struct iot_ring __rcu **single,
				u64 keep, u64 first, size_t bytes)
{
	struct iot_rings *rings = rings_alloc(of, single);

	if (!rings) {
		iot_budget_give(bytes);
		return NULL;
	}
	rings->bytes = bytes;
	if (fill(rings, keep, first))
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

/**
 * iot_rings_publish() - let writers use the rings, and the sink where there is none
 *
 * The caller lets writers find rings that have @open, afterwards.
 */
void iot_rings_publish(struct iot_rings *rings)
{
	unsigned int i;

	for (i = 0; i < rings->nr; i++)
		rcu_assign_pointer(*writers_at(rings, i), rings->shard[i].ring ?: rings->of->sink);
}

/** iot_rings_continue() - continue in @new the sequence numbers of @old, which has no writer now */
void iot_rings_continue(struct iot_rings *new, const struct iot_rings *old)
{
	unsigned int i;

	for (i = 0; i < old->nr; i++) {
		const struct iot_shard *shard = &old->shard[i];

		new->shard[i].shift = shard->shift;
		if (shard->ring)
			new->shard[i].shift += atomic64_read(&shard->ring->head);
		if (new->shard[i].ring)
			new->shard[i].shift -= new->shard[i].ring->first;
	}
}

/**
 * iot_rings_carry() - copy the newest records of the only ring, and its counts
 * @new:	rings in which there are no records below @first; writers may be running in it
 * @old:	it has no writer now
 *
 * The records come to the indices below @first. The index behind the last one is @first.
 */
void iot_rings_carry(struct iot_rings *new, const struct iot_rings *old)
{
	struct iot_ring *to = new->shard[0].ring, *from = old->shard[0].ring;
	u64 end, i = iot_ring_window(from, &end), record[IOT_RECORD_WORDS_MAX];
	u64 nr = min(end - i, to->first);
	int class;

	for (i = end - nr; i < end; i++) {
		if (iot_ring_read(from, i, record) != IOT_RING_OK)
			continue;
		/* a writer that wants the slot meanwhile gets none */
		preempt_disable();
		iot_ring_put(to, to->first - (end - i), record);
		preempt_enable();
	}
	WRITE_ONCE(to->base, to->first - nr);
	for (class = 0; class < IOT_RING_CLASSES; class++) {
		to->earlier[class] = iot_ring_seen(from, class);
		atomic64_add(atomic64_read(&from->lost[class]), &to->lost[class]);
	}
}

/* Close the rings to writers. When this returns, writers only use the sink. */
static void close_rings(struct iot_rings *rings)
{
	unsigned int i;

	for (i = 0; i < rings->nr; i++)
		rcu_assign_pointer(*writers_at(rings, i), rings->of->sink);
	if (rings->of->by_cpu)
		synchronize_rcu();
	else
		synchronize_rcu_expedited(); /* one of many such rings */
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
	int err;

	close_rings(rings);
	empty(rings);
	if (old_bytes > bytes)
		iot_budget_give(old_bytes - bytes);
	rings->bytes = bytes;
	iot_ring_reset(rings->of->sink);
	err = fill(rings, keep, 0) ? 0 : -ENOMEM;
	if (err) {
		empty(rings);
		if (bytes > old_bytes) {
			iot_budget_give(bytes - old_bytes);
			rings->bytes = old_bytes;
		}
		if (old_keep < keep)
			fill(rings, old_keep, 0);
	}
	iot_rings_publish(rings);
	return err;
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
	if (!shard_fill(rings, cpu, rings->keep, 0)) {
		iot_budget_give(bytes);
		return;
	}
	rings->bytes += bytes;
	rcu_assign_pointer(*writers_at(rings, cpu), rings->shard[cpu].ring);
}

/* Free the ring of a CPU that is offline. No reader is in it. */
static void drop_ring(struct iot_rings *rings, int cpu)
{
	size_t bytes = ring_size(rings->of, rings->keep);

	shard_empty(&rings->shard[cpu]);
	rings->bytes -= bytes;
	iot_budget_give(bytes);
}

/* Empty a ring. Context: the rings are closed. */
static void reset_shard(struct iot_rings *rings, unsigned int i)
{
	struct iot_shard *shard = &rings->shard[i];

	if (!is_wanted(rings, i) && refcount_read(&rings->refs) == 1 && shard->ring)
		drop_ring(rings, i);
	if (is_wanted(rings, i) && !shard->ring)
		iot_rings_add(rings, i);
	if (!shard->ring)
		return;
	iot_ring_reset(shard->ring);
	rcu_assign_pointer(*writers_at(rings, i), shard->ring);
}

/**
 * iot_rings_reset() - drop all records and counts
 *
 * It allocates nothing, except the ring of a CPU that has none, and frees the rings of CPUs that
 * are offline.
 */
void iot_rings_reset(struct iot_rings *rings)
{
	unsigned int i;

	close_rings(rings);
	if (rings->of->by_cpu)
		iot_ring_reset(rings->of->sink);
	mutex_lock(&cpus_lock);
	for (i = 0; i < rings->nr; i++)
		reset_shard(rings, i);
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

	if (!of->by_cpu)
		return iot_budget_refuse(bytes, of->name, why);
	snprintf(what, sizeof(what), "%s: a ring of %llu events for each of %u CPUs", of->name,
		 keep, iot_rings_cpus());
	return iot_budget_refuse(bytes, what, why);
}

/* Count the records in one ring that can be read, by class. */
static void count_stored(const struct iot_rings_of *of, const struct iot_ring *ring,
			 struct iot_counts counts[IOT_RING_CLASSES])
{
	u64 end, i = iot_ring_window(ring, &end), record[IOT_RECORD_WORDS_MAX];
	/* records are not looked at if all are of one class */
	bool mixed = of->class_of && counts[1].seen;

	for (; i < end; i++) {
		if (!mixed)
			counts[0].stored += iot_ring_holds(ring, i);
		else if (iot_ring_read(ring, i, record) == IOT_RING_OK)
			counts[of->class_of(record)].stored++;
		cond_resched();
	}
}

/* Count the records of one class that have passed out of the window. */
static void count_overwritten(struct iot_counts *counts)
{
	counts->overwritten = counts->seen - min(counts->seen, counts->stored + counts->lost);
}

static void add(struct iot_counts *sum, const struct iot_counts *counts)
{
	sum->seen += counts->seen;
	sum->stored += counts->stored;
	sum->overwritten += counts->overwritten;
	sum->lost += counts->lost;
}

static void count_shard(const struct iot_rings_of *of, struct iot_rings_stats *stats,
			const struct iot_shard *shard)
{
	const struct iot_ring *ring = iot_shard_ring(shard);
	struct iot_counts counts[IOT_RING_CLASSES] = {};
	unsigned int class;

	if (!ring)
		return;
	for (class = 0; class < IOT_RING_CLASSES; class++) {
		counts[class].seen = iot_ring_seen(ring, class);
		counts[class].lost = atomic64_read(&ring->lost[class]);
	}
	count_stored(of, ring, counts);
	for (class = 0; class < IOT_RING_CLASSES; class++) {
		count_overwritten(&counts[class]);
		add(&stats->by_class[class], &counts[class]);
	}
	stats->cpus++;
}

/**
 * iot_rings_count() - count over all rings
 *
 * lost comes from the writers' counter, seen from the indices taken, and stored from the rings'
 * slots. Tests check that they agree while there is no writer. Context: a reference is held.
 */
void iot_rings_count(const struct iot_rings *rings, struct iot_rings_stats *stats)
{
	unsigned int i, class;

	memset(stats, 0, sizeof(*stats));
	for (i = 0; i < rings->nr; i++)
		count_shard(rings->of, stats, &rings->shard[i]);
	for (class = 0; class < IOT_RING_CLASSES; class++) {
		struct iot_counts *counts = &stats->by_class[class];

		if (rings->of->by_cpu) {
			counts->lost += iot_ring_seen(rings->of->sink, class);
			counts->seen += iot_ring_seen(rings->of->sink, class);
		}
		add(&stats->all, counts);
	}
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
