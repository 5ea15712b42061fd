// SPDX-License-Identifier: GPL-2.0
/*
 * READ, WRITE and DIO_* of category fs: the events. Called from the hooks of
 * probe_vfs.c, so nothing here is traced itself and every instruction counts.
 */
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include "rw.h"

static __always_inline unsigned int op_of(bool write, bool direct)
{
	if (unlikely(direct))
		return write ? IOT_FS_DIO_WRITE : IOT_FS_DIO_READ;
	return write ? IOT_FS_WRITE : IOT_FS_READ;
}

/* What the entry of a call shows of a file. A device number from the pool may
 * not be stat(2)'s: that is looked at later.
 */
static noinline bool filter_entry(const struct iot_filter *f, const struct file *file,
				  bool write, bool direct)
{
	const struct inode *inode = file_inode(file);

	if (!iot_filter_task(f))
		return false;
	if ((f->used & IOT_FILTER_OP) && !test_bit(op_of(write, direct), f->ops))
		return false;
	if ((f->used & IOT_FILTER_INODE) && f->inode != inode->i_ino)
		return false;
	return !(f->used & IOT_FILTER_DEV) || f->dev == inode->i_sb->s_dev ||
	       !MAJOR(inode->i_sb->s_dev);
}

/**
 * iot_rw_is_wanted() - does the filter want this call, as far as can be told?
 *
 * Not what the kernel itself does with the file below an overlay: the event of
 * the overlay's own file stands for it. Context: entry of the call, preemption off.
 */
bool iot_rw_is_wanted(const struct file *file, bool write, bool direct)
{
	const struct iot_filter *f = rcu_dereference_sched(iot_fs.filter);

	if (current->tgid == READ_ONCE(iot_fs.reader) || !f ||
	    unlikely(file->f_mode & FMODE_NOACCOUNT))
		return false;
	return likely(!f->used) || filter_entry(f, file, write, direct);
}

static noinline bool filter_file(const struct iot_filter *f, const struct iot_rw *rw)
{
	if ((f->used & IOT_FILTER_DEV) && f->dev != rw->file.dev)
		return false;
	return !(f->used & IOT_FILTER_INODE) || f->inode == rw->file.ino;
}

/** iot_rw_begin() - at the begin of a call that iot_rw_is_wanted() wants */
void iot_rw_begin(struct iot_rw *rw, const struct file *file, bool may_sleep)
{
	const struct iot_filter *f;

	rw->kind = iot_fs_kind(file_inode(file));
	preempt_disable_notrace();
	f = rcu_dereference_sched(iot_fs.filter);
	rw->wanted = f && (f->kinds & BIT(rw->kind));
	preempt_enable_notrace();
	if (!rw->wanted)
		return;
	iot_paths_of(&file->f_path, may_sleep, &rw->file);
	preempt_disable_notrace();
	f = rcu_dereference_sched(iot_fs.filter);
	rw->wanted = f && (likely(!f->used) || filter_file(f, rw));
	preempt_enable_notrace();
}

static noinline bool filter_end(const struct iot_filter *f, u64 latency, u64 requested,
				s64 result)
{
	if ((f->used & IOT_FILTER_LATENCY) && latency < f->min_latency)
		return false;
	return !(f->used & IOT_FILTER_SIZE) ||
	       max_t(s64, result, requested) >= (s64)f->min_size;
}

static __always_inline void fill_caller(struct iot_fs *e)
{
	const struct task_struct *task = current;

	e->pid = task->tgid;
	e->tid = task->pid;
	e->ppid = rcu_dereference_sched(task->real_parent)->tgid;
	e->uid = __kuid_val(rcu_dereference_sched(task->cred)->euid);
#ifdef CONFIG_CGROUPS
	e->cgroup = cgroup_id(task_dfl_cgroup(current));
#else
	e->cgroup = 0;
#endif
	e->cpu = raw_smp_processor_id();
	memcpy(e->comm, task->comm, sizeof(e->comm));
}

static __always_inline void fill_file(struct iot_fs *e, const struct iot_rw *rw)
{
	e->inode = rw->file.ino;
	e->path = rw->file.id;
	e->device = rw->file.dev;
	e->kind = rw->kind;
	e->inode2 = 0;
	e->path2 = 0;
	e->device2 = 0;
	e->address = 0;
	e->flags2 = 0;
	e->fd = -1;
	e->reserved = 0;
}

/**
 * iot_rw_end() - record
 * @rw:		from iot_rw_begin(); not wanted: nothing happens
 * @start:	CLOCK_MONOTONIC ns
 * @offset:	bytes
 * @requested:	bytes
 * @result:	bytes or -errno
 * @flags:	IOT_IO_*
 */
void iot_rw_end(const struct iot_rw *rw, u64 start, u64 offset, u64 requested,
		s64 result, bool write, u16 flags)
{
	u64 latency = ktime_get_mono_fast_ns() - start;
	const struct iot_filter *f;
	struct iot_fs *e;
	u64 *slot, index;

	preempt_disable_notrace();
	f = rcu_dereference_sched(iot_fs.filter);
	if (!rw->wanted || iot_fs_off() || !f ||
	    (unlikely(f->used) && !filter_end(f, latency, requested, result)))
		goto out;
	if (!iot_category_reserve(&iot_fs, &slot, &index))
		goto out;
	e = (struct iot_fs *)slot;
	e->time = start;
	e->latency = latency;
	e->offset = offset;
	e->requested = requested;
	e->result = result;
	e->flags = flags;
	e->sample = READ_ONCE(iot_fs.sample);
	e->op = op_of(write, flags & IOT_IO_DIRECT);
	fill_caller(e);
	fill_file(e, rw);
	iot_ring_commit(slot, index);
out:
	preempt_enable_notrace();
}
