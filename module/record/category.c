// SPDX-License-Identifier: GPL-2.0
/*
 * A category: events of the whole system.
 *
 * Nothing is hooked before start. The first start makes the log (log.c), which stays after stop,
 * so that the records can be read.
 */
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "core/refusal.h"
#include "core/schema.h"
#include "hook/symbol.h"
#include "file/originator.h"
#include "file/mounts.h"
#include "record/category.h"
#include "record/filter_parse.h"

static DEFINE_MUTEX(list_lock);	/* protects @all; the lock of a log is taken inside */
static LIST_HEAD(all);		/* categories and scopes */

/* Get the filter. Caller holds the lock of @log or @control; changing it takes both. */
static struct iot_filter *filter_of(struct iot_category *c)
{
	return rcu_dereference_protected(c->filter, lockdep_is_held(&c->log.lock) ||
						    lockdep_is_held(&c->control));
}

/** iot_category_resize() - do iot_log_resize() */
int iot_category_resize(struct iot_category *c, u64 keep, struct iot_why *why)
{
	int err = iot_log_resize(&c->log, keep, why);

	if (!err)
		iot_paths_tidy();
	return err;
}

/** iot_category_reset() - do iot_log_reset() */
void iot_category_reset(struct iot_category *c, bool new_t0)
{
	iot_log_reset(&c->log, new_t0);
	iot_paths_tidy();
}

/* Copy the filter to where hot probes read it. Return: the conditions that are left to check. */
static u32 publish_filter(struct iot_category *c, const struct iot_filter *f)
{
	u32 state = f->used & ~IOT_FILTER_REJECTED;

	WRITE_ONCE(c->pid, f->pids.at[0]);
	WRITE_ONCE(c->dev, f->devs[0]);
	WRITE_ONCE(c->kinds, f->kinds);
	WRITE_ONCE(c->inode, f->inodes.at[0]);
	WRITE_ONCE(c->ops, f->ops[0]);
	/* a superblock's anonymous device number may not be the one that stat(2) shows */
	if ((f->used & IOT_FILTER_DEV) && (f->nr_devs > 1 || !MAJOR(f->devs[0])))
		state = (state & ~IOT_FILTER_DEV) | IOT_CATEGORY_LATE;
	if (f->inodes.nr > 1)
		state = (state & ~IOT_FILTER_INODE) | IOT_CATEGORY_LATE;
	/* of several processes, as of threads, only the filter knows whether one is among them */
	if (f->pids.nr > 1)
		state = (state & ~IOT_FILTER_PID) | IOT_FILTER_TID;
	if (c->reader)
		state |= IOT_CATEGORY_READER;
	if (c->sample > 1 || c->log.discard)
		state |= IOT_CATEGORY_SPARSE;
	return state;
}

/* Check whether only events below the paths of the filter are wanted. */
static bool is_by_path(struct iot_category *c)
{
	return c->own && filter_of(c)->used & IOT_FILTER_PATH;
}

/*
 * Check whether the conditions of the filter are checked at the end of an event only: scopes
 * have other conditions, and paths are known then. After the last scope has gone this stays so
 * until the next start or filter, if there is a filter: no condition was checked of what is in
 * progress.
 */
static bool is_late(struct iot_category *c)
{
	if (c->nr_scopes || is_by_path(c))
		c->was_late = true;
	return c->nr_scopes || (c->own && c->was_late && filter_of(c)->used);
}

/* Get the kinds of files of which the category itself wants events. */
static u32 own_kinds(struct iot_category *c)
{
	if (!c->own)
		return 0;
	return is_by_path(c) ? IOT_PATHS_BELOW : filter_of(c)->kinds;
}

/* Get the kinds of files of which scopes may want events. */
static u32 kinds_of_scopes(const struct iot_category *c)
{
	return (c->nr_scopes > c->nr_of_tasks ? IOT_PATHS_BELOW : 0) |
	       (c->nr_of_tasks ? c->of.default_kinds : 0);
}

/*
 * Update the fields that hot probes read, after any change on which they depend. What has ended
 * does not run, and has no filter.
 */
