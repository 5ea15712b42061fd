// SPDX-License-Identifier: GPL-2.0
/* READ and WRITE of category fs while it has scopes: what only few calls need. */
#include "record/scope_rw.h"

/**
 * iot_scope_rw_end_slow() - do iot_scope_rw_end() for a call that several may have, or whose
 * result or latency has to be changed
 *
 * If the path was evicted during the call, it is resolved again. Context: as there.
 */
void iot_scope_rw_end_slow(u64 path, const struct file *file, struct iot_rw_call call)
{
	struct iot_paths_file found;
	const struct iot_path *p;

	preempt_disable_notrace();
	p = iot_path_table_at(path);
	if (p)
		found = p->file;
	preempt_enable_notrace();
	if (!p)
		iot_paths_resolve(&file->f_path, true, &found);
	iot_rw_end_odd(found, call);
}
