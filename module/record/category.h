/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A category: events of the whole system in rings of one CPU each, with control,
 * log, stream and stats in /proc/iotracer/<name>. Nothing here knows of /proc.
 */
#ifndef IOT_CATEGORY_H
#define IOT_CATEGORY_H

#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include "core/refusal.h"
#include "core/ring.h"
#include "file/paths.h"
#include "record/filter.h"
#include "record/rings.h"
#include "uapi/iotracer.h"

struct iot_schema_event;
struct proc_dir_entry;

#define IOT_CATEGORY_ACTIVE	BIT(31)
#define IOT_CATEGORY_READER	BIT(30)	/* there is one */
#define IOT_CATEGORY_LATE	BIT(29)	/* a condition that no entry can check */
#define IOT_CATEGORY_SPARSE	BIT(27)	/* sampling or mode discard: not every event gets a slot */
#define IOT_CATEGORY_TRACK	BIT(28)	/* fs: direct I/O is followed for category block */

/**
 * struct iot_pipe_position - where the pipes of a category are in the records of one CPU
 * @next:	seq of the next record that one shows
 * @gap:	records before it that are gone, and that none has told of yet
 */
struct iot_pipe_position {
	u64 next;
	u64 gap;
};

/* Traits of a category. */
#define IOT_TRAIT_BY_INODE	BIT(0)	/* needs iot_mounts_get(): iot_paths_of_inode() */
#define IOT_TRAIT_WRITEBACK	BIT(1)	/* has events of data written after its writer has gone */

/**
 * struct iot_category_ops - what the probes of a category do
 * @start:	attach all hooks; an error leaves none attached
 * @stop:	detach them; their probes may run until iot_hook_exit() has waited for them
 * @refresh:	the filter has changed: attach what it needs more; may be NULL
 * @missed:	events that the hooks could not follow
 * @release:	at unload, when no probe is left; may be NULL
 *
 * @start, @stop and @refresh run under the category's control lock, and may sleep long.
 */
struct iot_category_ops {
	int (*start)(void);
	void (*stop)(void);
	int (*refresh)(void);
	unsigned long (*missed)(void);
	void (*release)(void);
};

/**
 * struct iot_category - one category; static, for the life of the module
 * @state:	0: nothing is traced; else IOT_CATEGORY_ACTIVE and what there is to
 *		check, IOT_FILTER_*: the first thing that a probe looks at; also
 *		IOT_CATEGORY_TRACK, on its own or with them
 * @pid:	of @filter, like the next ones: a copy for hot probes, which do not
 *		wait for RCU. While the filter is being changed an event may be
 *		judged by some of the old and some of the new.
 * @reader:	process whose own events are not wanted, 0 for none
 * @sample:	one of so many events is recorded, at least 1
 * @track:	IOT_CATEGORY_TRACK is to be in @state
 * @discard:	a full ring keeps what it has and loses what comes
 * @started:	all hooks are attached: what control says, while @state is active earlier
 * @filter:	under RCU, never NULL while something is traced
 * @rings:	under RCU: replaced by size; NULL before the first start
 * @rings_of:	what all its rings have
 * @of:		its name, which is that of its directory, its events and their kinds
 * @traits:	IOT_TRAIT_*
 * @probes:	what its probes do; set once, at load; NULL: they are left out
 * @left_out:	why they are; NULL where there are @probes
 * @event:	descriptor of its records
 * @control:	serialises start, stop and another filter, for as long as the kernel
 *		needs to patch its text
 * @while_read:	process with whose stream it stops, 0: none; of @control
 * @lock:	of @filter, @rings, @reader, @started and what makes @state, so
 *		that who reads need not wait for what the kernel does; within @control
 * @keep:	records a ring keeps
 * @t0:		CLOCK_MONOTONIC ns
 * @pipe_lock:	of @pipes and @pipe_position; outside @lock
 * @pipes:	open ones
 * @pipe_position:	by CPU
 * @refusal:	of the last command that was refused
 * @dir:	its folder
 */
struct iot_category {
	u32 state;
	u32 pid;
	u32 dev;
	u32 kinds;
	u64 ops;	/* the first 64 */
	u64 inode;
	u32 reader;
	u32 sample;
	bool track;
	bool discard;
	bool started;
	struct iot_filter __rcu *filter;
	struct iot_rings __rcu *rings;

	struct iot_rings_of rings_of;
	struct iot_filter_of of;
	u32 traits;
	const struct iot_category_ops *probes;
	const char *left_out;

	const struct iot_schema_event *event;
	struct mutex control;	/* start, stop, filter */
	u32 while_read;
	struct mutex lock;	/* of filter, rings and what follows */
	u64 keep;
	u64 t0;
	struct mutex pipe_lock;	/* of the next two */
	unsigned int pipes;
	struct iot_pipe_position *pipe_position;
	struct iot_refusal refusal;
	struct proc_dir_entry *dir;
};

static __always_inline bool iot_category_active(const struct iot_category *c)
{
	return READ_ONCE(c->state) & IOT_CATEGORY_ACTIVE;
}

/**
 * iot_category_wants_task() - is the current task's doing wanted?
 *
 * Context: any, preemption off. The first check of an event.
 */
static __always_inline bool iot_category_wants_task(const struct iot_category *c)
{
	const struct iot_filter *f;

	if (current->tgid == READ_ONCE(c->reader))
		return false;
	f = rcu_dereference_sched(c->filter);
	return f && iot_filter_task(f);
}