static void update_state(struct iot_category *c, bool own)
{
	const struct iot_filter *f = filter_of(c);
	u32 state = c->track ? IOT_CATEGORY_TRACK : 0;

	if (own && !c->own)
		c->was_late = false;
	WRITE_ONCE(c->own, own);
	if (is_late(c)) {
		WRITE_ONCE(c->kinds, own_kinds(c) | kinds_of_scopes(c));
		state |= IOT_CATEGORY_ACTIVE | IOT_CATEGORY_SCOPES;
	} else if (own) {
		state |= IOT_CATEGORY_ACTIVE | publish_filter(c, f);
	}
	WRITE_ONCE(c->state, state);
}

/** iot_category_set_sample() - record one event in @sample, which is at least 1 */
void iot_category_set_sample(struct iot_category *c, u32 sample)
{
	mutex_lock(&c->log.lock);
	WRITE_ONCE(c->sample, sample);
	update_state(c, c->own);
	mutex_unlock(&c->log.lock);
}

/** iot_category_set_track() - set or clear IOT_CATEGORY_TRACK */
void iot_category_set_track(struct iot_category *c, bool track)
{
	mutex_lock(&c->log.lock);
	c->track = track;
	update_state(c, c->own);
	mutex_unlock(&c->log.lock);
}

/** iot_category_set_discard() - keep the oldest records instead of the newest */
void iot_category_set_discard(struct iot_category *c, bool discard)
{
	mutex_lock(&c->log.lock);
	WRITE_ONCE(c->log.discard, discard);
	update_state(c, c->own);
	mutex_unlock(&c->log.lock);
}

/**
 * iot_category_wants_originator() - does the owner of an event meet the conditions on tasks?
 *
 * One that is not known meets none. Context: any, preemption off.
 */
bool iot_category_wants_originator(const struct iot_category *c, const struct iot_originator *who)
{
	const struct iot_filter *f;

	if (iot_category_leaves_out(c, who->pid))
		return false;
	if (likely(!(READ_ONCE(c->state) & (IOT_FILTER_TASK | IOT_CATEGORY_SCOPES))))
		return true;
	f = rcu_dereference_sched(c->filter);
	return f && iot_filter_origin(f, who);
}

/**
 * iot_category_rejects_inode() - check the condition on inode numbers alone
 *
 * For sockets, which have no kind of file and are on no device.
 * Context: any, preemption off.
 */
bool iot_category_rejects_inode(const struct iot_category *c, u64 ino)
{
	const struct iot_filter *f = rcu_dereference_sched(c->filter);

	return !f || ((f->used & IOT_FILTER_INODE) && !iot_numbers_have(&f->inodes, ino));
}

/**
 * iot_category_rejects_socket() - check the conditions on the kind of a socket, and its namespace
 * @family:	AF_*
 * @protocol:	as iot_filter_kind() takes it
 * @netns:	inode number of the network namespace
 *
 * Context: any, preemption off.
 */
bool iot_category_rejects_socket(const struct iot_category *c, u16 family, u16 protocol, u32 netns)
{
	const struct iot_filter *f = rcu_dereference_sched(c->filter);

	return !f || !iot_filter_kind(f, family, protocol) || !iot_filter_netns(f, netns);
}

/**
 * iot_category_rejects_ends() - check the conditions on the ends of a connection, either of which
 * may meet them
 *
 * Context: any, preemption off.
 */
bool iot_category_rejects_ends(const struct iot_category *c, const struct iot_address *one,
			       const struct iot_address *other)
{
	const struct iot_filter *f = rcu_dereference_sched(c->filter);

	return !f || !iot_filter_ends(f, one, other);
}

/** iot_category_rejects_file() - check the conditions on files. Context: any */
bool iot_category_rejects_file(const struct iot_category *c, u16 kind, u32 dev, u64 ino)
{
	const struct iot_filter *f;
	bool rejects;

	preempt_disable_notrace();
	f = rcu_dereference_sched(c->filter);
	rejects = !f || !iot_filter_file(f, kind, dev, ino);
	preempt_enable_notrace();
	return rejects;
}

