/* SPDX-License-Identifier: GPL-2.0 */
/* Records of targets: their reads and writes at the VFS. */
#ifndef IOT_IO_H
#define IOT_IO_H

#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include "core/clock.h"
#include "core/ring.h"
#include "core/spoil.h"
#include "core/task.h"
#include "record/event.h"
#include "record/target_index.h"
#include "record/writer.h"
#include "uapi/iotracer.h"

/**
 * iot_io_other_target() - get the id of the running file that an inode is, or 0, if its target
 * records all operations
 *
 * Context: any, preemption off.
 */
static inline u64 iot_io_other_target(struct inode *inode)
{
	const struct iot_indexed_file *f =
		iot_target_index_maybe(inode) ? iot_target_index_find(inode) : NULL;

	return f && READ_ONCE(f->t->all_operations) ? f->id : 0;
}

/** iot_io_target() - get the id of the running file that an inode is, or 0. Context: any */
static __always_inline u64 iot_io_target(struct inode *inode)
{
	struct iot_indexed_file *f;
	u64 id = 0;

	if (!iot_target_index_maybe(inode))
		return 0;
	preempt_disable_notrace();
	f = iot_target_index_find(inode);
	if (f)
		id = f->id;
	preempt_enable_notrace();
	return id;
}

/**
 * iot_io_record() - record a call of a target that has ended
 * @id:		of the file, whose target may have been removed or stopped in the meantime
 * @start:	CLOCK_MONOTONIC ns
 * @offset:	bytes
 * @requested:	bytes
 * @result:	bytes or -errno
 * @op:		IOT_OP_*
 * @flags:	IOT_IO_*
 *
 * Fields that are the same in all VFS events of a target, or follow from others, are filled in when
 * they are read (iot_io_complete()). Context: task.
 */
static __always_inline void iot_io_record(u64 id, u64 start, u64 offset, u64 requested,
					  s64 result, u8 op, u16 flags)
{
	u64 now = ktime_get_mono_fast_ns(), latency = now - start;
	struct iot_indexed_file *f;
	u64 *slot, index;
	struct iot_io *r;

	if (!iot_event_is_plain(latency, result)) {
		latency = iot_clock_since(start, now);
		result = iot_event_result(result);
	}
	preempt_disable_notrace();
	f = iot_target_index_by_id(id);
	if (unlikely(!f))
		goto out;
	if (likely(iot_ring_reserve(rcu_dereference_sched(f->t->ring), IOT_LEVEL_VFS, &slot,
				    &index))) {
		r = (struct iot_io *)slot;
		r->time = start;
		r->latency = latency;
		r->offset = offset;
		r->requested = requested;
		r->result = result;
		r->inode = f->ino;
		iot_task_ids(r, current);
		r->cpu = raw_smp_processor_id();
		r->level = IOT_LEVEL_VFS;
		r->op = op;
		r->flags = flags;
		iot_spoil(IOT_EVENT_ID_IO, slot);
		iot_ring_commit(slot, index);
	}
	/* last, so that no argument has to be kept during this call */
	if (op == IOT_OP_WRITE && result > 0)
		iot_writer_note(&f->writer);
out:
	preempt_enable_notrace();
}

/**
 * iot_io_complete() - fill in what writers leave out to save time: a record is read more rarely
 * @r:		a copy of a record of a target
 * @device:	of the target's filesystem, or the device that is the target
 */
static inline void iot_io_complete(struct iot_io *r, dev_t device)
{
	if (!(r->flags & IOT_IO_ASYNC) || r->level != IOT_LEVEL_VFS)
		r->submission = 0;
	else if (!(r->flags & IOT_IO_COMPLETED))
		r->submission = r->latency;
	if (r->level != IOT_LEVEL_VFS)
		return;
	r->device = device;
	r->sector = 0;
	r->origin_pid = 0;
	memset(r->origin_comm, 0, sizeof(r->origin_comm));
}

/** iot_io_note_writer() - note that the current thread writes to a running file. Context: task */
static inline void iot_io_note_writer(u64 id)
{
	struct iot_indexed_file *f;

	preempt_disable_notrace();
	f = iot_target_index_by_id(id);
	if (f)
		iot_writer_note(&f->writer);
	preempt_enable_notrace();
}

#endif /* IOT_IO_H */
