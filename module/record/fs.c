// SPDX-License-Identifier: GPL-2.0
/* Events of category fs: the common part of all its probes. */
#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include "core/clock.h"
#include "file/missing.h"
#include "file/paths.h"
#include "record/scope.h"
#include "record/event.h"
#include "record/fs.h"
#include "record/wants.h"

static atomic_long_t nr_missed;

void iot_fs_count_missed(void)
{
	atomic_long_inc(&nr_missed);
}

unsigned long iot_fs_counted_missed(void)
{
	return atomic_long_read(&nr_missed);
}

bool iot_fs_wants_op(enum iot_op_id op)
{
	const struct iot_filter *f;
	bool wanted;

	if (iot_category_has_scopes(&iot_category_fs))
		return true;
	preempt_disable_notrace();
	f = rcu_dereference_sched(iot_category_fs.filter);
	wanted = f && iot_filter_op(f, op);
	preempt_enable_notrace();
	return wanted;
}

bool iot_fs_asks_file(const struct iot_fs *e)
{
	return (READ_ONCE(iot_category_fs.state) & (IOT_CATEGORY_BY_FILE | IOT_FILTER_KIND)) &&
	       iot_category_rejects_file(&iot_category_fs, e->kind, e->device, e->inode);
}

bool iot_fs_second_counts(void)
{
	return iot_category_has_scopes(&iot_category_fs);
}

bool iot_fs_begin(struct iot_fs *e, enum iot_op_id op)
{
	if (!iot_category_wants(&iot_category_fs, op))
		return false;
	memset(e, 0, sizeof(*e));
	e->op = op;
	e->fd = -1;
	e->time = ktime_get_mono_fast_ns();
	return true;
}

bool iot_fs_file(struct iot_fs *e, const struct path *path, bool may_sleep)
{
	const struct inode *inode = d_backing_inode(path->dentry);
	u16 kind = inode ? iot_paths_kind(inode) : IOT_KIND_NONE;
	struct iot_paths_file file;

	/* check the kind first, as that is cheap */
	if (!(READ_ONCE(iot_category_fs.kinds) & (BIT(kind) | IOT_PATHS_BELOW)))
		return false;
	iot_paths_of(path, may_sleep, &file);
	e->kind = kind;
	e->path = file.id;
	e->inode = file.ino;
	e->device = file.dev;
	return iot_category_wants_file(&iot_category_fs, &file);
}

void iot_fs_file2(struct iot_fs *e, const struct path *path, bool may_sleep)
{
	struct iot_paths_file file;

	iot_paths_of(path, may_sleep, &file);
	e->path2 = file.id;
	e->inode2 = file.ino;
	e->device2 = file.dev;
}

static void set_name(struct iot_fs *e, u64 id, bool second)
{
	if (second)
		e->path2 = id;
	else
		e->path = id;
}

void iot_fs_name(struct iot_fs *e, const char *text, size_t len, bool second,
		 bool may_sleep)
{
	struct iot_below below;

	iot_below_none(&below);
	set_name(e, iot_paths_name(text, len, &below, may_sleep), second);
}

void iot_fs_name_at(struct iot_fs *e, const char *text, bool second)
{
	struct iot_below below;
	char *found = iot_missing_find(text, &below);

	if (found)
		text = found;
	set_name(e, iot_paths_name(text, strlen(text), &below, true), second);
	kfree(found);
}

void iot_fs_end(struct iot_fs *e, s64 result)
{
	iot_fs_end_at(e, result, ktime_get_mono_fast_ns());
}

/*
 * Check the filter again: the operation may have changed since the event began, and conditions
 * on files have not been checked for an event without a file.
 */
static bool is_rejected(const struct iot_fs *e)
{
	return iot_category_rejects_file(&iot_category_fs, e->kind, e->device, e->inode) ||
	       iot_category_rejects_at_end(&iot_category_fs, e->op, e->latency,
					   max_t(s64, e->result, e->requested), false);
}

void iot_fs_end_at(struct iot_fs *e, s64 result, u64 now)
{
	struct iot_event_at at;

	e->latency = iot_clock_since(e->time, now);
	if (unlikely(result < 0) && iot_event_is_interrupted(result)) {
		result = -EINTR;
		e->flags |= IOT_CALL_RESTARTED;
	}
	e->result = result;
	preempt_disable_notrace();
	if (iot_category_asks_at_end(&iot_category_fs, IOT_FILTER_OP | IOT_CATEGORY_BY_FILE |
				     IOT_FILTER_KIND)) {
		if (iot_category_has_scopes(&iot_category_fs)) {
			iot_task_fill(e);
			iot_scopes_record(e);
			goto out;
		}
		if (is_rejected(e))
			goto out;
	}
	if (!iot_event_reserve(&iot_category_fs, &at))
		goto out;
	iot_event_fill(e, &at, &iot_category_fs, e->op, e->time, e->latency);
	iot_task_fill(e);
	/* except the first word, which belongs to the ring */
	memcpy(at.slot + 1, (u64 *)e + 1, sizeof(*e) - sizeof(u64));
	iot_event_commit(&iot_category_fs, &at);
out:
	preempt_enable_notrace();
}