/* Check for a free slot, or one whose record may be overwritten. If none, count the event. */
static bool has_room(struct iot_category *c)
{
	struct iot_ring *ring;

	if (likely(!READ_ONCE(c->log.discard)))
		return true;
	ring = iot_category_ring(c, raw_smp_processor_id());
	if (atomic64_read(&ring->head) - READ_ONCE(ring->base) < ring->keep)
		return true;
	iot_ring_refuse(ring, 1);
	return false;
}

/**
 * iot_category_rejects_at_end() - check whether an event that has ended is dropped
 * @op:		its operation, or IOT_ANY_OP if that has been checked
 * @latency:	ns
 * @size:	bytes, for the minimum size
 * @sampled:	iot_category_samples() has taken the event
 *
 * The category may have been stopped since the event began. Otherwise the filter decides, then
 * sampling, then mode discard. All other conditions have been checked before.
 * Context: any, preemption off; the category was started.
 */
bool iot_category_rejects_at_end(struct iot_category *c, unsigned int op, u64 latency, s64 size,
				 bool sampled)
{
	const struct iot_filter *f = rcu_dereference_sched(c->filter);

	if (!f || !READ_ONCE(c->own) || (op != IOT_ANY_OP && !iot_filter_op(f, op)) ||
	    !iot_filter_amount(f, latency, size))
		return true;
	return (!sampled && !iot_category_samples(c)) || !has_room(c);
}

/* If there is no filter, set one that accepts everything that is wanted by default. */
static int need_filter(struct iot_category *c, struct iot_why *why)
{
	char none[] = "none";
	struct iot_filter *f;

	if (filter_of(c))
		return 0;
	f = iot_filter_parse(none, &c->of, why);
	if (IS_ERR(f))
		return PTR_ERR(f);
	rcu_assign_pointer(c->filter, f);
	return 0;
}

/* If @started, all hooks are attached. If not, nothing is traced, even if hooks are attached. */
static void set_started(struct iot_category *c, bool started)
{
	mutex_lock(&c->log.lock);
	c->started = started;
	update_state(c, started);
	mutex_unlock(&c->log.lock);
}

/* Set up what is needed to record. */
static int prepare(struct iot_category *c, struct iot_why *why)
{
	int err;

	mutex_lock(&c->log.lock);
	err = need_filter(c, why);
	if (!err)
		err = iot_log_make(&c->log, why);
	mutex_unlock(&c->log.lock);
	return err;
}

/* Let probes record, before they are attached. */
static void activate(struct iot_category *c)
{
	mutex_lock(&c->log.lock);
	update_state(c, true);
	mutex_unlock(&c->log.lock);
}

/* Attach the hooks for one more user, or what they lack for it. Caller holds @control. */
static int attach(struct iot_category *c)
{
	int err = 0;

	if (!c->users)
		err = c->probes->start();
	else if (c->probes->refresh)
		err = c->probes->refresh();
	c->users += !err;
	return err;
}

/* Undo attach(). Caller holds @control. */
static void detach(struct iot_category *c)
{
	if (!--c->users)
		c->probes->stop();
}

/* Count a scope that starts to run, or stops. Caller holds @control of @base. */
static void count_scope(struct iot_category *scope, struct iot_category *base, int change)
{
	mutex_lock(&base->log.lock);
	base->nr_scopes += change;
	if (scope->of_tasks)
		base->nr_of_tasks += change;
	update_state(base, base->own);
	mutex_unlock(&base->log.lock);
}

/* Undo join(). Caller holds @control of the scope. */
static void leave(struct iot_category *scope, struct iot_category *base)
{
	mutex_lock_nested(&base->control, SINGLE_DEPTH_NESTING);
	count_scope(scope, base, -1);
	detach(base);
	mutex_unlock(&base->control);
}

/* Let a scope have the events of a base. Caller holds @control of the scope. */
static int join(struct iot_category *scope, struct iot_category *base)
{
	int err;

	if (mutex_lock_killable_nested(&base->control, SINGLE_DEPTH_NESTING))
		return -EINTR;
	count_scope(scope, base, 1);
	err = attach(base);
	if (err)
		count_scope(scope, base, -1);
	mutex_unlock(&base->control);
	return err;
}

