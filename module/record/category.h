/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A category: events of the whole system in one ring per CPU, with control, log, stream and
 * stats in /proc/iotracer/<name>. Nothing here depends on /proc.
 */
#ifndef IOT_CATEGORY_H
#define IOT_CATEGORY_H

#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include "core/refusal.h"
#include "file/paths.h"
#include "record/filter.h"
#include "record/log.h"
#include "uapi/iotracer.h"

struct iot_originator;
struct iot_waiting_ops;

#define IOT_CATEGORY_ACTIVE	BIT(31)
#define IOT_CATEGORY_READER	BIT(30)	/* @reader is set */
#define IOT_CATEGORY_LATE	BIT(29)	/* a condition cannot be checked at the entry of a call */
#define IOT_CATEGORY_SCOPES	BIT(26)	/* all conditions are checked at the end of an event */
#define IOT_CATEGORY_SPARSE	BIT(27)	/* sampling or mode discard: not every event is recorded */
#define IOT_CATEGORY_TRACK	BIT(28)	/* fs: direct I/O is followed for category block */

#define IOT_CATEGORY_KEEP	16384	/* records per CPU, if no number is given */
#define IOT_RECORD_PATHS_MAX	2	/* largest number of paths that a record names */

/* Traits of a category. */
#define IOT_TRAIT_BY_INODE	BIT(0)	/* needs iot_mounts_get(), for iot_paths_of_inode() */
#define IOT_TRAIT_WRITEBACK	BIT(1)	/* may write data of processes that have exited */

/**
 * struct iot_category_ops - operations of the probes of a category
 * @start:	attach all hooks; an error leaves none attached
 * @stop:	detach all hooks; probes may run until iot_hook_exit() has waited for them
 * @refresh:	attach what a changed filter needs in addition; may be NULL
 * @begin:	the category itself, and no scope, has started: all hooks are attached; may be NULL
 * @missed:	get the number of events that the hooks could not follow
 * @release:	clean up at unload, when no probe is left; may be NULL
 * @waiting:	its calls that may sleep without bound (probe/waiting.h); NULL if there are none
 *
 * @start, @stop, @refresh and @begin run under the category's control lock, and may sleep for
 * seconds.
 */
struct iot_category_ops {
	int (*start)(void);
	void (*stop)(void);
	int (*refresh)(void);
	int (*begin)(void);
	unsigned long (*missed)(void);
	void (*release)(void);
	const struct iot_waiting_ops *waiting;
};

/**
 * struct iot_category - one category, or a scope of one (scope.h)
 * @state:	probes read this first. 0 if nothing is traced, else IOT_CATEGORY_ACTIVE and the
 *		conditions to check, IOT_FILTER_*. IOT_CATEGORY_TRACK may be set in either case
 * @pid:	copied from @filter, like the next four, for hot probes, which do not use RCU; of
 *		several values it is the first one. While the filter is being changed, an event
 *		may be checked partly by the old one and partly by the new one
 * @reader:	number of the process whose own events are not recorded, 0 if there is none. Another
 *		process can get this number later: see iot_category_is_reader()
 * @sample:	record one event in @sample, at least 1
 * @track:	IOT_CATEGORY_TRACK is to be set in @state
 * @started:	all hooks are attached; shown in control. @own is set before that
 * @own:	its own rings get events; without it, only its scopes may
 * @filter:	under RCU, never NULL while something is traced
 * @tree:	that of @filter, for hot probes; NULL if it has none
 * @log:	its records. Its lock also protects @filter, @reader, @started and all that
 *		determines @state, so that readers do not wait while the kernel patches its text;
 *		taken inside @control
 * @reader_pid:	the process that @reader means, to which a reference is held, or NULL
 * @rings_of:	what is the same for all its rings, of any size
 * @of:		its name, also that of its directory, its record type and default kinds
 * @traits:	IOT_TRAIT_*
 * @probes:	operations of its probes, set at load; NULL if the probes are left out
 * @left_out:	why the probes are left out; NULL if there are @probes
 * @paths:	words of a record that hold the id of a path
 * @nr_paths:	number of @paths
 * @base:	the category whose hooks a scope uses, beside its own; NULL if it is none
 * @also:	other categories whose hooks a scope uses, ended by a NULL; NULL if there are none.
 *		Set once, under @control
 * @list:	in the list of all categories and scopes, under its lock
 * @control:	serialises start, stop and changes of the filter; held for as long as the kernel
 *		needs to patch its text. That of @base, or of one of @also, is taken inside that of
 *		a scope
 * @users:	those for which the hooks are attached: itself and its scopes; protected by
 *		@control
 * @while_read:	tracing stops when this process closes the stream, NULL if there is none;
 *		changed under @control and the lock of @log
 * @of_tasks:	it is a scope of processes
 * @nr_scopes:	scopes of it that run
 * @nr_of_tasks: those of them that are of processes
 * @was_late:	there were scopes since the start and the last filter: there may be events in
 *		progress of which no condition was checked at their beginning
 * @refusal:	the last command that was refused
 */
