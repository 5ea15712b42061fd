// SPDX-License-Identifier: GPL-2.0
/*
 * A category: events of the whole system in rings of one CPU each.
 *
 * Nothing is hooked until start. The rings are made by the first start and stay
 * over stop, so that what was recorded can be read; reset empties them where they
 * are, size replaces them, and the numbers of records go on rising over that. Writers
 * are in the rings with preemption off; whoever empties or replaces them closes them
 * and waits for an RCU grace period. Readers hold a reference, and may sleep.
 *
 * A ring is for a CPU that is online. One that comes online gets its ring before it
 * runs anything; for want of memory it gets none, and its events are seen and lost
 * until the next reset or size. The ring of one that goes offline stays, with its
 * records, until then.
 */
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>
#include "block.h"
#include "budget.h"
#include "cache.h"
#include "category.h"
#include "fault.h"
#include "fs.h"
#include "hook.h"
#include "mounts.h"
#include "param.h"
#include "refusal.h"
#include "schema.h"
#include "uring.h"

#define DEFAULT_KEEP	16384	/* events a CPU */

static struct iot_category * const categories[] = {
	&iot_fs, &iot_fault, &iot_block, &iot_cache, &iot_uring,
};

/** iot_category_has() - is this the name of a category? */
bool iot_category_has(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(categories); i++)
		if (!strcmp(categories[i]->name, name))
			return true;
	return false;
}

static const struct iot_schema_event *find_event(unsigned int id)
{
	unsigned int i;

	for (i = 0; i < iot_schema_events; i++)
		if (iot_schema[i].id == id)
			return &iot_schema[i];
	return NULL;
}

/* The category's rings, for those who hold its lock. */
static struct iot_rings *rings_of(struct iot_category *c)
{
	return rcu_dereference_protected(c->rings, lockdep_is_held(&c->lock));
}

/* Its filter is changed by those who hold both locks. */
static struct iot_filter *filter_of(struct iot_category *c)
{
	return rcu_dereference_protected(c->filter, lockdep_is_held(&c->lock) ||
						    lockdep_is_held(&c->control));
}

/*
 * CPUs that are online or about to be. A CPU is set here before its ring is added to
 * the categories, under their locks one after the other: whoever makes rings under
 * such a lock sees the CPU, or the CPU's turn comes later. Hotplug's own lock is held
 * around that, so it may not be taken within these.
 */
static struct cpumask cpus;
static DEFINE_MUTEX(cpus_lock);	/* of @cpus; within a category's lock */
static int cpus_state;

/* One allocation a CPU, in whole pages. */
static size_t ring_size(const struct iot_category *c, u64 keep)
{
	return PAGE_ALIGN(iot_ring_bytes(keep, c->event->size));
}

/* Publish to readers, then to writers. */
static bool shard_fill(const struct iot_category *c, struct iot_shard *shard, u64 keep)
{
	size_t bytes = iot_ring_bytes(keep, c->event->size);
	struct iot_ring *ring;

	ring = __vmalloc(bytes, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN |
			 __GFP_RETRY_MAYFAIL);
	if (!ring)
		return false;
	iot_ring_init(ring, keep, c->event->size, 0);
	smp_store_release(&shard->ring, ring); /* after its contents */
	rcu_assign_pointer(shard->open, ring);
	return true;
}

/* No writer and no reader is in it. Its numbers go on in the next one. */
static void shard_empty(struct iot_shard *shard)
{
	if (!shard->ring)
		return;
	shard->shift += atomic64_read(&shard->ring->head);
	kvfree(shard->ring);
	shard->ring = NULL;
}

static void rings_empty(struct iot_rings *rings)
{
	int cpu;

	for_each_possible_cpu(cpu)
		shard_empty(&rings->shard[cpu]);
}

static void rings_free(struct iot_rings *rings)
{
	rings_empty(rings);
	iot_budget_give(rings->bytes);
	kvfree(rings);
}