/* Leave the first @nr of several bases. Caller holds @control of the scope. */
static void leave_some(struct iot_category *scope, struct iot_category * const *bases, size_t nr)
{
	while (nr)
		leave(scope, bases[--nr]);
}

/* Join all bases of a list that ends with NULL, or none and return an error. */
static int join_list(struct iot_category *scope, struct iot_category * const *bases)
{
	size_t i;
	int err;

	for (i = 0; bases[i]; i++) {
		err = join(scope, bases[i]);
		if (err) {
			leave_some(scope, bases, i);
			return err;
		}
	}
	return 0;
}

static size_t count_list(struct iot_category * const *bases)
{
	size_t nr = 0;

	while (bases[nr])
		nr++;
	return nr;
}

/* Attach all hooks for a category or a scope, which has some of its own. */
static int attach_all(struct iot_category *c)
{
	int err = c->base ? join(c, c->base) : 0;

	if (err)
		return err;
	err = attach(c);
	if (err)
		goto leave_base;
	err = c->also ? join_list(c, c->also) : 0;
	if (!err && !c->base && c->probes->begin)
		err = c->probes->begin();
	if (!err)
		return 0;
	detach(c);
leave_base:
	if (c->base)
		leave(c, c->base);
	return err;
}

/* Undo attach_all(). */
static void detach_all(struct iot_category *c)
{
	if (c->also)
		leave_some(c, c->also, count_list(c->also));
	detach(c);
	if (c->base)
		leave(c, c->base);
}

static int start_controlled(struct iot_category *c, struct iot_why *why)
{
	int err = prepare(c, why);

	if (err)
		return err;
	iot_paths_get(); /* after the rings, which matter more if memory is short */
	activate(c);
	err = attach_all(c);
	set_started(c, !err);
	if (err)
		iot_paths_put();
	return err;
}

/* Refuse to start for a reader: say who has the category, what to do. Caller holds @control. */
static int refuse_reader(const struct iot_category *c, struct iot_why *why)
{
	if (c->while_read)
		return iot_why(why, -EBUSY,
			       "it is traced already, for process %d: wait until that closes the stream, or say stop first",
			       pid_nr(c->while_read));
	return iot_why(why, -EBUSY, "it is traced already, by a start: say stop first");
}

/* Set the process for which the category is traced. Caller holds @control. */
static void set_while_read(struct iot_category *c, struct pid *reader)
{
	struct pid *old;

	mutex_lock(&c->log.lock);
	old = c->while_read;
	WRITE_ONCE(c->while_read, get_pid(reader));
	mutex_unlock(&c->log.lock);
	put_pid(old);
}

/* Start, unless it is started. @started: set if it was not. Caller holds @control. */
static int start_for(struct iot_category *c, struct pid *reader, bool *started,
		     struct iot_why *why)
{
	int err = iot_life_check(&c->log.life);

	if (!err && !c->own) {
		err = start_controlled(c, why);
		*started = !err;
	} else if (!err && reader && reader != c->while_read) {
		err = refuse_reader(c, why);
	}
	if (!err)
		set_while_read(c, reader);
	return err;
}

/**
 * iot_category_start() - start tracing; does nothing if the category is already traced
 * @reader:	process that has the stream open; tracing stops when it closes the stream. NULL if
 *		only iot_category_stop() stops it
 * @why:	where to report which limit does not allow it
 *
 * Context: task, may sleep for seconds: the kernel patches its text.
 * Return: 0 or an error, among them:
 *
 *	-EINTR		killed while another task was changing the category
 *	-ENODEV		it has ended
 *	-EBUSY		it is already traced, and not for this reader
 *	-EOPNOTSUPP	the module was built without the category, or ftrace is off
 */
