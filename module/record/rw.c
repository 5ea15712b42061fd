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
		return iot_branches_reject(file);
	preempt_disable_notrace();
	f = rcu_dereference_sched(iot_category_fs.filter);
	rejects = !f || !iot_filter_task(f);
	preempt_enable_notrace();
	return rejects;
}

/**
 * iot_rw_rejects_file() - check the conditions on files at the end of a call
 *
 * A call is counted as missed if it is rejected although the device and the inode number that
 * stat(2) reports are not known. Context: as iot_rw_end().
 */
bool iot_rw_rejects_file(const struct iot_rw *rw)
{
	if (!iot_category_rejects_file(&iot_category_fs, rw->file.kind, rw->file.dev, rw->file.ino))
		return false;
	if (unlikely(rw->file.kinds & IOT_PATHS_UNSURE))
		iot_fs_count_missed();
	return true;
}

/** iot_rw_end_odd() - do iot_rw_end() for a call that iot_event_is_plain() is false for */
void iot_rw_end_odd(const struct iot_rw *rw, u64 start, u64 now, u64 offset, u64 requested,
		    s64 result, bool write, u32 flags)
{
	if (iot_event_is_interrupted(result))
		flags |= IOT_CALL_RESTARTED;
	iot_rw_record(rw, start, iot_clock_since(start, now), offset, requested,
		      iot_event_result(result), write, flags);
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

static void fill(struct iot_fs *e, const struct iot_rw *rw, const struct iot_rw_call *call)
{
	e->time = call->start;
	e->latency = call->latency;
	e->op = call->op;
	e->offset = call->offset;
	e->requested = call->requested;
	e->result = call->result;
	e->flags = call->flags;
	iot_rw_fill_file(e, rw);
	iot_task_fill(e);
}

/**
 * iot_rw_end_late() - do iot_rw_end() while all conditions are checked at the end of a call
 *
 * Context: as there, preemption off.
 */
void iot_rw_end_late(const struct iot_rw *rw, const struct iot_rw_call *call)
{
	struct iot_fs e IOT_UNINITIALIZED;

	fill(&e, rw, call);
	iot_branches_record(&e);
}