/* On error those that were made stay. @rings->bytes are charged. */
static bool rings_fill(const struct iot_category *c, struct iot_rings *rings, u64 keep)
{
	int cpu;

	rings->keep = keep;
	for_each_cpu(cpu, &cpus)
		if (!shard_fill(c, &rings->shard[cpu], keep))
			return false;
	return true;
}

/* Bytes of the rings of all CPUs that are online. */
static size_t rings_size(const struct iot_category *c, u64 keep)
{
	return ring_size(c, keep) * cpumask_weight(&cpus);
}

/* @bytes are charged. */
static struct iot_rings *rings_new(const struct iot_category *c, u64 keep, size_t bytes)
{
	struct iot_rings *rings;
	int cpu;

	rings = kvzalloc(struct_size(rings, shard, nr_cpu_ids), GFP_KERNEL);
	if (!rings) {
		iot_budget_give(bytes);
		return NULL;
	}
	refcount_set(&rings->refs, 1);
	rings->bytes = bytes;
	for_each_possible_cpu(cpu)
		RCU_INIT_POINTER(rings->shard[cpu].open, c->nowhere);
	if (rings_fill(c, rings, keep))
		return rings;
	rings_free(rings);
	return NULL;
}

/** iot_category_rings() - the rings, held; put them. NULL before the first start */
struct iot_rings *iot_category_rings(struct iot_category *c)
{
	struct iot_rings *rings;

	mutex_lock(&c->lock);
	rings = rings_of(c);
	if (rings)
		refcount_inc(&rings->refs);
	mutex_unlock(&c->lock);
	return rings;
}

/** iot_category_rings_put() - the last one frees; no writer is in them then */
void iot_category_rings_put(struct iot_rings *rings)
{
	if (rings && refcount_dec_and_test(&rings->refs))
		rings_free(rings);
}

/* Let the numbers of @new go on behind those of @old, where nobody writes. */
static void continue_numbers(struct iot_rings *new, const struct iot_rings *old)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct iot_shard *shard = &old->shard[cpu];

		new->shard[cpu].shift = shard->shift;
		if (shard->ring)
			new->shard[cpu].shift += atomic64_read(&shard->ring->head);
	}
}

/* When this returns no writer is in a ring that has readers. */
static void close_rings(const struct iot_category *c, struct iot_rings *rings)
{
	int cpu;

	for_each_possible_cpu(cpu)
		rcu_assign_pointer(rings->shard[cpu].open, c->nowhere);
	synchronize_rcu();
}

/*
 * Put other rings in place of the old ones. Readers, who take the lock, find them
 * with their final numbers. @bytes are charged.
 */
static int replace_rings(struct iot_category *c, u64 keep, size_t bytes)
{
	struct iot_rings *old = rings_of(c);
	struct iot_rings *new = rings_new(c, keep, bytes);

	if (!new)
		return -ENOMEM;
	rcu_assign_pointer(c->rings, new);
	synchronize_rcu(); /* the last writer of the old rings is done */
	iot_ring_reset(c->nowhere);
	if (old)
		continue_numbers(new, old);
	iot_category_rings_put(old);
	return 0;
}

/* Return: -ENOMEM. */
static int refuse(const struct iot_category *c, u64 keep, size_t bytes, struct iot_why *why)
{
	char what[80];

	snprintf(what, sizeof(what), "%s: a ring of %llu events for each of %u CPUs", c->name,
		 keep, cpumask_weight(&cpus));
	return iot_budget_refuse(bytes, what, why);
}

/*
 * The same in place: the old rings are freed, then new ones made. Their bytes are
 * charged, as far as they are more. If there is no memory for them, there are as many
 * events a CPU as before, as far as there is memory for those.
 */
