// SPDX-License-Identifier: GPL-2.0
/*
 * A category: events of the whole system in rings of one CPU each.
 *
 * Nothing is hooked until start. The rings are made by the first start and stay
 * over stop, so that what was recorded can be read; reset and size replace them
 * as a whole, and the numbers of records go on rising over that. Writers are in
 * the rings with preemption off; whoever replaces them waits for an RCU grace
 * period. Readers hold a reference, and may sleep.
 */
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
#include "mounts.h"
#include "param.h"
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

static void rings_free(struct iot_rings *rings)
{
	int cpu;

	for_each_possible_cpu(cpu)
		kvfree(rings->shard[cpu].ring);
	iot_budget_give(rings->bytes);
	kvfree(rings);
}

static struct iot_ring *ring_new(const struct iot_category *c, u64 keep)
{
	size_t bytes = iot_ring_bytes(keep, c->event->size);
	struct iot_ring *ring;

	ring = __vmalloc(bytes, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN |
			 __GFP_RETRY_MAYFAIL);
	if (ring)
		iot_ring_init(ring, keep, c->event->size, 0);
	return ring;
}

static struct iot_rings *rings_new(const struct iot_category *c, u64 keep)
{
	size_t bytes = iot_ring_bytes(keep, c->event->size) * num_possible_cpus();
	struct iot_rings *rings;
	int cpu;

	if (!iot_budget_take(bytes, "a category's rings"))
		return NULL;
	rings = kvzalloc(struct_size(rings, shard, nr_cpu_ids), GFP_KERNEL);
	if (!rings) {
		iot_budget_give(bytes);
		return NULL;
	}
	refcount_set(&rings->refs, 1);
	rings->keep = keep;
	rings->bytes = bytes;
	for_each_possible_cpu(cpu) {
		rings->shard[cpu].ring = ring_new(c, keep);
		if (!rings->shard[cpu].ring) {
			rings_free(rings);
			return NULL;
		}
	}
	return rings;
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

	for_each_possible_cpu(cpu)
		new->shard[cpu].shift = old->shard[cpu].shift +
					atomic64_read(&old->shard[cpu].ring->head);
}

/*
 * Put other rings in place of the old ones. Readers, who take the lock, find them
 * with their final numbers.
 */
static int replace_locked(struct iot_category *c, u64 keep)
{
	struct iot_rings *old = rings_of(c);
	struct iot_rings *new;

	if (keep > iot_param_max_events_limit()) {
		pr_err("size %llu is above max_events_limit=%llu: take fewer or raise the parameter\n",
		       keep, iot_param_max_events_limit());
		return -ENOMEM;
	}
	new = rings_new(c, keep);
	if (!new)
		return -ENOMEM;
	rcu_assign_pointer(c->rings, new);
	c->keep = keep;
	c->t0 = ktime_get_mono_fast_ns();
	synchronize_rcu(); /* the last writer of the old rings is done */
	if (old)
		continue_numbers(new, old);
	iot_category_rings_put(old);
	return 0;
}

/**
 * iot_category_replace() - forget all events and counts
 * @keep:	events each CPU keeps from now on, 0: as many as so far
 *
 * Return: 0 or -ENOMEM; then nothing has changed.
 */
