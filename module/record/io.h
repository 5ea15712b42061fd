/* SPDX-License-Identifier: GPL-2.0 */
/* Records of targets: their reads and writes at the VFS. */
#ifndef IOT_IO_H
#define IOT_IO_H

#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include "core/ring.h"
#include "core/spoil.h"
#include "record/running.h"
#include "record/writer.h"
#include "uapi/iotracer.h"

/** iot_io_target() - get the id of the running target that an inode is, or 0. Context: any */
static __always_inline u64 iot_io_target(struct inode *inode)
{
	struct iot_running *t;
	u64 id = 0;

	if (!iot_running_maybe(inode))
		return 0;
	preempt_disable_notrace();
	t = iot_running_find(inode);
	if (t)
		id = t->id;
	preempt_enable_notrace();
	return id;
}

/**
 * iot_io_record() - record a call of a target that has ended
 * @id:		of the target, which may have been removed or stopped in the meantime
 * @start:	CLOCK_MONOTONIC ns
 * @offset:	bytes
 * @requested:	bytes
 * @result:	bytes or -errno
 * @op:		IOT_OP_*
 * @flags:	IOT_IO_*
 *
 * What is the same for all VFS events of a target is filled in when they are read
 * (proc/view.c). Context: task.
 */
static __always_inline void iot_io_record(u64 id, u64 start, u64 offset, u64 requested,
					  s64 result, u8 op, u16 flags)
{
	u64 now = ktime_get_mono_fast_ns();
	const struct task_struct *task;
	struct iot_running *t;
	u64 *slot, index;
	struct iot_io *r;

	preempt_disable_notrace();
	task = current;
	t = iot_running_by_id(id);
	if (unlikely(!t))
		goto out;
	if (op == IOT_OP_WRITE && result > 0)
		iot_writer_note(&t->writer);
	if (!iot_ring_reserve(rcu_dereference_sched(t->ring), IOT_LEVEL_VFS,
			      &slot, &index))
		goto out;
	r = (struct iot_io *)slot;
	r->time = start;
	r->latency = now - start;
	r->offset = offset;
	r->requested = requested;
	r->result = result;
	r->tid = task->pid;
	r->pid = task->tgid;
	r->cpu = raw_smp_processor_id();
	r->level = IOT_LEVEL_VFS;
	r->op = op;
	r->flags = flags;
	memcpy(r->comm, task->comm, sizeof(r->comm));
	iot_spoil(IOT_EVENT_ID_IO, slot);
	iot_ring_commit(slot, index);
out:
	preempt_enable_notrace();
}

#endif /* IOT_IO_H */