int iot_category_start(struct iot_category *c, struct pid *reader, struct iot_why *why)
{
	bool started = false;
	int err;

	if (!c->probes)
		return iot_why(why, -EOPNOTSUPP,
			       "the module was built without it, as it does not compile for this kernel: %s",
			       c->left_out);
	if (iot_symbol_ftrace_off())
		return iot_why(why, -EOPNOTSUPP, IOT_FTRACE_OFF);
	if (c->traits & IOT_TRAIT_BY_INODE)
		iot_mounts_get();
	err = mutex_lock_killable(&c->control);
	if (!err) {
		err = start_for(c, reader, &started, why);
		mutex_unlock(&c->control);
	}
	if ((c->traits & IOT_TRAIT_BY_INODE) && !started)
		iot_mounts_put();
	return err;
}

/* Return: true if the category was traced: the caller unlocks @control, then undoes prepare(). */
static bool stop_controlled(struct iot_category *c)
{
	if (!c->own)
		return false;
	set_while_read(c, NULL);
	set_started(c, false);
	detach_all(c);
	iot_paths_put();
	return true;
}

/**
 * iot_category_stop() - stop tracing; the records stay
 *
 * Return: 0, or -EINTR if killed while another task was changing the category.
 */
int iot_category_stop(struct iot_category *c)
{
	bool stopped;

	if (mutex_lock_killable(&c->control))
		return -EINTR;
	stopped = stop_controlled(c);
	mutex_unlock(&c->control);
	if ((c->traits & IOT_TRAIT_BY_INODE) && stopped)
		iot_mounts_put();
	return 0;
}

static int extend_controlled(struct iot_category *scope, struct iot_category * const *also)
{
	int err = iot_life_check(&scope->log.life);

	if (err || scope->also)
		return err;
	err = scope->own ? join_list(scope, also) : 0;
	if (!err)
		WRITE_ONCE(scope->also, also);
	return err;
}

/**
 * iot_category_extend() - let a scope have the events of other categories, too, from now on
 * @also:	as in struct iot_category; the same list each time
 * @why:	where to report why it is refused
 *
 * Context: as iot_category_start(). Return: 0, also if the scope has them, or an error as there.
 */
int iot_category_extend(struct iot_category *scope, struct iot_category * const *also,
			struct iot_why *why)
{
	size_t i;
	int err;

	for (i = 0; also[i]; i++)
		if (!also[i]->probes)
			return iot_why(why, -EOPNOTSUPP,
				       "the module was built without category %s, as it does not compile for this kernel: %s",
				       also[i]->of.name, also[i]->left_out);
	if (mutex_lock_killable(&scope->control))
		return -EINTR;
	err = extend_controlled(scope, also);
	mutex_unlock(&scope->control);
	return err;
}

static void put_filter(struct iot_category *c, struct iot_filter *f)
{
	mutex_lock(&c->log.lock);
	rcu_assign_pointer(c->filter, f);
	rcu_assign_pointer(c->tree, f->tree);
	c->was_late = false;
	update_state(c, c->own);
	mutex_unlock(&c->log.lock);
}

/*
 * Replace the filter by *@f, which becomes what to pass to free_filter() without @control: the old
 * one, or after an error that which was not taken. Caller holds @control.
 */
static int replace_filter(struct iot_category *c, struct iot_filter **f)
{
	struct iot_filter *old = filter_of(c);
	int err = iot_life_check(&c->log.life);

	if (err)
		return err;
	put_filter(c, *f);
	if (c->own && c->probes->refresh)
		err = c->probes->refresh();
	if (err)
		put_filter(c, old);
	else
		*f = old;
	return err;
}

static void free_filter(struct iot_filter *f)
{
	synchronize_rcu(); /* probes use the filter with preemption off */
	iot_filter_free(f);
}

/**
 * iot_category_set_filter() - replace the filter
 * @text:	see iot_filter_parse()
 * @why:	where to report why the filter is refused
 *
 * Context: task, may sleep as long as iot_category_start().
 * Return: 0 or an error; after an error the old filter stays.
 */
