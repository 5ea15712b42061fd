// SPDX-License-Identifier: GPL-2.0
/* READ, WRITE and DIO_* of category fs: what only few of these events need. */
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

/** iot_rw_begin() - as iot_rw_begin_known(), but the path of the file need not be known */
void iot_rw_begin(struct iot_rw *rw, const struct file *file, bool may_sleep)
{
	u16 kind = iot_paths_kind(file_inode(file));

	rw->wanted = READ_ONCE(iot_category_fs.kinds) & BIT(kind);
	if (!rw->wanted)
		return;
	/* no lookup of a known path here: iot_rw_begin_known() has done that */
	iot_paths_resolve(&file->f_path, may_sleep, &rw->file);
	rw->wanted = rw->file.kinds;
}

/** iot_rw_rejects_end() - check what is known at the end of a call. Preemption is off. */
bool iot_rw_rejects_end(u32 dev, u64 ino, u64 latency, u64 requested, s64 result)
{
	const struct iot_filter *f = rcu_dereference_sched(iot_category_fs.filter);

	if (!f || iot_fs_off())
		return true;
	if ((f->used & IOT_FILTER_DEV) && f->dev != dev)
		return true;
	if ((f->used & IOT_FILTER_INODE) && f->inode != ino)
		return true;
	return !iot_filter_amount(f, latency, max_t(s64, result, requested));
}