static int refill_rings(struct iot_category *c, struct iot_rings *rings, u64 keep)
{
	size_t bytes = rings_size(c, keep);
	u64 old_keep = rings->keep;

	close_rings(c, rings);
	rings_empty(rings);
	if (rings->bytes > bytes)
		iot_budget_give(rings->bytes - bytes);
	rings->bytes = bytes;
	iot_ring_reset(c->nowhere);
	if (rings_fill(c, rings, keep))
		return 0;
	close_rings(c, rings);
	rings_empty(rings);
	if (old_keep < keep)
		rings_fill(c, rings, old_keep);
	return -ENOMEM;
}

/*
 * Old and new rings are there together, and both are charged, unless there is no room
 * for that and no reader in the old ones.
 */
static int renew_rings(struct iot_category *c, u64 keep, struct iot_why *why)
{
	struct iot_rings *old = rings_of(c);
	size_t bytes = rings_size(c, keep);

	if (iot_budget_try(bytes))
		return replace_rings(c, keep, bytes);
	iot_budget_settle();
	if (iot_budget_try(bytes))
		return replace_rings(c, keep, bytes);
	if (old && refcount_read(&old->refs) == 1 &&
	    (bytes <= old->bytes || iot_budget_try(bytes - old->bytes)))
		return refill_rings(c, old, keep);
	return refuse(c, keep, bytes, why);
}

static int check_size(u64 keep, struct iot_why *why)
{
	u64 limit = iot_param_max_events_limit();

	if (keep <= limit)
		return 0;
	iot_why(why, -ENOMEM,
		"size %llu is above max_events_limit=%llu: take fewer or raise the parameter",
		keep, limit);
	pr_err("%s\n", why->text);
	return -ENOMEM;
}

static int renew_locked(struct iot_category *c, u64 keep, struct iot_why *why)
{
	int err = check_size(keep, why);

	if (err)
		return err;
	mutex_lock(&cpus_lock);
	err = renew_rings(c, keep, why);
	mutex_unlock(&cpus_lock);
	if (err)
		return err;
	c->keep = keep;
	c->t0 = ktime_get_mono_fast_ns();
	return 0;
}

/*
 * Before the first start there are no rings. Nothing is taken until then, but a number
 * that could not be had is refused now, not by start.
 */
static int resize_nothing(struct iot_category *c, u64 keep, struct iot_why *why)
{
	int err = check_size(keep, why);
	size_t bytes;

	if (err)
		return err;
	mutex_lock(&cpus_lock);
	bytes = rings_size(c, keep);
	if (!iot_budget_fits(bytes))
		err = refuse(c, keep, bytes, why);
	mutex_unlock(&cpus_lock);
	if (!err)
		c->keep = keep;
	return err;
}

/**
 * iot_category_resize() - another number of events; all so far and their counts are gone
 * @keep:	events each CPU keeps from now on
 * @why:	where to say which limit does not allow it
 *
 * Return: 0 or -ENOMEM; then nothing has changed, unless there is no memory for what
 * there was, either.
 */
int iot_category_resize(struct iot_category *c, u64 keep, struct iot_why *why)
{
	int err;

	mutex_lock(&c->lock);
	err = rings_of(c) ? renew_locked(c, keep, why) : resize_nothing(c, keep, why);
	mutex_unlock(&c->lock);
	if (!err)
		iot_paths_tidy();
	return err;
}

/* A ring for one CPU more; without one its events are lost. */
static void add_ring(const struct iot_category *c, struct iot_rings *rings, int cpu)
{
	size_t bytes = ring_size(c, rings->keep);
	struct iot_why why = {};
	char what[80];

	if (!iot_budget_try(bytes)) {
		snprintf(what, sizeof(what), "%s: a ring of %llu events for CPU %d", c->name,
			 rings->keep, cpu);
		iot_budget_refuse(bytes, what, &why);
		return;
	}
	if (shard_fill(c, &rings->shard[cpu], rings->keep))
		rings->bytes += bytes;
	else
		iot_budget_give(bytes);
}

