// SPDX-License-Identifier: GPL-2.0
/*
 * File data in memory that a category's filter wants and that is not written back yet. iotracer
 * record waits for it after the command has ended.
 *
 * The pages are found as the kernel finds them: by the inodes of each mounted filesystem and
 * their tagged pages (fs/fs-writeback.c, mm/filemap.c). No other task has to wait: a reference
 * to an inode is held while its pages are counted, and the lock of the inode list is released as
 * soon as another task wants the CPU.
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
#include "hook/hook.h"
#include "hook/hook_set.h"
#include "hook/symbol.h"
#include "file/originator.h"
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

static void add_inode(const struct walk *w, struct inode *inode)
{
	w->sum->dirty += count_pages(w->c, inode->i_mapping, PAGECACHE_TAG_DIRTY);
	w->sum->writeback += count_pages(w->c, inode->i_mapping, PAGECACHE_TAG_WRITEBACK);
}

/*
 * s_umount is held for reading, so no unmount finds the inodes busy because of this.
 * find_new() in probe/rw_hooks.c keeps its position in the list in the same way.
 */
static void add_super(struct super_block *sb, void *data)
{
	struct inode *inode, *held = NULL;
	struct walk *w = data;
	bool found;

	if (w->err || !(sb->s_bdi->capabilities & BDI_CAP_WRITEBACK))
		return;
	spin_lock(&sb->s_inode_list_lock);
	list_for_each_entry(inode, &sb->s_inodes, i_sb_list) {
		found = has_pages(inode);
		if ((!found && !need_resched()) || !igrab(inode))
			continue;
		spin_unlock(&sb->s_inode_list_lock);
		iput(held);
		held = inode;
		if (found)
			add_inode(w, inode);
		if (fatal_signal_pending(current))
			w->err = -EINTR;
		cond_resched();
		spin_lock(&sb->s_inode_list_lock);
		if (w->err)
			break;
	}
	spin_unlock(&sb->s_inode_list_lock);
	iput(held);
}

/**
 * iot_dirty_sum() - count the bytes of files that are dirty or under writeback
 *
 * If the filter has a condition on tasks, only pages that those tasks made dirty count, as
 * far as the originator is known (originator.c). Otherwise all pages count.
 *
 * Context: task, may sleep as long as a walk of all inodes in memory takes, and as long as
 * the unmount of a filesystem takes.
 * Return: 0; -EINTR: killed; -EOPNOTSUPP: the kernel has no iterate_supers(), fs/super.c.
 */
int iot_dirty_sum(struct iot_category *c, struct iot_dirty *sum)
{
	static unsigned long walk_supers;	/* the lookup takes milliseconds */
	struct walk w = { .c = c, .sum = sum };
	unsigned long args[IOT_CALL_ARGS] = { (unsigned long)add_super, (unsigned long)&w };

	memset(sum, 0, sizeof(*sum));
	if (!READ_ONCE(walk_supers))
		WRITE_ONCE(walk_supers, iot_symbol_checked("iterate_supers",
							   "_ (function *, void *)"));
	if (!walk_supers)
		return -EOPNOTSUPP;
	iot_hook_call(args, walk_supers);
	return w.err;
}
