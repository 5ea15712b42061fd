/* SPDX-License-Identifier: GPL-2.0 */
/*
 * READ, WRITE and DIO_* of category fs. One hook (probe/vfs_iter.c) sees the reads and writes of
 * both targets and category fs. This is the part of category fs. It runs for every read and
 * write of the system, so it is inlined.
 */
#ifndef IOT_RW_H
#define IOT_RW_H

#include <linux/fs.h>
#include <linux/timekeeping.h>
#include "compat/compat.h"
#include "core/clock.h"
#include "file/paths.h"
#include "record/event.h"
#include "record/fs.h"

/**
 * struct iot_rw - what is kept of an event from the beginning of a call to its end
 * @wanted:	the call is an event
 * @file:	path and identity of the file
 */
struct iot_rw {
	bool wanted;
	struct iot_paths_file file;
};

/**
 * struct iot_rw_call - a call that has ended, as in its record
 *
 * It is passed by value where only few calls go. With its address taken, every wrapper would have
 * to keep it in memory, and a canary beside it.
 */
struct iot_rw_call {
	u64 start;	/* CLOCK_MONOTONIC ns */
	u64 latency;	/* ns */
	u64 offset;	/* bytes */
	u64 requested;	/* bytes */
	s64 result;	/* bytes or -errno */
	u32 op;		/* IOT_FS_* */
	u32 flags;	/* IOT_IO_* and IOT_CALL_RESTARTED */
};

/*
 * Conditions that the entry of a call cannot check: the inode number that stat(2) shows, and the
 * device number if the superblock has an anonymous one.
 */
#define IOT_RW_AT_END	(IOT_FILTER_INODE | IOT_CATEGORY_LATE)

/* rw.c: what only few calls need */
bool iot_rw_rejects_rare(u32 state, const struct file *file);
bool iot_rw_rejects_at_end(struct iot_paths_file file, u64 latency, s64 size);
void iot_rw_end_late(struct iot_paths_file file, struct iot_rw_call call);
void iot_rw_end_odd(struct iot_paths_file file, struct iot_rw_call call);
void iot_rw_begin(struct iot_rw *rw, const struct file *file, bool may_sleep);

static __always_inline unsigned int iot_rw_op(bool write, bool direct)
{
	return IOT_FS_READ + write + 2 * direct;
}

/**
 * iot_rw_rejects() - check at its entry whether the filter rejects a call
 * @state:	of the category, not 0
 * @ki_flags:	of the call, read only if needed
 *
 * Calls that the kernel itself makes to the file below an overlay are rejected, because the call
 * on the overlay's own file is the event. An anonymous device number is checked at the end of
 * the call (IOT_CATEGORY_LATE). Context: entry of the call.
 */
static __always_inline bool iot_rw_rejects(u32 state, const struct file *file,
					   bool write, const int *ki_flags)
{
	const struct inode *inode = file_inode(file);

	if (likely(state == IOT_CATEGORY_ACTIVE))
		return iot_file_is_backing(file);
	if (!(state & IOT_CATEGORY_ACTIVE))
		return true;
	if ((state & IOT_FILTER_PID) && iot_category_fs.pid != current->tgid)
		return true;
	if ((state & IOT_FILTER_OP) && (unlikely(*ki_flags & IOCB_DIRECT) ?
	     !(iot_category_fs.ops & BIT(iot_rw_op(write, true))) :
	     !(iot_category_fs.ops & BIT(iot_rw_op(write, false)))))
		return true;
	if ((state & IOT_FILTER_DEV) && iot_category_fs.dev != inode->i_sb->s_dev)
		return true;
	if ((state & IOT_FILTER_INODE) && iot_category_fs.inode != inode->i_ino)
		return true;
	if ((state & IOT_FILTER_TREE) && !iot_category_tree_has_current(&iot_category_fs))
		return true;
	if ((state & IOT_CATEGORY_READER) && iot_category_is_reader(&iot_category_fs))
		return true;
	return iot_file_is_backing(file);
}

/** iot_rw_is_rare() - check whether iot_rw_rejects_rare() has to be called, too */
static __always_inline bool iot_rw_is_rare(u32 state)
{
	return state & (IOT_FILTER_TID | IOT_FILTER_COMM | IOT_FILTER_UID |
			IOT_FILTER_CGROUP | IOT_CATEGORY_TRACK | IOT_CATEGORY_SCOPES);
}