/* Of a CPU that is offline, and that no reader is in. */
static void drop_ring(const struct iot_category *c, struct iot_rings *rings, int cpu)
{
	size_t bytes = ring_size(c, rings->keep);

	shard_empty(&rings->shard[cpu]);
	rings->bytes -= bytes;
	iot_budget_give(bytes);
}

/* The rings are closed. */
static void reset_shard(const struct iot_category *c, struct iot_rings *rings, int cpu)
{
	struct iot_shard *shard = &rings->shard[cpu];

	if (!cpumask_test_cpu(cpu, &cpus) && refcount_read(&rings->refs) == 1 && shard->ring)
		drop_ring(c, rings, cpu);
	if (cpumask_test_cpu(cpu, &cpus) && !shard->ring)
		add_ring(c, rings, cpu);
	if (!shard->ring)
		return;
	iot_ring_reset(shard->ring);
	rcu_assign_pointer(shard->open, shard->ring);
}

/**
 * iot_category_reset() - forget all events and counts
 *
 * What happens until it returns is forgotten with them. It takes no memory, unless for
 * a CPU that has no ring; and gives back that of CPUs that are offline.
 */
void iot_category_reset(struct iot_category *c)
{
	struct iot_rings *rings;
	int cpu;

	mutex_lock(&c->lock);
	rings = rings_of(c);
	if (rings) {
		close_rings(c, rings);
		iot_ring_reset(c->nowhere);
		mutex_lock(&cpus_lock);
		for_each_possible_cpu(cpu)
			reset_shard(c, rings, cpu);
		mutex_unlock(&cpus_lock);
		c->t0 = ktime_get_mono_fast_ns();
	}
	mutex_unlock(&c->lock);
	iot_paths_tidy();
}

/* What hot probes look at, after a change of anything in it. */
static void update_state(struct iot_category *c, bool active)
{
	const struct iot_filter *f = filter_of(c);
	u32 state = IOT_CATEGORY_ACTIVE | (c->track ? IOT_CATEGORY_TRACK : 0);

	if (!active) {
		WRITE_ONCE(c->state, state & ~IOT_CATEGORY_ACTIVE);
		return;
	}
	WRITE_ONCE(c->pid, f->pid);
	WRITE_ONCE(c->dev, f->dev);
	WRITE_ONCE(c->kinds, f->kinds);
	WRITE_ONCE(c->inode, f->inode);
	WRITE_ONCE(c->ops, f->ops[0]);
	state |= f->used & ~IOT_FILTER_REJECTED;
	/* in a superblock a number from the pool may not be the one that stat(2) shows */
	if ((f->used & IOT_FILTER_DEV) && !MAJOR(f->dev))
		state = (state & ~IOT_FILTER_DEV) | IOT_CATEGORY_LATE;
	if (c->reader)
		state |= IOT_CATEGORY_READER;
	if (c->sample > 1 || c->discard)
		state |= IOT_CATEGORY_SPARSE;
	WRITE_ONCE(c->state, state);
}

/** iot_category_set_sample() - record one of @sample events, at least 1 */
void iot_category_set_sample(struct iot_category *c, u32 sample)
{
	mutex_lock(&c->lock);
	WRITE_ONCE(c->sample, sample);
	update_state(c, iot_category_active(c));
	mutex_unlock(&c->lock);
}

/** iot_category_set_track() - see IOT_CATEGORY_TRACK */
void iot_category_set_track(struct iot_category *c, bool track)
{
	mutex_lock(&c->lock);
	c->track = track;
	update_state(c, iot_category_active(c));
	mutex_unlock(&c->lock);
}

/** iot_category_set_discard() - keep the oldest events instead of the newest */
void iot_category_set_discard(struct iot_category *c, bool discard)
{
	mutex_lock(&c->lock);
	WRITE_ONCE(c->discard, discard);
	update_state(c, iot_category_active(c));
	mutex_unlock(&c->lock);
}

