// SPDX-License-Identifier: GPL-2.0
/*
 * Logs: see log.h.
 *
 * The log of a category, or of a scope, has one ring for each CPU, and keeps the last records of
 * each. It may have none until it is started. Another size drops all records, as there is rarely
 * memory for both the old and the new rings.
 *
 * The log of a file or device has one ring, which keeps the last records of all CPUs in their
 * order. Another size keeps the newest of them. The old and the new ring both exist until the
 * records are carried over, and both are charged.
 *
 * Reset empties rings in place, and sequence numbers keep rising across reset and size. Events in
 * progress meanwhile end up in the emptied log or in none.
 *
 * All functions run in task context and may sleep, unless noted.
 */
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include "core/budget.h"
#include "core/param.h"
#include "core/refusal.h"
#include "core/schema.h"
#include "record/log.h"

/* Get the rings. Caller holds @lock. */
static struct iot_rings *rings_of(const struct iot_log *log)
{
	return rcu_dereference_protected(log->rings, lockdep_is_held(&log->lock));
}

/** iot_log_rings() - get a reference to the rings, or NULL if there are none yet */
struct iot_rings *iot_log_rings(struct iot_log *log)
{
	struct iot_rings *rings;

	mutex_lock(&log->lock);
	rings = rings_of(log);
	if (rings)
		refcount_inc(&rings->refs);
	mutex_unlock(&log->lock);
	return rings;
}

/**
 * iot_log_init() - set up a log without rings
 * @of:		lives as long as the log
 * @event:	id of its records
 * @single:	where writers will find its only ring; NULL if it has one for each CPU
 * @keep:	records that each ring will keep
 *
 * Return: 0, or -ENOMEM; both for iot_log_free().
 */
int iot_log_init(struct iot_log *log, const struct iot_rings_of *of, u32 event,
		 struct iot_ring __rcu **single, u64 keep)
{
	mutex_init(&log->lock);
	mutex_init(&log->pipe_lock);
	log->of = of;
	log->event = iot_schema_find(event);
	log->single = single;
	log->keep = keep;
	log->position = &log->only;
	if (of->by_cpu)
		log->position = kvcalloc(nr_cpu_ids, sizeof(*log->position), GFP_KERNEL);
	return log->position ? 0 : -ENOMEM;
}

/** iot_log_free() - free what a log holds. Context: no writer and no reader is left */
void iot_log_free(struct iot_log *log)
{
	iot_rings_put(rcu_dereference_protected(log->rings, true));
	if (log->position != &log->only)
		kvfree(log->position);
	mutex_destroy(&log->lock);
	mutex_destroy(&log->pipe_lock);
}

/** iot_log_end() - mark a log that has ended. Context: all other locks of its owner are held */
void iot_log_end(struct iot_log *log)
{
	mutex_lock(&log->lock);
	iot_life_end(&log->life);
	mutex_unlock(&log->lock);
}

static int check_size(const struct iot_log *log, u64 keep, struct iot_why *why)
{
	u64 limit = iot_param_max_events_limit();

	if (keep <= limit)
		return 0;
	iot_why(why, -ENOMEM,
		"%s %llu is above max_events_limit=%llu: take fewer or raise the parameter",
		log->of->size, keep, limit);
	pr_err("%s\n", why->text);
	return -ENOMEM;
}

/*
 * Replace the rings. Readers take the lock, so they find the new rings with their final
 * sequence numbers. @bytes are charged. Caller holds @lock.
 */
static int replace_rings(struct iot_log *log, u64 keep, size_t bytes)
{
	struct iot_rings *new, *old = rings_of(log);
	u64 first = old && log->single ? min(keep, log->keep) : 0;

	new = iot_rings_new(log->of, log->single, keep, first, bytes);
	if (!new)
		return -ENOMEM;
	iot_rings_publish(new);
	rcu_assign_pointer(log->rings, new);
	if (!old)
		return 0;
	synchronize_rcu(); /* the last writer of the old rings has finished */
	if (log->of->by_cpu)
		iot_ring_reset(log->of->sink);
	else
		iot_rings_carry(new, old);
	iot_rings_continue(new, old);
	iot_rings_put(old);
	return 0;
}

static bool take_bytes(size_t bytes)
{
	if (iot_budget_try(bytes))
		return true;
	iot_budget_settle();
	return iot_budget_try(bytes);
}

/*
 * Make new rings. For a time both the old and the new rings exist and are charged. If the limit
 * does not allow that and no reader uses the old rings, they are freed first. Caller holds @lock.
 */
static int renew_rings(struct iot_log *log, u64 keep, struct iot_why *why)
{
	struct iot_rings *old = rings_of(log);
	size_t bytes = iot_rings_size(log->of, keep);

	if (take_bytes(bytes))
		return replace_rings(log, keep, bytes);
	if (log->of->by_cpu && old && refcount_read(&old->refs) == 1 &&
	    (bytes <= old->bytes || iot_budget_try(bytes - old->bytes)))
		return iot_rings_refill(old, keep);
	return iot_rings_refuse(log->of, keep, bytes, why);
}

/* Keep the set of CPUs, if there is a ring for each. */
static void lock_cpus(const struct iot_log *log)
{
	if (log->of->by_cpu)
		iot_rings_lock_cpus();
}

