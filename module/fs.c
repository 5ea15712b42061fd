// SPDX-License-Identifier: GPL-2.0
/* Events of category fs: what all its probes do alike. */
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include "fs.h"
#include "paths.h"
#include "rejected.h"
#include "rw.h"
#include "spoil.h"
#include "task.h"

/* What is only known in the end. */
static bool filter_end(const struct iot_filter *f, const struct iot_fs *e)
{
	if (!iot_filter_amount(f, e->latency, max_t(s64, e->result, e->requested)))
		return false;
	/* of what has no file nobody has asked yet */
	if (!(f->kinds & BIT(e->kind)))
		return false;
	/* a condition on the file, and no file was named */
	return e->inode || !(f->used & (IOT_FILTER_DEV | IOT_FILTER_INODE));
}

bool iot_fs_begin(struct iot_fs *e, enum iot_fs_op op)
{
	const struct iot_filter *f;
	bool wanted;

	if (iot_fs_off())
		return false;
	preempt_disable_notrace();
	f = rcu_dereference_sched(iot_fs.filter);
	wanted = f && iot_filter_op(f, op) && iot_category_wants_task(&iot_fs);
	preempt_enable_notrace();
	if (!wanted)
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

	/* what costs little first: the kind */
	preempt_disable_notrace();
	f = rcu_dereference_sched(iot_fs.filter);
	wanted = f && (f->kinds & BIT(kind));
	preempt_enable_notrace();
	if (!wanted)
		return false;
	iot_paths_of(path, may_sleep, &file);
	preempt_disable_notrace();
	f = rcu_dereference_sched(iot_fs.filter);
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
	u64 *slot, index;

	e->latency = now - e->time;
	e->result = result;
	preempt_disable_notrace();
	f = rcu_dereference_sched(iot_fs.filter);
	if (iot_fs_off() || !f || (f->used && !filter_end(f, e)))
		goto out;
	if (!iot_category_reserve(&iot_fs, &slot, &index))
		goto out;
	e->cpu = raw_smp_processor_id();
	e->sample = READ_ONCE(iot_fs.sample);
	iot_task_fill(e);
	memcpy(slot + 1, (u64 *)e + 1, sizeof(*e) - sizeof(u64));
	iot_spoil(IOT_EVENT_ID_fs, slot);
	iot_ring_commit(slot, index);
out:
	preempt_enable_notrace();
}

static int start(void)
{
	int err = iot_rw_start();

	if (err)
		return err;
	err = iot_probe_fs_start();
	if (err)
		goto stop_rw;
	err = iot_rejected_refresh();
	if (err)
		goto stop_probe;
	return 0;

stop_probe:
	iot_probe_fs_stop();
stop_rw:
	iot_rw_stop();
	return err;
}

static void stop(void)
{
	iot_rejected_stop();
	iot_probe_fs_stop();
	iot_rw_stop();
}

static int refresh(void)
{
	return iot_rw_refresh() ?: iot_rejected_refresh();
}

static unsigned long missed(void)
{
	return iot_rw_missed() + iot_probe_fs_missed() + iot_rejected_missed();
}

struct iot_category iot_fs = {
	.name = "fs",
	.event_id = IOT_EVENT_ID_fs,
	.default_kinds = BIT(IOT_KIND_NONE) | BIT(IOT_KIND_FILE) | BIT(IOT_KIND_DIR) |
			 BIT(IOT_KIND_SYMLINK),
	.start = start,
	.stop = stop,
	.refresh = refresh,
	.missed = missed,
};