/**
 * iot_category_has_room() - is there a place for one more, or is an old one overwritten?
 *
 * What finds none is counted. Context: any, preemption off.
 */
notrace bool iot_category_has_room(struct iot_category *c)
{
	struct iot_ring *ring;

	if (likely(!READ_ONCE(c->discard)))
		return true;
	ring = iot_category_ring(c);
	if (atomic64_read(&ring->head) - READ_ONCE(ring->base) < ring->keep)
		return true;
	iot_ring_refuse(ring, 1);
	return false;
}

/**
 * iot_category_thins_out() - is one more not to be recorded: sampled out, or no place?
 *
 * Context: any, preemption off; the category was started.
 */
notrace bool iot_category_thins_out(struct iot_category *c)
{
	return !iot_category_samples(c) || !iot_category_has_room(c);
}

/* A filter that lets all pass that is wanted by default, if there is none. */
static int need_filter(struct iot_category *c, struct iot_why *why)
{
	char none[] = "none";
	struct iot_filter *f;

	if (filter_of(c))
		return 0;
	f = iot_filter_parse(none, c, NULL, why);
	if (IS_ERR(f))
		return PTR_ERR(f);
	rcu_assign_pointer(c->filter, f);
	return 0;
}

/* All hooks are attached; or nothing is traced, whatever is still attached. */
static void set_started(struct iot_category *c, bool started)
{
	mutex_lock(&c->lock);
	c->started = started;
	update_state(c, started);
	mutex_unlock(&c->lock);
}

/* What probes need, before there are any. */
static int prepare(struct iot_category *c, struct iot_why *why)
{
	int err;

	mutex_lock(&c->lock);
	err = need_filter(c, why);
	if (!err && !rings_of(c))
		err = renew_locked(c, c->keep, why);
	if (!err)
		update_state(c, true);
	mutex_unlock(&c->lock);
	return err;
}

static int start_controlled(struct iot_category *c, struct iot_why *why)
{
	int err;

	iot_paths_get();
	err = prepare(c, why);
	if (!err) {
		err = c->start();
		set_started(c, !err);
	}
	if (err)
		iot_paths_put();
	return err;
}

/**
 * iot_category_start() - trace; nothing to do where it is traced already
 * @reader:	process that has the stream open, and with whose end it stops; 0: for good
 * @why:	where to say which limit does not allow it
 *
 * Context: task, may sleep long: the kernel patches its text.
 * Return: 0, -EINTR: killed while another was in control; -EBUSY: it is traced already, and
 * not for this reader; -EOPNOTSUPP: the module was built without it, or
 * ftrace is off; or another error.
 */
int iot_category_start(struct iot_category *c, u32 reader, struct iot_why *why)
{
	bool started = false;
	int err;

	if (c->left_out)
		return iot_why(why, -EOPNOTSUPP,
			       "the module was built without it, as it does not compile for this kernel: %s",
			       c->left_out);
	if (iot_hook_is_blind())
		return iot_why(why, -EOPNOTSUPP, IOT_HOOK_BLIND);
	if (c->by_inode)
		iot_mounts_get();
	err = mutex_lock_killable(&c->control);
	if (!err) {
		if (!iot_category_active(c)) {
			err = start_controlled(c, why);
			started = !err;
		} else if (reader && reader != c->while_read) {
			err = iot_why(why, -EBUSY, "it is traced already, and not for this process");
		}
		if (!err)
			WRITE_ONCE(c->while_read, reader);
		mutex_unlock(&c->control);
	}
	if (c->by_inode && !started)
		iot_mounts_put();
	return err;
}

/* Is there something to undo, behind the lock? */
static bool stop_controlled(struct iot_category *c)
{
	if (!iot_category_active(c))
		return false;
	WRITE_ONCE(c->while_read, 0);
	set_started(c, false);
	c->stop();
	iot_paths_put();
	return true;
}