int iot_category_set_filter(struct iot_category *c, char *text, struct iot_why *why)
{
	struct iot_filter *f = iot_filter_parse(text, &c->of, why);
	int err;

	if (IS_ERR(f))
		return PTR_ERR(f);
	err = mutex_lock_killable(&c->control);
	if (!err) {
		err = replace_filter(c, &f);
		mutex_unlock(&c->control);
	}
	free_filter(f);
	return err;
}

/**
 * iot_category_abandon() - clean up after a reader closed the stream, perhaps by being killed
 *
 * A category that was started for this reader alone stops. Its filter is removed, too: the
 * filter may follow the tree of a process, which takes memory. @control is held for both: another
 * process that sees that tracing has stopped may set a filter, and that one must stay.
 * Context: task, may sleep as long as iot_category_stop(); closing cannot fail.
 */
void iot_category_abandon(struct iot_category *c, const struct pid *reader)
{
	char none[] = "none";
	struct iot_why why = { };
	struct iot_filter *f;
	bool stopped = false;

	if (READ_ONCE(c->while_read) != reader)
		return;
	f = iot_filter_parse(none, &c->of, &why);
	mutex_lock(&c->control);
	if (c->while_read == reader)
		stopped = stop_controlled(c);
	if (stopped && !IS_ERR(f))
		replace_filter(c, &f); /* one that has ended has no filter any more */
	mutex_unlock(&c->control);
	if (stopped && (c->traits & IOT_TRAIT_BY_INODE))
		iot_mounts_put();
	if (!IS_ERR(f))
		free_filter(f);
	else if (stopped)
		pr_warn("%s: its filter stays, as there is no memory to remove it\n", c->of.name);
}

/*
 * Set the process whose own events are not recorded. Its number, which probes compare first, is
 * that of the next process, too, when it has exited; @reader_pid is not. Caller holds the lock of
 * @log.
 */
static void set_reader(struct iot_category *c, struct pid *reader)
{
	struct pid *old = c->reader_pid;

	WRITE_ONCE(c->reader_pid, get_pid(reader));
	WRITE_ONCE(c->reader, pid_nr(reader));
	update_state(c, c->own);
	put_pid(old);
}

static bool has_exited(struct pid *process)
{
	bool exited;

	rcu_read_lock();
	exited = !pid_task(process, PIDTYPE_TGID);
	rcu_read_unlock();
	return exited;
}

/** iot_category_take_reader() - make a process the reader, instead of another one */
void iot_category_take_reader(struct iot_category *c, struct pid *process)
{
	mutex_lock(&c->log.lock);
	if (!iot_life_check(&c->log.life))
		set_reader(c, process);
	mutex_unlock(&c->log.lock);
}

/**
 * iot_category_offer_reader() - make a process the reader, unless there is one already
 *
 * The reader's own events are not recorded. Return: whether @process is the reader now.
 */
bool iot_category_offer_reader(struct iot_category *c, struct pid *process)
{
	bool taken;

	mutex_lock(&c->log.lock);
	taken = !iot_life_check(&c->log.life) && (!c->reader || has_exited(c->reader_pid));
	if (taken)
		set_reader(c, process);
	mutex_unlock(&c->log.lock);
	return taken;
}

/** iot_category_drop_reader() - a process stops reading. Has no effect if another one has come */
void iot_category_drop_reader(struct iot_category *c, const struct pid *process)
{
	mutex_lock(&c->log.lock);
	if (c->reader_pid == process)
		set_reader(c, NULL);
	mutex_unlock(&c->log.lock);
}

/** iot_category_is_readers() - the rest of iot_category_leaves_out(). Context: any */
bool iot_category_is_readers(const struct iot_category *c, u32 number)
{
	struct pid *now;

	rcu_read_lock();
	now = find_pid_ns(number, &init_pid_ns);
	rcu_read_unlock();
	return !now || now == READ_ONCE(c->reader_pid);
}

/** iot_category_missed() - count the events that its hooks could not follow. Context: task */
u64 iot_category_missed(const struct iot_category *c)
{
	return c->probes ? c->probes->missed() : 0;
}

static void mark_record(const struct iot_category *c, const u64 *record,
			unsigned long *marks)
{
	unsigned int i;

	for (i = 0; i < c->nr_paths; i++)
		iot_path_table_mark(marks, record[c->paths[i]]);
}