static void unlock_cpus(const struct iot_log *log)
{
	if (log->of->by_cpu)
		iot_rings_unlock_cpus();
}

static int renew(struct iot_log *log, u64 keep, struct iot_why *why)
{
	int err;

	lock_cpus(log);
	err = renew_rings(log, keep, why);
	unlock_cpus(log);
	if (!err)
		log->keep = keep;
	return err;
}

/**
 * iot_log_make() - make the rings of a log that has none, and set T0
 * @why:	where to report which limit does not allow it
 *
 * Context: @lock is held, or nobody else has the log yet. Return: 0 or -ENOMEM.
 */
int iot_log_make(struct iot_log *log, struct iot_why *why)
{
	int err;

	if (rcu_access_pointer(log->rings))
		return 0;
	err = check_size(log, log->keep, why) ?: renew(log, log->keep, why);
	if (!err)
		log->t0 = ktime_get_mono_fast_ns();
	return err;
}

/* A size that is too large is refused now, and not when the rings are made. */
static int resize_nothing(struct iot_log *log, u64 keep, struct iot_why *why)
{
	size_t bytes;
	int err = 0;

	lock_cpus(log);
	bytes = iot_rings_size(log->of, keep);
	if (!iot_budget_fits(bytes))
		err = iot_rings_refuse(log->of, keep, bytes, why);
	unlock_cpus(log);
	if (!err)
		log->keep = keep;
	return err;
}

static int resize_by_cpu(struct iot_log *log, u64 keep, struct iot_why *why)
{
	int err = renew(log, keep, why);

	if (!err)
		log->t0 = ktime_get_mono_fast_ns();
	return err;
}

/* If there is no room for an old and a new ring, an old one that is large enough stays. */
static int resize_single(struct iot_log *log, u64 keep, struct iot_why *why)
{
	struct iot_ring *ring = rings_of(log)->shard[0].ring;
	u64 most = iot_ring_capacity(ring);
	size_t bytes = iot_rings_size(log->of, keep);
	int err;

	if (keep > most) {
		err = renew(log, keep, why);
	} else if (keep < most && iot_budget_try(bytes)) {
		err = replace_rings(log, keep, bytes);
	} else {
		iot_ring_limit(ring, keep);
		err = 0;
	}
	if (!err)
		log->keep = keep;
	return err;
}

static int resize_locked(struct iot_log *log, u64 keep, struct iot_why *why)
{
	int err = iot_life_check(&log->life);

	if (err || (log->single && keep == log->keep))
		return err;
	err = check_size(log, keep, why);
	if (err)
		return err;
	if (!rings_of(log))
		return resize_nothing(log, keep, why);
	return log->single ? resize_single(log, keep, why) : resize_by_cpu(log, keep, why);
}

/**
 * iot_log_resize() - change the number of records that each ring keeps
 * @why:	where to report which limit does not allow it
 *
 * What becomes of the records: see above. Return: 0, -ENODEV or -ENOMEM. After -ENOMEM nothing has
 * changed, unless there is no memory for the previous number either.
 */
int iot_log_resize(struct iot_log *log, u64 keep, struct iot_why *why)
{
	int err;

	mutex_lock(&log->lock);
	err = resize_locked(log, keep, why);
	mutex_unlock(&log->lock);
	return err;
}

/**
 * iot_log_reset() - drop all records and counts
 * @new_t0:	set T0 to the present time
 *
 * Events until it returns are dropped, too. It allocates nothing, except the ring of a CPU that
 * has none, and frees the rings of CPUs that are offline. Has no effect on what has ended.
 */
void iot_log_reset(struct iot_log *log, bool new_t0)
{
	struct iot_rings *rings;

	mutex_lock(&log->lock);
	rings = rings_of(log);
	if (rings && !iot_life_check(&log->life)) {
		iot_rings_reset(rings);
		if (new_t0)
			log->t0 = ktime_get_mono_fast_ns();
	}
	mutex_unlock(&log->lock);
}

/** iot_log_add_cpu() - add a ring for a CPU. Context: before the CPU runs anything */
void iot_log_add_cpu(struct iot_log *log, int cpu)
{
	struct iot_rings *rings;

	mutex_lock(&log->lock);
	rings = rings_of(log);
	if (rings && !rings->shard[cpu].ring && !iot_life_check(&log->life))
		iot_rings_add(rings, cpu);
	mutex_unlock(&log->lock);
}

/** iot_log_stats() - get the counts of a log; see iot_rings_count() */
void iot_log_stats(struct iot_log *log, struct iot_log_stats *stats)
{
	struct iot_rings *rings = iot_log_rings(log);

	memset(stats, 0, sizeof(*stats));
	lock_cpus(log);
	stats->keep = READ_ONCE(log->keep);
	stats->start_bytes = iot_rings_size(log->of, stats->keep);
	stats->rings.cpus = iot_rings_cpus();
	unlock_cpus(log);
	stats->t0 = READ_ONCE(log->t0);
	if (!rings)
		return;
	stats->bytes = READ_ONCE(rings->bytes);
	iot_rings_count(rings, &stats->rings);
	iot_rings_put(rings);
}