/**
 * iot_category_wants_any() - is every operation of the current task wanted?
 * @state:	of the category
 *
 * Of the entry of a call: quicker than the filter, which has to be asked if it is
 * false. Context: any.
 */
static __always_inline bool iot_category_wants_any(const struct iot_category *c, u32 state)
{
	return (state & (IOT_CATEGORY_ACTIVE | IOT_FILTER_TASK | IOT_FILTER_OP)) ==
	       IOT_CATEGORY_ACTIVE && current->tgid != READ_ONCE(c->reader);
}

#define IOT_ANY_OP	UINT_MAX	/* the operation is not known yet */

bool iot_category_wants_by_filter(const struct iot_category *c, unsigned int op);

/**
 * iot_category_wants() - is an operation of the current task wanted?
 * @op:		its id, or IOT_ANY_OP
 *
 * The first question of an event; what the filter says of files and amounts comes later.
 * Context: any.
 */
static __always_inline bool iot_category_wants(const struct iot_category *c, unsigned int op)
{
	u32 state = READ_ONCE(c->state);

	return (state & IOT_CATEGORY_ACTIVE) &&
	       (likely(iot_category_wants_any(c, state)) || iot_category_wants_by_filter(c, op));
}

/* What makes that some files are wanted and others of the same kind are not. */
#define IOT_CATEGORY_BY_FILE	(IOT_FILTER_DEV | IOT_FILTER_INODE | IOT_CATEGORY_LATE)

/** iot_category_wants_file() - is what happens to this file wanted? Context: any */
static __always_inline bool iot_category_wants_file(const struct iot_category *c,
						    const struct iot_paths_file *file)
{
	const struct iot_filter *f;
	bool wanted;

	if (likely(!(READ_ONCE(c->state) & IOT_CATEGORY_BY_FILE)))
		return file->kinds & READ_ONCE(c->kinds);

	preempt_disable_notrace();
	f = rcu_dereference_sched(c->filter);
	wanted = f && file->kinds && iot_filter_file(f, file->kind, file->dev, file->ino);
	preempt_enable_notrace();
	return wanted;
}

/**
 * iot_category_samples() - is this one of those that sampling takes?
 *
 * For what is dear to find out: if it is not taken nothing more need be done, and if
 * it is iot_category_has_room() and iot_event_reserve_all() do not ask again.
 * Context: any, preemption off; the category was started.
 */
static __always_inline bool iot_category_samples(struct iot_category *c)
{
	struct iot_shard *shard;
	u32 sample = READ_ONCE(c->sample);

	if (likely(sample <= 1))
		return true;
	shard = &rcu_dereference_sched(c->rings)->shard[raw_smp_processor_id()];
	if (++shard->passed < sample)
		return false;
	shard->passed = 0;
	return true;
}

bool iot_category_has_room(struct iot_category *c);
bool iot_category_thins_out(struct iot_category *c);

/**
 * iot_category_is_plain() - does no filter, sampling or mode keep an event from its record?
 *
 * Whether the file's kind is wanted was asked before. Context: any.
 */
static __always_inline bool iot_category_is_plain(const struct iot_category *c)
{
	return (READ_ONCE(c->state) & ~IOT_CATEGORY_READER) == IOT_CATEGORY_ACTIVE;
}

/* The ring of this CPU. Context: any, preemption off; the category was started. */
static __always_inline struct iot_ring *iot_category_ring(struct iot_category *c)
{
	struct iot_rings *rings = rcu_dereference_sched(c->rings);

	return rcu_dereference_sched(rings->shard[raw_smp_processor_id()].open);
}

int iot_category_start(struct iot_category *c, u32 reader, struct iot_why *why);
int iot_category_stop(struct iot_category *c);
void iot_category_abandon(struct iot_category *c, u32 reader);
void iot_category_reset(struct iot_category *c);
int iot_category_resize(struct iot_category *c, u64 keep, struct iot_why *why);
int iot_category_set_filter(struct iot_category *c, char *text, struct iot_why *why);
void iot_category_set_sample(struct iot_category *c, u32 sample);
void iot_category_set_track(struct iot_category *c, bool track);
void iot_category_set_discard(struct iot_category *c, bool discard);
struct iot_rings *iot_category_rings(struct iot_category *c);
void iot_category_set_reader(struct iot_category *c, u32 old, u32 new);
bool iot_category_offer_reader(struct iot_category *c, u32 process);

/**
 * struct iot_category_stats - since the first start or the last reset
 * @rings:	before the first start: how many CPUs will have a ring, and zeroes
 * @missed:	events that the hooks could not follow
 * @bytes:	of memory that the rings take
 * @start_bytes: what they take after start or size
 */
struct iot_category_stats {
	struct iot_rings_stats rings;
	u64 missed;
	size_t bytes;
	size_t start_bytes;
};

void iot_category_stats(struct iot_category *c, struct iot_category_stats *stats);

/* The largest record that names a path, in words. */
#define IOT_RECORD_WORDS_MAX	32

void iot_category_mark_paths(struct iot_category *c, unsigned long *marks);
void iot_category_add_cpu(struct iot_category *c, int cpu);

int iot_category_init(struct iot_category *c);
struct iot_filter *iot_category_end(struct iot_category *c);
void iot_category_free(struct iot_category *c);

#endif /* IOT_CATEGORY_H */
