// SPDX-License-Identifier: GPL-2.0
/* READ, WRITE and DIO_* of category fs: the part that only few of these events need. */
#include "compat/compat.h"
#include "record/branch.h"
#include "record/rw.h"

static_assert(IOT_FS_READ + 1 == IOT_FS_WRITE && IOT_FS_READ + 2 == IOT_FS_DIO_READ &&
	      IOT_FS_READ + 3 == IOT_FS_DIO_WRITE);

/**
 * iot_rw_rejects_rare() - check what few calls need: rare conditions on tasks, and what is known
 * of the file while all other conditions are checked at the end
 * @state:	of the category, iot_rw_is_rare()
 *
 * Context: entry of the call.
 */
bool iot_rw_rejects_rare(u32 state, const struct file *file)
{
	const struct iot_filter *f;
	bool rejects;

	if (state & IOT_CATEGORY_BRANCHES)
		return iot_rw_rejects_late(file);
	preempt_disable_notrace();
	f = rcu_dereference_sched(iot_category_fs.filter);
	rejects = !f || !iot_filter_task(f);
	preempt_enable_notrace();
	return rejects;
}

/**
 * iot_rw_rejects_anywhere() - do iot_rw_rejects_late() while a branch is not limited to a directory
 *
 * Context: as there.
 */
bool iot_rw_rejects_anywhere(const struct file *file)
{
	const struct iot_path *known;
	bool outside;

	if (iot_file_is_backing(file))
		return true;
	if (iot_branches_want_task())
		return false;
	if (!READ_ONCE(iot_below_any))
		return true;
	preempt_disable_notrace();
	known = iot_paths_find(&file->f_path, false);
	outside = known && !(known->file.kinds & IOT_PATHS_BELOW);
	preempt_enable_notrace();
	return outside;
}

/**
 * iot_rw_end_odd() - do iot_rw_end() for a call that iot_event_is_plain() is false for
 * @call:	its latency may be below 0, and its result any that the kernel has
 */
void iot_rw_end_odd(struct iot_paths_file file, struct iot_rw_call call)
{
	if (iot_event_is_interrupted(call.result))
		call.flags |= IOT_CALL_RESTARTED;
	call.latency = iot_clock_since(0, call.latency);
	call.result = iot_event_result(call.result);
	iot_rw_record(&file, &call);
}

/** iot_rw_begin() - do iot_rw_begin_known() for a file whose path need not be known */
void iot_rw_begin(struct iot_rw *rw, const struct file *file, bool may_sleep)
{
	u16 kind = iot_paths_kind(file_inode(file));
	u32 kinds = READ_ONCE(iot_category_fs.kinds);

	rw->wanted = kinds & (BIT(kind) | IOT_PATHS_BELOW);
	if (!rw->wanted)
		return;
	/* iot_rw_begin_known() has already looked for a known path */
	iot_paths_resolve(&file->f_path, may_sleep, &rw->file);
	rw->wanted = rw->file.kinds & kinds;
}

static __always_inline void fill(struct iot_fs *e, const struct iot_paths_file *file,
				 const struct iot_rw_call *call)
{
	e->time = call->start;
	e->latency = call->latency;
	e->op = call->op;
	iot_rw_fill(e, file, call);
	iot_task_fill(e);
}

/* Record a call for one category or branch, straight in its ring. */
static __always_inline void record_once(struct iot_category *c, const struct iot_paths_file *file,
					const struct iot_rw_call *call)
{
	struct iot_event_at at;
	struct iot_fs *e = iot_event_reserve(c, &at);

	if (!e)
		return;
	fill(e, file, call);
	e->sample = READ_ONCE(c->sample);
	e->cpu = at.cpu;
	iot_event_commit(c, &at);
}

/* Record a call for each branch that wants it. By value: see struct iot_rw_call. */
static noinline void record_each(struct iot_paths_file file, struct iot_rw_call call)
{
	struct iot_fs e IOT_UNINITIALIZED;

	fill(&e, &file, &call);
	iot_branches_record(&e);
}

/**
 * iot_rw_end_late() - do iot_rw_end() while all conditions are checked at the end of a call
 *
 * The call comes in registers, as every call does while there are branches. Context: as there,
 * preemption off.
 */
void iot_rw_end_late(struct iot_paths_file file, u64 start, u64 latency, u64 offset, u64 requested,
		     s64 result, u32 op, u32 flags)
{
	struct iot_category *only = iot_branches_only(file.id, file.kind);
	const struct iot_rw_call call = {
		.start = start,
		.latency = latency,
		.offset = offset,
		.requested = requested,
		.result = result,
		.op = op,
		.flags = flags,
	};

	if (likely(only))
		record_once(only, &file, &call);
	else
		record_each(file, call);
}

/**
 * iot_rw_rejects_at_end() - check the conditions that are left at the end of a call
 * @size:	what min_size is compared with, bytes
 *
 * A call is counted as missed if it is rejected although the device and the inode number that
 * stat(2) reports are not known. Context: as iot_rw_end(), preemption off.
 */
bool iot_rw_rejects_at_end(struct iot_paths_file file, u64 latency, s64 size)
{
	if (iot_category_rejects_file(&iot_category_fs, file.kind, file.dev, file.ino)) {
		if (unlikely(file.kinds & IOT_PATHS_UNSURE))
			iot_fs_count_missed();
		return true;
	}
	return iot_category_rejects_at_end(&iot_category_fs, IOT_ANY_OP, latency, size, false);
}