struct iot_category {
	u32 state;
	u32 pid;
	u32 dev;
	u32 kinds;
	u64 ops;	/* bits of the first 64 operations */
	u64 inode;
	u32 reader;
	u32 sample;
	bool track;
	bool started;
	bool own;
	struct iot_filter __rcu *filter;
	struct iot_descendants __rcu *tree;
	struct iot_log log;
	struct pid *reader_pid;

	struct iot_rings_of rings_of;
	struct iot_filter_of of;
	u32 traits;
	const struct iot_category_ops *probes;
	const char *left_out;

	u8 paths[IOT_RECORD_PATHS_MAX];
	u8 nr_paths;
	struct iot_category *base;
	struct iot_category * const *also;
	struct list_head list;
	struct mutex control;	/* serialises start, stop, filter */
	unsigned int users;
	struct pid *while_read;
	bool of_tasks;
	unsigned int nr_scopes;
	unsigned int nr_of_tasks;
	bool was_late;
	struct iot_refusal refusal;
};

static __always_inline bool iot_category_active(const struct iot_category *c)
{
	return READ_ONCE(c->state) & IOT_CATEGORY_ACTIVE;
}

/** iot_category_has_scopes() - are all conditions checked at the end only? Context: any */
static __always_inline bool iot_category_has_scopes(const struct iot_category *c)
{
	return READ_ONCE(c->state) & IOT_CATEGORY_SCOPES;
}

/**
 * iot_category_is_reader() - is the current task one of the process that is left out?
 *
 * Almost never are even the numbers equal. Context: any, but in an interrupt the current task is
 * not the one that caused the event.
 */
static __always_inline bool iot_category_is_reader(const struct iot_category *c)
{
	return unlikely(current->tgid == READ_ONCE(c->reader)) &&
	       task_tgid(current) == READ_ONCE(c->reader_pid);
}

bool iot_category_is_readers(const struct iot_category *c, u32 number);

/**
 * iot_category_leaves_out() - is the process that a record names the reader?
 *
 * Of data that is written back only the number is known of the process that made it dirty. It is
 * taken for the reader unless another process has the number now. Context: any.
 */
static __always_inline bool iot_category_leaves_out(const struct iot_category *c, u32 number)
{
	return unlikely(number == READ_ONCE(c->reader)) && number &&
	       iot_category_is_readers(c, number);
}

/**
 * iot_category_wants_task() - check whether operations of the current task are wanted
 *
 * Context: any, preemption off. The first check of an event.
 */
static __always_inline bool iot_category_wants_task(const struct iot_category *c)
{
	const struct iot_filter *f;

	if (iot_category_is_reader(c))
		return false;
	f = rcu_dereference_sched(c->filter);
	return f && iot_filter_task(f);
}

/**
 * iot_category_wants_any() - check whether every operation of the current task is wanted
 * @state:	of the category
 *
 * For the entry of a call. This is quicker than the filter, which decides if this returns false.
 * Context: any.
 */
static __always_inline bool iot_category_wants_any(const struct iot_category *c, u32 state)
{
	const u32 conditions = IOT_CATEGORY_SCOPES | IOT_FILTER_TASK | IOT_FILTER_OP;

	if (likely(state == IOT_CATEGORY_ACTIVE)) /* so there is no reader */
		return true;
	return (state & (IOT_CATEGORY_ACTIVE | conditions)) == IOT_CATEGORY_ACTIVE &&
	       !iot_category_is_reader(c);
}

/**
 * iot_category_rejects_process() - check the condition on the process, without RCU
 * @state:	of the category
 *
 * A call that is rejected here needs no further check. Context: any; in an interrupt as
 * iot_filter_task().
 */
static __always_inline bool iot_category_rejects_process(const struct iot_category *c, u32 state)
{
	return (state & IOT_FILTER_PID) && READ_ONCE(c->pid) != current->tgid;
}

/**
 * iot_category_tree_has_current() - check the condition on the tree, without the filter
 *
 * Context: any; in an interrupt as iot_filter_task().
 */
static __always_inline bool iot_category_tree_has_current(const struct iot_category *c)
{
	const struct iot_descendants *tree;
	bool has;

	preempt_disable_notrace();
	tree = rcu_dereference_sched(c->tree);
	has = tree && iot_descendants_has(tree, current->tgid);
	preempt_enable_notrace();
	return has;
}

#define IOT_ANY_OP	UINT_MAX	/* the operation is not known yet */

/**
 * iot_category_wants_op() - check whether an operation is wanted, whoever it belongs to
 *
 * For events that do not belong to the current task: iot_category_wants_originator() checks the
 * rest. Context: any, preemption off.
 */
static __always_inline bool iot_category_wants_op(const struct iot_category *c, unsigned int op)
{
	u32 state = READ_ONCE(c->state);
	const struct iot_filter *f;

	if (!(state & IOT_CATEGORY_ACTIVE))
		return false;
	if (likely(!(state & IOT_FILTER_OP)))
		return true;
	f = rcu_dereference_sched(c->filter);
	return f && iot_filter_op(f, op);
}