int iot_category_replace(struct iot_category *c, u64 keep)
{
	int err = 0;

	mutex_lock(&c->lock);
	if (rings_of(c))
		err = replace_locked(c, keep ?: c->keep);
	else if (keep && keep > iot_param_max_events_limit())
		err = -ENOMEM;
	else if (keep)
		c->keep = keep;
	mutex_unlock(&c->lock);
	return err;
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
	state |= f->used;
	/* in a superblock a number from the pool may not be the one that stat(2) shows */
	if ((f->used & IOT_FILTER_DEV) && !MAJOR(f->dev))
		state = (state & ~IOT_FILTER_DEV) | IOT_CATEGORY_LATE;
	if (c->reader)
		state |= IOT_CATEGORY_READER;
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
 * iot_category_has_room() - in mode discard: is there a place for one more?
 *
 * What finds none is counted. Context: any, preemption off.
 */
bool iot_category_has_room(struct iot_category *c, struct iot_shard *shard)
{
	struct iot_ring *ring = shard->ring;

	if (atomic64_read(&ring->head) - READ_ONCE(ring->base) < ring->keep)
		return true;
	iot_ring_refuse(ring, 1);
	return false;
}

/* A filter that lets all pass that is wanted by default, if there is none. */
static int need_filter(struct iot_category *c)
{
	char none[] = "none";
	struct iot_filter *f;

	if (filter_of(c))
		return 0;
	f = iot_filter_parse(none, c->event_id, c->default_kinds, NULL);
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
static int prepare(struct iot_category *c)
{
	int err;

	mutex_lock(&c->lock);
	err = need_filter(c);
	if (!err && !rings_of(c))
		err = replace_locked(c, c->keep);
	if (!err)
		update_state(c, true);
	mutex_unlock(&c->lock);
	return err;
}

static int start_controlled(struct iot_category *c)
{
	int err = prepare(c);

	if (err)
		return err;
	err = c->start();
	set_started(c, !err);
	return err;
}

/**
 * iot_category_start() - trace; nothing to do where it is traced already
 *
 * Context: task, may sleep long: the kernel patches its text.
 * Return: 0, -EINTR: killed while another was in control; or another error.
 */
int iot_category_start(struct iot_category *c)
{
	bool started = false;
	int err = 0;

	/* it reads a file of the kernel, which may not be done with the lock */
	if (c->by_inode)
		err = iot_mounts_get();
	if (err)
		return err;
	err = mutex_lock_killable(&c->control);
	if (!err) {
		if (!iot_category_active(c)) {
			err = start_controlled(c);
			started = !err;
		}
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
	set_started(c, false);
	c->stop();
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
 *
 * Context: task, may sleep as long as iot_category_start().
 * Return: 0 or an error; then the old one stays.
 */
int iot_category_set_filter(struct iot_category *c, char *text)
{
	struct iot_filter *f, *old;
	int err = 0;

	if (mutex_lock_killable(&c->control))
		return -EINTR;
	old = filter_of(c);
	f = iot_filter_parse(text, c->event_id, c->default_kinds, old);
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
	}
	mutex_unlock(&c->control);
	synchronize_rcu(); /* probes use it with preemption off */
	iot_filter_free(old);
	return err;
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

/**
 * iot_category_stats() - count, over all CPUs
 *
 * seen and lost come from the writers' counters, stored from the rings' slots
 * and overwritten from the numbers taken: that they agree when nobody writes is
 * a law that tests check. Class 1 of a ring counts what mode discard refused.
 */
void iot_category_stats(struct iot_category *c, struct iot_category_stats *stats)
{
	struct iot_rings *rings = iot_category_rings(c);
	int cpu;

	memset(stats, 0, sizeof(*stats));
	stats->missed = c->missed ? c->missed() : 0;
	if (!rings)
		return;
	stats->bytes = rings->bytes;
	for_each_possible_cpu(cpu) {
		const struct iot_ring *ring = rings->shard[cpu].ring;
		u64 stored = count_stored(ring), taken = atomic64_read(&ring->head);
		u64 holes = atomic64_read(&ring->lost[0]);

		stats->seen += atomic64_read(&ring->seen[0]) + atomic64_read(&ring->seen[1]);
		stats->lost += holes + atomic64_read(&ring->lost[1]);
		stats->stored += stored;
		stats->overwritten += taken - min(taken, stored + holes);
	}
	iot_category_rings_put(rings);
}

/** iot_category_init() - make the folders of all; on error nothing is left to undo */
int iot_category_init(struct proc_dir_entry *root)
{
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(categories); i++) {
		struct iot_category *c = categories[i];

		mutex_init(&c->control);
		mutex_init(&c->lock);
		c->event = find_event(c->event_id);
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
	iot_tree_exit();
}
