// SPDX-License-Identifier: GPL-2.0
/*
 * File data in memory that a category's filter wants and that is not written back yet. iotracer
 * record waits for it after the command has ended.
 *
 * The pages are found as the kernel finds them: by the inodes of each mounted filesystem and
 * their tagged pages (fs/fs-writeback.c, mm/filemap.c). This waits for no filesystem, and no other
 * task has to wait: file/supers.c.
 *
 * Only files count. Filesystems decide when they write back their own metadata, which is in the
 * cache of the device.
 */
#include <linux/backing-dev.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/xarray.h>
#include "file/originator.h"
#include "file/supers.h"
#include "record/category.h"
#include "record/filter.h"
#include "proc/dirty.h"

struct walk {
	struct iot_category *c;
	struct iot_dirty *sum;
	int err;
};

/* Context: under RCU. */
static bool is_wanted(const struct iot_category *c, const struct address_space *mapping,
		      unsigned long index)
{
	const struct iot_filter *f = rcu_dereference(c->filter);
	struct iot_originator who;

	if (!f || !(f->used & IOT_FILTER_TASK))
		return true;
	return iot_originator_peek(mapping, index, &who) && iot_filter_origin(f, &who);
}

/* A folio that is freed meanwhile counts as one page, since no reference to it is held. */
static u64 bytes_of(struct folio *folio, const struct address_space *mapping,
		    unsigned long index)
{
	if (READ_ONCE(folio->mapping) != mapping || READ_ONCE(folio->index) != index)
		return PAGE_SIZE;
	return folio_size(folio);
}

static u64 count_pages(const struct iot_category *c, struct address_space *mapping,
		       xa_mark_t mark)
{
	XA_STATE(xas, &mapping->i_pages, 0);
	struct folio *folio;
	u64 bytes = 0;

	rcu_read_lock();
	xas_for_each_marked(&xas, folio, ULONG_MAX, mark) {
		if (xas_retry(&xas, folio) || xa_is_value(folio))
			continue;
		if (is_wanted(c, mapping, xas.xa_index))
			bytes += bytes_of(folio, mapping, xas.xa_index);
		if (!need_resched())
			continue;
		xas_pause(&xas);
		rcu_read_unlock();
		cond_resched();
		rcu_read_lock();
	}
	rcu_read_unlock();
	return bytes;
}

static bool has_pages(const struct inode *inode)
{
	return S_ISREG(inode->i_mode) && inode->i_mapping == &inode->i_data &&
	       (mapping_tagged(inode->i_mapping, PAGECACHE_TAG_DIRTY) ||
		mapping_tagged(inode->i_mapping, PAGECACHE_TAG_WRITEBACK));
}

/* Context: under the lock of the filesystem's list of inodes. */
static enum iot_inode_wish look_at_inode(struct inode *inode, void *data)
{
	struct walk *w = data;

	if (fatal_signal_pending(current))
		w->err = -EINTR;
	if (w->err)
		return IOT_INODE_STOP;
	return has_pages(inode) ? IOT_INODE_VISIT : IOT_INODE_PASS;
}

static void add_inode(struct inode *inode, void *data)
{
	const struct walk *w = data;

	w->sum->dirty += count_pages(w->c, inode->i_mapping, PAGECACHE_TAG_DIRTY);
	w->sum->writeback += count_pages(w->c, inode->i_mapping, PAGECACHE_TAG_WRITEBACK);
}

static const struct iot_inodes_ops ops = {
	.look = look_at_inode,
	.visit = add_inode,
};

static bool add_super(struct super_block *sb, void *data)
{
	return !(sb->s_bdi->capabilities & BDI_CAP_WRITEBACK) || iot_inodes_walk(sb, &ops, data);
}

/**
 * iot_dirty_sum() - count the bytes of files that are dirty or under writeback
 *
 * If the filter has a condition on tasks, only pages that those tasks made dirty count, as
 * far as the originator is known (originator.c). Otherwise all pages count.
 *
 * Context: task, inside a visit; may sleep as long as a walk of all inodes in memory takes. Waits
 * for no filesystem. Return: 0; -EINTR: killed; -EOPNOTSUPP: the kernel's list of filesystems is
 * not known.
 */
int iot_dirty_sum(struct iot_category *c, struct iot_dirty *sum)
{
	struct walk w = { .c = c, .sum = sum };
	struct iot_supers_left left;
	int err;

	memset(sum, 0, sizeof(*sum));
	err = iot_supers_walk(add_super, &w, &left);
	if (err)
		return err;
	sum->unknown = left.busy + left.closing;
	return w.err;
}
