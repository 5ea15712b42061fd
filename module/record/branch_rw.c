// SPDX-License-Identifier: GPL-2.0
/* READ and WRITE of category fs while it has branches: what only few calls need. */
#include "record/branch_rw.h"

/**
 * iot_branch_rw_rejects() - check whether a call is known to be wanted by nobody
 *
 * Context: entry of the call, while all conditions are checked at its end.
 */
bool iot_branch_rw_rejects(const struct file *file)
{
	u64 path = READ_ONCE(iot_category_fs.nr_anywhere) ? iot_branch_rw_find_tasks(file) :
							    iot_branch_rw_find(file);

	return !path || iot_file_is_backing(file);
}

/**
 * iot_branch_rw_end_slow() - do iot_branch_rw_end() for a call that several may have, or whose
 * result or latency has to be changed
 * @now:	when it ended, CLOCK_MONOTONIC ns
 *
 * If the path was evicted during the call, it is resolved again. Context: as there.
 */
void iot_branch_rw_end_slow(u64 path, const struct file *file, u64 start, u64 now, u64 offset,
			    u64 requested, s64 result, bool write)
{
	const struct iot_path *p;
	struct iot_rw rw;

	preempt_disable_notrace();
	p = iot_path_table_at(path);
	if (p)
		rw.file = p->file;
	preempt_enable_notrace();
	if (!p)
		iot_paths_resolve(&file->f_path, true, &rw.file);
	iot_rw_end_odd(&rw, start, now, offset, requested, result, write, 0);
}