/** iot_rw_tracks() - check whether category block tracks a call, wanted or not. Context: any */
static __always_inline bool iot_rw_tracks(u32 state, int ki_flags)
{
	return (state & IOT_CATEGORY_TRACK) && (ki_flags & IOCB_DIRECT);
}

/** iot_rw_wants() - do all checks that are possible at the entry of a call. Context: there */
static __always_inline bool iot_rw_wants(const struct file *file, bool write,
					 const int *ki_flags)
{
	u32 state = READ_ONCE(iot_category_fs.state) & ~IOT_CATEGORY_TRACK;

	return unlikely(state) && !iot_rw_rejects(state, file, write, ki_flags) &&
	       !(iot_rw_is_rare(state) && iot_rw_rejects_rare(state, file));
}

/**
 * iot_rw_begin_known() - begin the event of a call that iot_rw_rejects() does not reject
 *
 * Return: false if the path of the file is not known, or the kind of file is not wanted. The
 * caller then calls iot_rw_begin(), which decides.
 */
static __always_inline bool iot_rw_begin_known(struct iot_rw *rw, const struct file *file)
{
	const struct iot_path *known;

	preempt_disable_notrace();
	known = iot_paths_find(&file->f_path, false);
	if (unlikely(!known))
		known = iot_paths_find_again(&file->f_path, false);
	if (unlikely(!known) || unlikely(!(known->file.kinds & iot_category_fs.kinds))) {
		preempt_enable_notrace();
		return false;
	}
	rw->file = known->file;
	preempt_enable_notrace();
	return true;
}

/* Fill in what only reads and writes have. */
static __always_inline void iot_rw_fill(struct iot_fs *e, const struct iot_paths_file *file,
					const struct iot_rw_call *call)
{
	e->offset = call->offset;
	e->requested = call->requested;
	e->result = call->result;
	/* READ_ONCE(): else the compiler keeps @file in registers, too, of which there are few */
	e->inode = READ_ONCE(file->ino);
	e->path = file->id;
	e->device = file->dev;
	e->kind = file->kind;
	e->inode2 = 0;
	e->path2 = 0;
	e->device2 = 0;
	e->address = 0;
	e->flags = call->flags;
	e->flags2 = 0;
	e->fd = -1;
	e->unsure = 0;
}

/** iot_rw_put() - record a call in the rings of a category or scope. Context: preemption off */
static __always_inline void iot_rw_put(struct iot_category *c, const struct iot_paths_file *file,
				       const struct iot_rw_call *call)
{
	struct iot_event_at at;
	struct iot_fs *e = iot_event_reserve(c, &at);

	if (unlikely(!e))
		return;
	iot_event_fill(e, &at, c, call->op, call->start, call->latency);
	iot_task_fill(e);
	iot_rw_fill(e, file, call);
	iot_event_commit(c, &at);
}

/* iot_rw_end(), for a call as its record has it */
static __always_inline void iot_rw_record(const struct iot_paths_file *file,
					  const struct iot_rw_call *call)
{
	preempt_disable_notrace();
	if (unlikely(iot_category_asks_at_end(&iot_category_fs, IOT_RW_AT_END))) {
		if (iot_category_has_scopes(&iot_category_fs)) {
			iot_rw_end_late(*file, *call);
			goto out;
		}
		if (iot_rw_rejects_at_end(*file, call->latency,
					  max_t(s64, call->result, call->requested)))
			goto out;
	}
	iot_rw_put(&iot_category_fs, file, call);
out:
	preempt_enable_notrace();
}

/**
 * iot_rw_end() - record a call
 * @rw:		from iot_rw_begin(), wanted
 * @start:	CLOCK_MONOTONIC ns
 * @offset:	bytes
 * @requested:	bytes
 * @result:	bytes or -errno
 * @flags:	IOT_IO_*
 */
static __always_inline void iot_rw_end(const struct iot_rw *rw, u64 start, u64 offset,
				       u64 requested, s64 result, bool write, u32 flags)
{
	const struct iot_rw_call call = {
		.start = start,
		.latency = ktime_get_mono_fast_ns() - start,
		.offset = offset,
		.requested = requested,
		.result = result,
		.op = iot_rw_op(write, flags & IOT_IO_DIRECT),
		.flags = flags,
	};

	if (iot_event_is_plain(call.latency, result))
		iot_rw_record(&rw->file, &call);
	else
		iot_rw_end_odd(rw->file, call);
}

#endif /* IOT_RW_H */