/**
 * iot_category_stop() - do not trace; what was recorded stays
 *
 * Return: 0, or -EINTR: killed while another was in control.
 */
int iot_category_stop(struct iot_category *c)
{
	bool stopped;

	if (mutex_lock_killable(&c->control))
		return -EINTR;
	stopped = stop_controlled(c);
	mutex_unlock(&c->control);
	if (c->by_inode && stopped)
		iot_mounts_put();
	return 0;
}

static void put_filter(struct iot_category *c, struct iot_filter *f)
{
	mutex_lock(&c->lock);
	rcu_assign_pointer(c->filter, f);
	update_state(c, iot_category_active(c));
	mutex_unlock(&c->lock);
}

/**
 * iot_category_set_filter() - another one
 * @text:	see iot_filter_parse()
 * @why:	where to say why it is refused
 *
 * Context: task, may sleep as long as iot_category_start().
 * Return: 0 or an error; then the old one stays.
 */
int iot_category_set_filter(struct iot_category *c, char *text, struct iot_why *why)
{
	struct iot_filter *f, *old;
	int err = 0;

	if (mutex_lock_killable(&c->control))
		return -EINTR;
	old = filter_of(c);
	f = iot_filter_parse(text, c, old, why);
	if (IS_ERR(f)) {
		mutex_unlock(&c->control);
		return PTR_ERR(f);
	}
	put_filter(c, f);
	if (iot_category_active(c) && c->refresh)
		err = c->refresh();
	if (err) {
		put_filter(c, old);
		old = f;
	} else if (f->used & IOT_FILTER_TREE) {
		iot_tree_plant(f->tree); /* at last: it cannot fail, nor be undone */
	}
	mutex_unlock(&c->control);
	synchronize_rcu(); /* probes use it with preemption off */
	iot_filter_free(old);
	return err;
}

/**
 * iot_category_abandon() - a reader of the stream has closed it, perhaps since it was killed
 *
 * What was started for this reader alone stops. Its filter goes, too: it may follow the
 * tree of a process, and there is one tree for all categories.
 * Context: task, may sleep as long as iot_category_stop(); closing cannot fail.
 */
void iot_category_abandon(struct iot_category *c, u32 reader)
{
	char none[] = "none";
	struct iot_why why = { };
	bool stopped = false;

	if (READ_ONCE(c->while_read) != reader)
		return;
	mutex_lock(&c->control);
	if (c->while_read == reader)
		stopped = stop_controlled(c);
	mutex_unlock(&c->control);
	if (!stopped)
		return;
	if (c->by_inode)
		iot_mounts_put();
	if (iot_category_set_filter(c, none, &why))
		pr_warn("%s: its filter stays: there is no memory for none\n", c->name);
}

/**
 * iot_category_set_reader() - a process begins to read the stream, or ends it
 * @old:	the reader that this is instead of: 0, or who ends
 * @new:	who begins, or 0
 */
void iot_category_set_reader(struct iot_category *c, u32 old, u32 new)
{
	mutex_lock(&c->lock);
	if (!old || c->reader == old)
		WRITE_ONCE(c->reader, new);
	update_state(c, iot_category_active(c));
	mutex_unlock(&c->lock);
}

/**
 * iot_category_offer_reader() - likewise, unless another one is left out already
 *
 * Return: is it this one?
 */
bool iot_category_offer_reader(struct iot_category *c, u32 process)
{
	bool taken;

	mutex_lock(&c->lock);
	taken = !c->reader;
	if (taken)
		WRITE_ONCE(c->reader, process);
	update_state(c, iot_category_active(c));
	mutex_unlock(&c->lock);
	return taken;
}

/* Records that can be read in one ring. */
static u64 count_stored(const struct iot_ring *ring)
{
	u64 end, n = 0, i = iot_ring_window(ring, &end);

	for (; i < end; i++) {
		n += iot_ring_holds(ring, i);
		cond_resched();
	}
	return n;
}

