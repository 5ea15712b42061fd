// SPDX-License-Identifier: GPL-2.0
/* READ, WRITE and DIO_* of category fs: the part that only few of these events need. */
#include "compat/compat.h"
#include "record/scope.h"
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

	if (state & IOT_CATEGORY_SCOPES)
		return iot_scopes_reject(file);
	preempt_disable_notrace();
	f = rcu_dereference_sched(iot_category_fs.filter);
	rejects = !f || !iot_filter_task(f);
	preempt_enable_notrace();
	return rejects;
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

/**
 * iot_rw_end_late() - do iot_rw_end() while all conditions are checked at the end of a call
 *
 * Context: as there, preemption off.
 */
void iot_rw_end_late(struct iot_paths_file file, struct iot_rw_call call)
{
	struct iot_fs e IOT_UNINITIALIZED;

	e.time = call.start;
	e.latency = call.latency;
	e.op = call.op;
	iot_rw_fill(&e, &file, &call);
	iot_task_fill(&e);
	iot_scopes_record(&e);
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
