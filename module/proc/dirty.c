// SPDX-License-Identifier: GPL-2.0
/*
 * What is still to be written of what a category's filter wants: its recorder waits for
 * that when the command has ended.
 *
 * The pages are the kernel's to find: of each mounted filesystem the inodes, of these the
 * pages with a tag (fs/fs-writeback.c, mm/filemap.c). Nobody is held up: an inode is held
 * while its pages are looked at, and no lock longer than until somebody wants the CPU.
 *
 * Only files count. What filesystems keep of themselves in a device's cache is written
 * when they choose to.
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

/* Under RCU. */
static bool is_wanted(const struct iot_category *c, const struct address_space *mapping,
		      unsigned long index)
{
	const struct iot_filter *f = rcu_dereference(c->filter);
	struct iot_originator who;

	if (!f || !(f->used & IOT_FILTER_TASK))
		return true;
	return iot_origin_find(mapping, index, &who) && iot_filter_origin(f, &who);
}

/* One that is freed meanwhile stands for one page: there is no reference to it. */
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
 * s_umount is held for reading: no inode that is held keeps it from being unmounted. For
 * how a place in the list is kept see find_new() of probe_rw.c.
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
 * iot_dirty_sum() - bytes of files that are dirty or being written
 *
 * Where the filter has a condition on tasks, only what those tasks made dirty counts, as
 * far as it is known who did (originator.c). Otherwise all dirty bytes count.
 *
 * Context: task, may sleep: as long as it takes to look at all inodes in memory, and as
 * a filesystem takes that is being unmounted.
 * Return: 0; -EINTR: killed; -EOPNOTSUPP: a kernel without iterate_supers, fs/super.c.
 */
int iot_dirty_sum(struct iot_category *c, struct iot_dirty *sum)
{
	static unsigned long walk_supers;	/* to look for it takes milliseconds */
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