static void add_shard_stats(struct iot_category_stats *stats, const struct iot_shard *shard)
{
	const struct iot_ring *ring = iot_shard_ring(shard);
	u64 stored, taken, holes;

	if (!ring)
		return;
	stored = count_stored(ring);
	taken = atomic64_read(&ring->head) - READ_ONCE(ring->first);
	holes = atomic64_read(&ring->lost[0]);
	stats->seen += iot_ring_seen(ring, 0) + iot_ring_seen(ring, 1);
	stats->lost += holes + atomic64_read(&ring->lost[1]);
	stats->stored += stored;
	stats->overwritten += taken - min(taken, stored + holes);
	stats->cpus++;
}

/**
 * iot_category_stats() - count, over all CPUs
 *
 * lost comes from the writers' counter, seen from the numbers taken and stored from
 * the rings' slots: that they agree when nobody writes is a law that tests check. Class
 * 1 of a ring counts what mode discard refused.
 */
void iot_category_stats(struct iot_category *c, struct iot_category_stats *stats)
{
	struct iot_rings *rings = iot_category_rings(c);
	int cpu;

	memset(stats, 0, sizeof(*stats));
	stats->missed = c->missed ? c->missed() : 0;
	mutex_lock(&cpus_lock);
	stats->start_bytes = rings_size(c, READ_ONCE(c->keep));
	if (!rings)
		stats->cpus = cpumask_weight(&cpus);
	mutex_unlock(&cpus_lock);
	if (!rings)
		return;
	stats->bytes = READ_ONCE(rings->bytes);
	stats->lost = iot_ring_seen(c->nowhere, 0) + iot_ring_seen(c->nowhere, 1);
	stats->seen = stats->lost;
	for_each_possible_cpu(cpu)
		add_shard_stats(stats, &rings->shard[cpu]);
	iot_category_rings_put(rings);
}

/* The largest record that names a path, in words. */
#define WORDS_MAX	32
#define FITS(event) (sizeof(struct iot_##event) <= WORDS_MAX * sizeof(u64))

static_assert(FITS(fs) && FITS(fault) && FITS(request) && FITS(cache) && FITS(uring));

static void mark_record(const struct iot_category *c, const u64 *record,
			unsigned long *marks)
{
	const struct iot_schema_field *f = c->event->fields;
	unsigned int i;

	for (i = 0; i < c->event->nr_fields; i++, f++)
		if (!strcmp(f->kind, "path"))
			iot_path_table_mark(marks, record[f->offset / sizeof(u64)]);
}

static void mark_shard(const struct iot_category *c, const struct iot_shard *shard,
		       unsigned long *marks)
{
	u64 end, i = iot_shard_window(shard, &end);
	u64 record[WORDS_MAX];

	for (; i < end; i++) {
		if (iot_ring_read(iot_shard_ring(shard), i, record) == IOT_RING_OK)
			mark_record(c, record, marks);
		cond_resched();
	}
}

/** iot_category_mark_paths() - mark what kept records name. Context: task, may sleep */
void iot_category_mark_paths(unsigned long *marks)
{
	size_t i;
	int cpu;

	for (i = 0; i < ARRAY_SIZE(categories); i++) {
		struct iot_rings *rings = iot_category_rings(categories[i]);

		if (!rings)
			continue;
		for_each_possible_cpu(cpu)
			mark_shard(categories[i], &rings->shard[cpu], marks);
		iot_category_rings_put(rings);
	}
}

