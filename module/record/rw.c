// SPDX-License-Identifier: GPL-2.0
/* READ, WRITE and DIO_* of category fs: the part that only few of these events need. */
#include "record/branch.h"
#include "record/rw.h"

static_assert(IOT_FS_READ + 1 == IOT_FS_WRITE && IOT_FS_READ + 2 == IOT_FS_DIO_READ &&
	      IOT_FS_READ + 3 == IOT_FS_DIO_WRITE);

/** iot_rw_rejects_rare() - check the conditions on tasks that are rarely used. Context: any */
bool iot_rw_rejects_rare(void)
{
	const struct iot_filter *f;
	bool rejects;

	preempt_disable_notrace();
	f = rcu_dereference_sched(iot_category_fs.filter);
	rejects = !f || !iot_filter_task(f);
	preempt_enable_notrace();
	return rejects;
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

/**
 * iot_rw_is_outside() - check whether a file is known not to be below a traced directory, and
 * not wanted for another reason. Context: entry of the call
 */
bool iot_rw_is_outside(const struct file *file)
{
	const struct iot_path *known;
	bool outside;

	preempt_disable_notrace();
	known = iot_paths_find(&file->f_path, false);
	outside = known && !(known->file.kinds & READ_ONCE(iot_category_fs.kinds));
	preempt_enable_notrace();
	return outside;
}

/**
 * iot_rw_end_late() - do iot_rw_end() while all conditions are checked at the end of a call
 * @latency:	ns
 *
 * Context: as there, preemption off.
 */
void iot_rw_end_late(const struct iot_rw *rw, u64 start, u64 latency, u64 offset, u64 requested,
		     s64 result, bool write, u16 flags)
{
	struct iot_fs e = {
		.time = start,
		.latency = latency,
		.op = iot_rw_op(write, flags & IOT_IO_DIRECT),
		.offset = offset,
		.requested = requested,
		.result = result,
		.flags = flags,
	};

	iot_rw_fill_file(&e, rw);
	iot_task_fill(&e);
	iot_branches_record(&e);
}
