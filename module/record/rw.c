// SPDX-License-Identifier: GPL-2.0
/* READ, WRITE and DIO_* of category fs: the part that only few of these events need. */
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

	rw->wanted = READ_ONCE(iot_category_fs.kinds) & BIT(kind);
	if (!rw->wanted)
		return;
	/* iot_rw_begin_known() has already looked for a known path */
	iot_paths_resolve(&file->f_path, may_sleep, &rw->file);
	rw->wanted = rw->file.kinds;
}