static void mark_shard(const struct iot_category *c, const struct iot_shard *shard,
		       unsigned long *marks)
{
	u64 end, i = iot_shard_window(shard, &end);
	u64 record[IOT_RECORD_WORDS_MAX];

	for (; i < end; i++) {
		if (iot_ring_read(iot_shard_ring(shard), i, record) == IOT_RING_OK)
			mark_record(c, record, marks);
		cond_resched();
	}
}

/** iot_category_mark_paths() - mark the paths that kept records name. Context: task, may sleep */
void iot_category_mark_paths(struct iot_category *c, unsigned long *marks)
{
	struct iot_rings *rings = iot_log_rings(&c->log);
	unsigned int i;

	if (!rings)
		return;
	for (i = 0; i < rings->nr; i++)
		mark_shard(c, &rings->shard[i], marks);
	iot_rings_put(rings);
}

/** iot_categories_for_each() - call @fn for all, scopes included. Context: task, may sleep */
void iot_categories_for_each(void (*fn)(struct iot_category *c, void *data), void *data)
{
	struct iot_category *c;

	mutex_lock(&list_lock);
	list_for_each_entry(c, &all, list)
		fn(c, data);
	mutex_unlock(&list_lock);
}

/* Find the fields of a record that hold paths at load, so that marking compares no names. */
static void find_paths(struct iot_category *c)
{
	const struct iot_schema_field *f = c->log.event->fields;
	unsigned int i;

	for (i = 0; i < c->log.event->nr_fields; i++, f++)
		if (!strcmp(f->kind, "path") && !WARN_ON(c->nr_paths == IOT_RECORD_PATHS_MAX))
			c->paths[c->nr_paths++] = f->offset / sizeof(u64);
}

/** iot_category_init() - set up at load. Return: 0 or -ENOMEM, both for iot_category_free() */
int iot_category_init(struct iot_category *c)
{
	int err;

	mutex_init(&c->control);
	mutex_init(&c->refusal.lock);
	mutex_lock(&list_lock);
	list_add_tail(&c->list, &all);
	mutex_unlock(&list_lock);
	c->sample = 1;
	c->rings_of.name = c->of.name;
	c->rings_of.size = "size";
	c->rings_of.by_cpu = true;
	c->rings_of.record_size = iot_schema_find(c->of.event_id)->size;
	c->rings_of.sink = iot_rings_sink(c->rings_of.record_size);
	err = iot_log_init(&c->log, &c->rings_of, c->of.event_id, NULL, IOT_CATEGORY_KEEP);
	find_paths(c);
	return c->rings_of.sink ? err : -ENOMEM;
}

/**
 * iot_category_end() - stop for good, regardless of signals: see core/life.h
 *
 * The records can still be read. Context: task, may sleep as long as iot_category_stop().
 * Return: the filter, to be freed after an RCU grace period, or NULL.
 */
struct iot_filter *iot_category_end(struct iot_category *c)
{
	struct iot_filter *f;
	bool stopped;

	mutex_lock(&c->control);
	iot_log_end(&c->log);
	stopped = stop_controlled(c);
	mutex_lock(&c->log.lock);
	f = filter_of(c);
	RCU_INIT_POINTER(c->filter, NULL);
	RCU_INIT_POINTER(c->tree, NULL);
	mutex_unlock(&c->log.lock);
	mutex_unlock(&c->control);
	if ((c->traits & IOT_TRAIT_BY_INODE) && stopped)
		iot_mounts_put();
	return f;
}

/** iot_category_free() - free a category, when no probe is left that uses it */
void iot_category_free(struct iot_category *c)
{
	mutex_lock(&list_lock);
	if (c->list.next) /* else iot_category_init() was not called */
		list_del(&c->list);
	mutex_unlock(&list_lock);
	iot_log_free(&c->log);
	if (!c->base && c->probes && c->probes->release)
		c->probes->release();
	put_pid(c->reader_pid);
	kfree(c->rings_of.sink);
}