/* Hotplug: @cpu does not run anything yet. Its coming is not our matter. */
static int cpu_comes(unsigned int cpu)
{
	size_t i;

	mutex_lock(&cpus_lock);
	cpumask_set_cpu(cpu, &cpus);
	mutex_unlock(&cpus_lock);
	for (i = 0; i < ARRAY_SIZE(categories); i++) {
		struct iot_category *c = categories[i];
		struct iot_rings *rings;

		mutex_lock(&c->lock);
		rings = rings_of(c);
		if (rings && !rings->shard[cpu].ring)
			add_ring(c, rings, cpu);
		mutex_unlock(&c->lock);
	}
	return 0;
}

/* Hotplug: @cpu does not run anything any more. */
static int cpu_goes(unsigned int cpu)
{
	mutex_lock(&cpus_lock);
	cpumask_clear_cpu(cpu, &cpus);
	mutex_unlock(&cpus_lock);
	return 0;
}

static int category_prepare(struct iot_category *c)
{
	mutex_init(&c->lock);
	mutex_init(&c->refusal.lock);
	mutex_init(&c->pipe_lock);
	c->event = find_event(c->event_id);
	c->nowhere = kzalloc(iot_ring_bytes(1, c->event->size), GFP_KERNEL);
	c->pipe_place = kvcalloc(nr_cpu_ids, sizeof(*c->pipe_place), GFP_KERNEL);
	if (!c->nowhere || !c->pipe_place)
		return -ENOMEM;
	iot_ring_init(c->nowhere, 1, c->event->size, 0);
	return 0;
}

/* What category_prepare() made, of those that there are. */
static void categories_free(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(categories); i++) {
		kfree(categories[i]->nowhere);
		kvfree(categories[i]->pipe_place);
	}
}

/** iot_category_cpus_init() - follow which CPUs are online, before there are rings */
int iot_category_cpus_init(void)
{
	int err = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(categories) && !err; i++)
		err = category_prepare(categories[i]);
	if (!err) {
		cpus_state = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "iotracer:online", cpu_comes,
					       cpu_goes);
		err = min(cpus_state, 0);
	}
	if (err)
		categories_free();
	return err;
}

/** iot_category_cpus_exit() - at unload, when nobody can start anything any more */
void iot_category_cpus_exit(void)
{
	cpuhp_remove_state_nocalls(cpus_state);
}

/** iot_category_init() - make the folders of all; on error nothing is left to undo */
int iot_category_init(struct proc_dir_entry *root)
{
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(categories); i++) {
		struct iot_category *c = categories[i];

		mutex_init(&c->control);
		c->keep = DEFAULT_KEEP;
		c->sample = 1;
		err = iot_category_mkdir(c, root);
		if (err)
			return err;
	}
	return 0;
}

/* For good: nobody but us is in control, and a signal does not end it. */
static struct iot_filter *stop_and_take_filter(struct iot_category *c)
{
	struct iot_filter *f;

	mutex_lock(&c->control);
	if (stop_controlled(c) && c->by_inode)
		iot_mounts_put();
	mutex_lock(&c->lock);
	f = filter_of(c);
	RCU_INIT_POINTER(c->filter, NULL);
	mutex_unlock(&c->lock);
	mutex_unlock(&c->control);
	return f;
}

/**
 * iot_category_stop_all() - at unload, when /proc/iotracer is gone
 *
 * All hooks are let go, those of filters too.
 */
void iot_category_stop_all(void)
{
	struct iot_filter *filters[ARRAY_SIZE(categories)];
	bool any = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(categories); i++) {
		filters[i] = stop_and_take_filter(categories[i]);
		any |= !!filters[i];
	}
	if (any)
		synchronize_rcu(); /* probes that are still running find none */
	for (i = 0; i < ARRAY_SIZE(categories); i++)
		iot_filter_free(filters[i]);
}

/** iot_category_free_all() - at unload, when no probe is left */
void iot_category_free_all(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(categories); i++) {
		iot_category_rings_put(rcu_dereference_protected(categories[i]->rings, true));
		if (categories[i]->release)
			categories[i]->release();
	}
	categories_free();
	iot_tree_exit();
}