bool iot_category_wants_originator(const struct iot_category *c, const struct iot_originator *who);

/* State bits with which only some files of a kind are wanted. */
#define IOT_CATEGORY_BY_FILE	(IOT_FILTER_DEV | IOT_FILTER_INODE | IOT_CATEGORY_LATE)

bool iot_category_rejects_file(const struct iot_category *c, u16 kind, u32 dev, u64 ino);
bool iot_category_rejects_inode(const struct iot_category *c, u64 ino);
bool iot_category_rejects_socket(const struct iot_category *c, u16 family, u16 protocol,
				 u32 netns);
bool iot_category_rejects_ends(const struct iot_category *c, const struct iot_address *one,
			       const struct iot_address *other);

/** iot_category_wants_file() - check whether events of this file are wanted. Context: any */
static __always_inline bool iot_category_wants_file(const struct iot_category *c,
						    const struct iot_paths_file *file)
{
	/* no READ_ONCE(): the loads are then parts of the comparisons */
	if (likely(!(data_race(c->state) & IOT_CATEGORY_BY_FILE)))
		return file->kinds & data_race(c->kinds); /* as above */
	return file->kinds && !iot_category_rejects_file(c, file->kind, file->dev, file->ino);
}

/**
 * iot_category_samples() - check whether sampling takes this event
 *
 * For events that are expensive to evaluate: if it does not, nothing more need be done. If it
 * does, @sampled of iot_category_rejects_at_end() is set.
 * Context: any, preemption off; the category was started.
 */
static __always_inline bool iot_category_samples(struct iot_category *c)
{
	struct iot_shard *shard;
	u32 sample = READ_ONCE(c->sample);

	if (likely(sample <= 1))
		return true;
	shard = &rcu_dereference_sched(c->log.rings)->shard[raw_smp_processor_id()];
	if (++shard->passed < sample)
		return false;
	shard->passed = 0;
	return true;
}

/* What can only be checked at the end of an event, in every category. */
#define IOT_CATEGORY_AT_END	(IOT_CATEGORY_ACTIVE | IOT_CATEGORY_SPARSE | \
				 IOT_CATEGORY_SCOPES | IOT_FILTER_LATENCY | IOT_FILTER_SIZE)

/**
 * iot_category_asks_at_end() - check whether anything may drop an event that has ended
 * @open:	conditions that have not been checked for it yet: IOT_FILTER_*, and
 *		IOT_CATEGORY_LATE with IOT_FILTER_DEV
 *
 * If so, iot_category_rejects_at_end() decides, and iot_category_rejects_file() if conditions on
 * the file are open. Context: any, preemption off.
 */
static __always_inline bool iot_category_asks_at_end(const struct iot_category *c, u32 open)
{
	/* no READ_ONCE(): the load is then a part of the comparison */
	if (likely(data_race(c->state) == IOT_CATEGORY_ACTIVE))
		return false;
	return (READ_ONCE(c->state) & (IOT_CATEGORY_AT_END | open)) != IOT_CATEGORY_ACTIVE;
}

bool iot_category_rejects_at_end(struct iot_category *c, unsigned int op, u64 latency, s64 size,
				 bool sampled);

/* Get the ring of this CPU. Context: any, preemption off; the category was started. */
static __always_inline struct iot_ring *iot_category_ring(struct iot_category *c, u64 cpu)
{
	return rcu_dereference_sched(rcu_dereference_sched(c->log.rings)->open[cpu]);
}

int iot_category_start(struct iot_category *c, struct pid *reader, struct iot_why *why);
int iot_category_stop(struct iot_category *c);
int iot_category_extend(struct iot_category *scope, struct iot_category * const *also,
			struct iot_why *why);
void iot_category_abandon(struct iot_category *c, const struct pid *reader);
void iot_category_reset(struct iot_category *c, bool new_t0);
int iot_category_resize(struct iot_category *c, u64 keep, struct iot_why *why);
u64 iot_category_missed(const struct iot_category *c);
int iot_category_set_filter(struct iot_category *c, char *text, struct iot_why *why);
void iot_category_set_sample(struct iot_category *c, u32 sample);
void iot_category_set_track(struct iot_category *c, bool track);
void iot_category_set_discard(struct iot_category *c, bool discard);
void iot_category_take_reader(struct iot_category *c, struct pid *process);
bool iot_category_offer_reader(struct iot_category *c, struct pid *process);
void iot_category_drop_reader(struct iot_category *c, const struct pid *process);

void iot_category_mark_paths(struct iot_category *c, unsigned long *marks);

int iot_category_init(struct iot_category *c);
void iot_categories_for_each(void (*fn)(struct iot_category *c, void *data), void *data);
struct iot_filter *iot_category_end(struct iot_category *c);
void iot_category_free(struct iot_category *c);

#endif /* IOT_CATEGORY_H */
