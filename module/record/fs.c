// SPDX-License-Identifier: GPL-2.0
/* Events of category fs: what all its probes have in common. */
#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include "file/paths.h"
#include "record/event.h"
#include "record/fs.h"

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

	preempt_disable_notrace();
	f = rcu_dereference_sched(iot_category_fs.filter);
	wanted = f && iot_filter_op(f, op);
	preempt_enable_notrace();
	return wanted;
}

/* Check what is known only at the end of a call. */
static bool filter_end(const struct iot_filter *f, const struct iot_fs *e)
{
	if (!iot_filter_amount(f, e->latency, max_t(s64, e->result, e->requested)))
		return false;
	/* the kind of an event without a file has not been checked yet */
	if (!(f->kinds & BIT(e->kind)))
		return false;
	/* an event that names no file meets no condition on the file */
	return e->inode || !(f->used & (IOT_FILTER_DEV | IOT_FILTER_INODE));
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
	const struct iot_filter *f;
	bool wanted;

	/* the cheap check first: the kind */
	preempt_disable_notrace();
	f = rcu_dereference_sched(iot_category_fs.filter);
	wanted = f && (f->kinds & BIT(kind));
	preempt_enable_notrace();
	if (!wanted)
		return false;
	iot_paths_of(path, may_sleep, &file);
	preempt_disable_notrace();
	f = rcu_dereference_sched(iot_category_fs.filter);
	wanted = f && file.kinds && iot_filter_file(f, kind, file.dev, file.ino);
	preempt_enable_notrace();
	e->kind = kind;
	e->path = file.id;
	e->inode = file.ino;
	e->device = file.dev;
	return wanted;
}

void iot_fs_file2(struct iot_fs *e, const struct path *path, bool may_sleep)
{
	struct iot_paths_file file;

	iot_paths_of(path, may_sleep, &file);
	e->path2 = file.id;
	e->inode2 = file.ino;
	e->device2 = file.dev;
}

void iot_fs_name(struct iot_fs *e, const char *text, size_t len, bool second,
		 bool may_sleep)
{
	u64 id = iot_paths_name(text, len, may_sleep);

	if (second)
		e->path2 = id;
	else
		e->path = id;
}

void iot_fs_end(struct iot_fs *e, s64 result)
{
	iot_fs_end_at(e, result, ktime_get_mono_fast_ns());
}

void iot_fs_end_at(struct iot_fs *e, s64 result, u64 now)
{
	const struct iot_filter *f;
	struct iot_event_at at;

	e->latency = now - e->time;
	e->result = result;
	preempt_disable_notrace();
	f = rcu_dereference_sched(iot_category_fs.filter);
	if (iot_fs_off() || !f || (f->used && !filter_end(f, e)))
		goto out;
	if (!iot_event_reserve(&iot_category_fs, &at))
		goto out;
	iot_event_fill(e, &iot_category_fs, e->op, e->time, e->latency);
	iot_task_fill(e);
	/* except the first word, which is the ring's */
	memcpy(at.slot + 1, (u64 *)e + 1, sizeof(*e) - sizeof(u64));
	iot_event_commit(&iot_category_fs, &at);
out:
	preempt_enable_notrace();
}
