// SPDX-License-Identifier: GPL-2.0
/*
 * Category cache: events of the pages of files in the page cache.
 *
 * HIT and MISS are decided at the start of a read, a write or a page fault. The probe
 * looks the pages up as the kernel is about to (mm/filemap.c), and each run of pages in
 * the same state is one event. So a page that this very call reads from the device is a MISS. A
 * page that an earlier readahead has read is a HIT, with WAIT if its data has not arrived yet. A
 * request that the kernel has to retry is counted once.
 *
 *   filemap_read, filemap_splice_read	reads
 *   generic_perform_write, iomap_file_buffered_write, btrfs_buffered_write	writes
 *   filemap_map_pages, filemap_fault	page faults: the first maps pages that are in
 *					memory; the second gets those that it could not map
 *   read_pages				READAHEAD: the pages, those asked for included, are
 *					in the cache, and their read starts
 *   writeback_dirty_folio		DIRTY, where the kernel counts NR_DIRTIED
 *   __folio_start_writeback		WRITEBACK_START
 *   __folio_end_writeback		WRITEBACK_END, where the kernel counts NR_WRITTEN
 *   mm_filemap_delete_from_page_cache	a folio leaves the cache:
 *					DROP within the sysctl drop_caches,
 *					RECLAIM if the kernel needs memory,
 *					EVICT with its inode (deleted, unmounted, or unused),
 *					otherwise INVALIDATE (truncated, punched out, given
 *					up by posix_fadvise(2), or overtaken by direct I/O)
 *
 * A filter's conditions on tasks apply to the task that causes the event. For writeback
 * and removal of pages the originator may meet them instead: the task that made the page
 * dirty or had it read (file/originator.c). Originators are noted only once a filter has
 * such conditions.
 *
 * Except for DROP, functions are hooked at their entry only. Nothing of ours is on the stack of
 * a call that waits. Contexts: task, except for __folio_end_writeback(), which runs in whatever
 * context completes a bio, and for the tracepoints, which fire with the lock of the mapping held
 * and interrupts off.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_CACHE /* left_out.h */
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/kprobes.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/pipe_fs_i.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <linux/uio.h>
#include <linux/xarray.h>
#include <trace/events/filemap.h>
#include <trace/events/writeback.h>
#include "compat/io_uring.h"
#include "core/table.h"
#include "core/task.h"
#include "hook/enter.h"
#include "hook/hook_set.h"
#include "hook/kretprobe.h"
#include "hook/point.h"
#include "hook/symbol.h"
#include "file/originator.h"
#include "file/paths.h"
#include "record/event.h"
#include "probe/categories.h"
#include "probe/vfs.h"
#include "uapi/iotracer.h"

static struct iot_category * const category = &iot_category_cache;

static atomic_long_t nr_missed;
static bool has_origin;	/* we use originator.c; changed under the category's control lock */

#define LOOKUPS		(BIT(IOT_CACHE_HIT) | BIT(IOT_CACHE_MISS))
#define REMOVALS	(BIT(IOT_CACHE_DROP) | BIT(IOT_CACHE_RECLAIM) | \
			 BIT(IOT_CACHE_EVICT) | BIT(IOT_CACHE_INVALIDATE))
/* These may be caused by a task other than the one that changed the page or had it read. */
#define BY_OTHERS	(REMOVALS | BIT(IOT_CACHE_WRITEBACK_START) | \
			 BIT(IOT_CACHE_WRITEBACK_END))

static noinline bool is_wanted_by_filter(unsigned long ops)
{
	const struct iot_filter *f;
	bool wanted;

	preempt_disable_notrace();
	f = rcu_dereference_sched(category->filter);
	if (!f || ((f->used & IOT_FILTER_OP) && !(f->ops[0] & ops)))
		wanted = false;
	else if ((f->used & IOT_FILTER_TASK) && (ops & BY_OTHERS))
		wanted = true; /* the page decides: is_anybody_wanted() */
	else if (in_task())
		wanted = iot_category_wants_task(category);
	else
		wanted = !(f->used & IOT_FILTER_TASK);
	preempt_enable_notrace();
	return wanted;
}

/*
 * Is one of these operations wanted if the current task causes it? An operation in an interrupt
 * belongs to no task.
 */
static __always_inline bool is_wanted(unsigned long ops)
{
	u32 state = READ_ONCE(category->state);

	if (likely(iot_category_wants_any(category, state)))
		return true;
	if (!(state & IOT_CATEGORY_ACTIVE))
		return false;
	if (!(ops & BY_OTHERS) && iot_category_rejects_process(category, state))
		return false;
	return is_wanted_by_filter(ops);
}

/* Is the file stored outside memory? Files that exist only in memory are not cached. */
static __always_inline bool is_cached(const struct inode *inode)
{
	switch (inode->i_sb->s_magic) {
	case TMPFS_MAGIC:
	case HUGETLBFS_MAGIC:
		return false;
	}
	return true;
}

/*
 * Look up what is known of a file, by the path that a program used or by the inode alone.
 * Return: true if the file is wanted.
 */
static __always_inline bool find_file(const struct file *filp, struct iot_paths_file *file)
{
	if (!is_cached(filp->f_mapping->host))
		return false;
	iot_paths_of(iot_file_user_path(filp), false, file);
	return iot_category_wants_file(category, file);
}

static bool find_inode(struct inode *inode, struct iot_paths_file *file)
{
	bool found;

	if (!is_cached(inode))
		return false;
	preempt_disable_notrace();
	found = iot_paths_find_inode(inode, file);
	if (unlikely(!found) && (READ_ONCE(category->kinds) & BIT(iot_paths_kind(inode)))) {
		iot_paths_of_inode(inode, file);
		found = true;
	}
	preempt_enable_notrace();
	return found && iot_category_wants_file(category, file);
}

static __always_inline void fill_task(struct iot_cache *e, bool task)
{
	if (likely(task)) {
		iot_task_fill(e);
		return;
	}
	e->pid = 0;
	e->tid = 0;
	e->ppid = 0;
	e->uid = 0;
	e->cgroup = 0;
	strscpy_pad(e->comm, "irq", sizeof(e->comm));
}

/*
 * Record an event. Context: any, preemption off.
 * @sampled: sampling has already chosen this event
 * @task: the current task caused it, not an interrupt
 */
static __always_inline void record_as(bool sampled, bool task, u16 op,
				      const struct iot_paths_file *file,
				      const struct inode *inode, pgoff_t first,
				      unsigned long pages, u64 offset, u32 flags)
{
	struct iot_event_at at;
	struct iot_cache *e;
	u64 now;

	if (unlikely(iot_category_asks_at_end(category, IOT_FILTER_OP)) &&
	    iot_category_rejects_at_end(category, op, 0, (s64)pages << PAGE_SHIFT, sampled))
		return;
	now = ktime_get_mono_fast_ns();
	e = iot_event_reserve(category, &at);
	if (!e)
		return;
	iot_event_fill(e, &at, category, op, now, 0);
	e->inode = file->ino;
	e->path = file->id;
	e->index = first;
	e->offset = offset;
	e->file_pages = DIV_ROUND_UP_ULL(i_size_read(inode), PAGE_SIZE);
	e->device = file->dev;
	e->pages = pages;
	e->flags = flags | (task ? 0 : IOT_CACHE_INTERRUPT);
	e->kind = file->kind;
	e->reserved = 0;
	fill_task(e, task);
	iot_event_commit(category, &at);
}

static noinline void record(u16 op, const struct iot_paths_file *file,
			    const struct inode *inode, pgoff_t first, unsigned long pages,
			    u64 offset, u32 flags)
{
	preempt_disable_notrace();
	record_as(false, in_task(), op, file, inode, first, pages, offset, flags);
	preempt_enable_notrace();
}

/*
 * Requests that will be retried: those of io_uring, by the address of the kiocb, and page
 * faults, by the address of the task.
 */
struct retry {
	const struct address_space *mapping;
	u64 end;
	u64 time;
	u32 uid;
	u32 pid;
};

#define RETRY_BITS	10

/* The pages of the request will be counted again. */
static void retry_gone(void *thing, bool displaced)
{
	if (displaced)
		atomic_long_inc(&nr_missed);
}

IOT_TABLE_STORE(retry, struct retry, RETRY_BITS);
static struct iot_table retries = {
	IOT_TABLE_OF(struct retry, time, uid, pid),
	IOT_TABLE_STORED(retry, RETRY_BITS),
	.gone = retry_gone,
};

/* Was this request counted by an earlier try? If so, its entry is dropped. */
static bool is_retry(const void *by, const struct address_space *mapping, u64 end)
{
	struct retry *r;
	bool same;

	if (likely(iot_table_is_empty(&retries)))
		return false;
	r = iot_table_take(&retries, by);
	if (!r)
		return false;
	same = r->mapping == mapping && r->end == end;
	iot_table_drop(&retries, r);
	return same;
}

static void keep_retry(const void *by, const struct address_space *mapping, u64 end)
{
	struct retry *r = iot_table_new(&retries, by);

	if (!r) {
		atomic_long_inc(&nr_missed);
		return;
	}
	r->mapping = mapping;
	r->end = end;
	/* precise enough to tell which entry is older */
	r->time = get_jiffies_64();
	r->uid = __kuid_val(current_euid());
	r->pid = current->tgid;
	iot_table_keep(r);
}

/* The state of a page. PENDING: the page is in the cache, but its data is not there yet. */
enum presence { ABSENT, PRESENT, PENDING };

/**
 * struct lookup - the pages that a request is about to use
 * @file:	the file
 * @mapping:	its page cache
 * @from:	first byte
 * @end:	byte after the last
 * @flags:	of the events, IOT_CACHE_*
 * @first:	first page of the run
 * @next:	page after the run
 * @state:	of the pages of the run
 * @silent:	the request has been counted: nothing is recorded
 * @sampled:	sampling has chosen the request: all of its events are recorded
 * @waits:	some page is absent or pending
 */
struct lookup {
	const struct iot_paths_file *file;
	struct address_space *mapping;
	u64 from;
	u64 end;
	u32 flags;
	pgoff_t first;
	pgoff_t next;
	enum presence state;
	bool silent;
	bool sampled;
	bool waits;
};

/*
 * Record @pages, all in @state. @offset: the first byte in them that the request wants. Context:
 * task, preemption off.
 */
static __always_inline void record_lookup(bool sampled, enum presence state,
					  const struct iot_paths_file *file,
					  const struct inode *inode, pgoff_t first,
					  unsigned long pages, u64 offset, u32 flags)
{
	record_as(sampled, true, state == ABSENT ? IOT_CACHE_MISS : IOT_CACHE_HIT, file, inode,
		  first, pages, offset, flags | (state == PENDING ? IOT_CACHE_WAIT : 0));
}

/* As above, for the first @pages of the run. */
static __always_inline void found(struct lookup *l, unsigned long pages, u64 offset,
				  enum presence state)
{
	l->waits |= state != PRESENT;
	if (!l->silent)
		record_lookup(l->sampled, state, l->file, l->mapping->host, l->first, pages,
			      offset, l->flags);
}

static void run_end(struct lookup *l)
{
	if (l->first == l->next)
		return;
	preempt_disable_notrace();
	found(l, l->next - l->first, max(l->from, (u64)l->first << PAGE_SHIFT), l->state);
	preempt_enable_notrace();
	l->first = l->next;
}

/* Extend the run by pages up to @next, or start a new one if @state differs. */
static void run_on(struct lookup *l, enum presence state, pgoff_t next)
{
	if (next <= l->next)
		return;
	if (state != l->state)
		run_end(l);
	l->state = state;
	l->next = next;
}

/*
 * No reference to the folio is held, so it may be freed and reused meanwhile. Then its index and
 * mapping do not match, and it counts as one page.
 */
static void look_at(struct lookup *l, struct folio *folio, pgoff_t at, pgoff_t limit)
{
	pgoff_t from = READ_ONCE(folio->index), next = from + folio_nr_pages(folio);
	enum presence state = folio_test_uptodate(folio) ? PRESENT : PENDING;

	if (READ_ONCE(folio->mapping) != l->mapping || at < from || at >= next) {
		from = at;
		next = at + 1;
	}
	run_on(l, ABSENT, min(from, limit));
	run_on(l, state, min(next, limit));
}

/*
 * The state of a single page, which is all that most requests have. Context: task, preemption off,
 * which is an RCU read section.
 */
static __always_inline enum presence presence_of(struct address_space *mapping, pgoff_t index)
{
	struct folio *folio = xa_load(&mapping->i_pages, index);

	if (unlikely(!folio) || unlikely(xa_is_value(folio)))
		return ABSENT;
	return folio_test_uptodate(folio) ? PRESENT : PENDING;
}

static noinline void look_up_many(struct lookup *l, pgoff_t limit)
{
	XA_STATE(xas, &l->mapping->i_pages, l->first);
	void *entry;

	rcu_read_lock();
	while (l->next < limit) {
		entry = xas_next_entry(&xas, limit - 1);
		if (!entry)
			break;
		if (!xas_retry(&xas, entry) && !xa_is_value(entry))
			look_at(l, entry, xas.xa_index, limit);
	}
	rcu_read_unlock();
	run_on(l, ABSENT, limit);
	run_end(l);
}

static void look_up(struct lookup *l)
{
	pgoff_t limit = DIV_ROUND_UP_ULL(l->end, PAGE_SIZE);

	l->first = l->from >> PAGE_SHIFT;
	l->next = l->first;
	if (limit != l->first + 1) {
		look_up_many(l, limit);
		return;
	}
	preempt_disable_notrace();
	found(l, 1, l->from, presence_of(l->mapping, l->first));
	preempt_enable_notrace();
}

enum sampling { SAMPLED_OUT, SAMPLED, SAMPLED_LATER };

/*
 * Sample whole requests: look at one request in N and record all of its events. Two cases
 * are sampled later, event by event. If the filter selects files, sampling comes after the
 * filter, as otherwise requests on other files would take part. A request that may be retried
 * would otherwise be sampled twice.
 */
static __always_inline enum sampling sample_request(const struct inode *inode)
{
	bool taken;

	if (likely(READ_ONCE(category->sample) <= 1))
		return SAMPLED;
	if (!S_ISREG(inode->i_mode) ||
	    (READ_ONCE(category->state) & (IOT_CATEGORY_BY_FILE | IOT_FILTER_KIND)))
		return SAMPLED_LATER;
	preempt_disable_notrace();
	taken = iot_category_samples(category);
	preempt_enable_notrace();
	return taken ? SAMPLED : SAMPLED_OUT;
}

static __always_inline struct lookup lookup_of(const struct file *filp,
					       const struct iot_paths_file *file, u64 from,
					       u64 count, bool write, enum sampling sampling)
{
	return (struct lookup) {
		.file = file,
		.mapping = filp->f_mapping,
		.from = from,
		.end = from + count,
		.flags = write ? IOT_CACHE_WRITE : 0,
		.sampled = sampling == SAMPLED,
	};
}

/* A request on any number of pages, of a file whose path need not be known. */
static noinline void look_up_range(const struct file *filp, u64 from, u64 count, bool write,
				   enum sampling sampling)
{
	struct iot_paths_file file IOT_UNINITIALIZED;
	struct lookup l = lookup_of(filp, &file, from, count, write, sampling);

	if (find_file(filp, &file))
		look_up(&l);
}

/*
 * Record a request on a single page that is there, of a file whose path is known: this needs no
 * struct lookup, and no copy of what is known, which stays valid with preemption off. Return: false
 * if it is another request. Context: task, preemption off.
 */
static __always_inline bool record_plain_hit(const struct file *filp, u64 from, u64 count,
					     bool write)
{
	struct address_space *mapping = filp->f_mapping;
	pgoff_t first = from >> PAGE_SHIFT;
	const struct iot_path *known;

	if (unlikely((from + count - 1) >> PAGE_SHIFT != first))
		return false;
	known = iot_paths_find(iot_file_user_path(filp), true);
	if (unlikely(!known))
		return false;
	if (unlikely(!iot_category_wants_file(category, &known->file)))
		return true;
	if (unlikely(presence_of(mapping, first) != PRESENT))
		return false;
	record_as(true, true, IOT_CACHE_HIT, &known->file, mapping->host, first, 1, from,
		  write ? IOT_CACHE_WRITE : 0);
	return true;
}

/* A request of which sampling leaves nothing out. */
static noinline void look_up_transfer(const struct file *filp, u64 from, u64 count, bool write)
{
	bool done;

	if (!is_cached(filp->f_mapping->host))
		return;
	preempt_disable_notrace();
	done = record_plain_hit(filp, from, count, write);
	preempt_enable_notrace();
	if (unlikely(!done))
		look_up_range(filp, from, count, write, SAMPLED);
}

/* As above, for a request that io_uring may retry. */
static void look_up_again(const struct file *filp, struct kiocb *iocb, u64 from, u64 count,
			  bool write)
{
	bool retries = iocb->ki_flags & (IOCB_NOWAIT | IOCB_WAITQ);
	enum sampling sampling = retries ? SAMPLED_LATER : sample_request(filp->f_mapping->host);
	struct iot_paths_file file IOT_UNINITIALIZED;
	struct lookup l = lookup_of(filp, &file, from, count, write, sampling);

	if (sampling == SAMPLED_OUT || !find_file(filp, &file))
		return;
	l.silent = is_retry(iocb, l.mapping, l.end);
	if (l.silent && !retries)
		return;
	look_up(&l);
	/* a write may have to wait even if all of its pages are there */
	if (retries && (l.waits || write))
		keep_retry(iocb, l.mapping, l.end);
}

/* A read or write of @count bytes. */
static __always_inline void transferred(const struct file *filp, u64 from, u64 count, bool write)
{
	enum sampling sampling;

	/* no READ_ONCE(): the load is then a part of the comparison */
	if (likely(data_race(category->sample) <= 1)) {
		look_up_transfer(filp, from, count, write);
		return;
	}
	sampling = sample_request(filp->f_mapping->host);
	if (sampling != SAMPLED_OUT)
		look_up_range(filp, from, count, write, sampling);
}

static noinline void transferred_async(struct kiocb *iocb, u64 from, u64 count, bool write)
{
	if (iot_vfs_is_uring(iocb))
		look_up_again(iocb->ki_filp, iocb, from, count, write);
	else
		transferred(iocb->ki_filp, from, count, write);
}

static __always_inline void transferred_by(struct kiocb *iocb, u64 from, u64 count, bool write)
{
	if (!count)
		return;
	if (likely(is_sync_kiocb(iocb)))
		transferred(iocb->ki_filp, from, count, write);
	else
		transferred_async(iocb, from, count, write);
}

/* The part of @count bytes that is in the file. */
static __always_inline u64 inside(const struct file *filp, u64 from, u64 count)
{
	u64 size = i_size_read(filp->f_mapping->host);

	return from < size ? min(count, size - from) : 0;
}

/* filemap_read(iocb, iter, already_read) */
static __always_inline void probe_read(const unsigned long *args)
{
	struct kiocb *iocb = (void *)args[0];

	transferred_by(iocb, iocb->ki_pos,
		       inside(iocb->ki_filp, iocb->ki_pos, iov_iter_count((void *)args[1])),
		       false);
}

/* filemap_splice_read(in, ppos, pipe, len, flags) */
static void probe_splice(const unsigned long *args)
{
	const struct pipe_inode_info *pipe = (void *)args[2];
	unsigned int used = pipe_occupancy(READ_ONCE(pipe->head), READ_ONCE(pipe->tail));
	u64 room = READ_ONCE(pipe->max_usage) > used ? READ_ONCE(pipe->max_usage) - used : 0;
	const struct file *filp = (void *)args[0];
	u64 from = *(loff_t *)args[1];
	u64 count = inside(filp, from, min_t(u64, args[3], room << PAGE_SHIFT));

	if (count)
		transferred(filp, from, count, false);
}

/* generic_perform_write(iocb, iter), and others like it */
static __always_inline void probe_write(const unsigned long *args)
{
	struct kiocb *iocb = (void *)args[0];
	u64 from = iocb->ki_flags & IOCB_APPEND ?
		   i_size_read(iocb->ki_filp->f_mapping->host) : iocb->ki_pos;

	transferred_by(iocb, from, iov_iter_count((void *)args[1]), true);
}

static void fault_lookup(const struct vm_fault *vmf, struct lookup *l,
			 struct iot_paths_file *file)
{
	l->file = file;
	l->mapping = vmf->vma->vm_file->f_mapping;
	l->from = (u64)vmf->pgoff << PAGE_SHIFT;
	l->end = l->from + PAGE_SIZE;
	l->flags = IOT_CACHE_FAULT | (vmf->flags & FAULT_FLAG_WRITE ? IOT_CACHE_WRITE : 0);
}

static bool is_beyond(const struct lookup *l)
{
	return l->from >= i_size_read(l->mapping->host);
}

/*
 * Is this the first try of the fault? Then it holds only the lock of its VMA (6.4 and later). If
 * that is not enough, the kernel retries it with mmap_lock held, and sets FAULT_FLAG_TRIED only
 * if the page had to be read. A retry never holds only the lock of the VMA.
 */
static bool is_first_try(const struct vm_fault *vmf)
{
	return vmf->flags & IOT_FAULT_VMA_LOCK;
}

/* filemap_fault(vmf): a retry usually has FAULT_FLAG_TRIED set */
static void probe_fault(const unsigned long *args)
{
	const struct vm_fault *vmf = (void *)args[0];
	bool first = is_first_try(vmf);
	struct iot_paths_file file IOT_UNINITIALIZED;
	struct lookup l = { 0 };

	if (vmf->flags & FAULT_FLAG_TRIED) {
		is_retry(current, NULL, 0);
		return;
	}
	if (!find_file(vmf->vma->vm_file, &file))
		return;
	fault_lookup(vmf, &l, &file);
	if (is_beyond(&l) || (is_retry(current, l.mapping, l.from) && !first))
		return;
	look_up(&l);
	if ((l.waits || first) && (vmf->flags & FAULT_FLAG_ALLOW_RETRY))
		keep_retry(current, l.mapping, l.from);
}

/*
 * Would filemap_map_pages() map the page? The checks are those of next_uptodate_folio(),
 * mm/filemap.c.
 */
static bool is_mappable(struct address_space *mapping, pgoff_t index)
{
	struct folio *folio;
	bool mappable;

	rcu_read_lock();
	folio = xa_load(&mapping->i_pages, index);
	mappable = folio && !xa_is_value(folio) && folio_test_uptodate(folio) &&
		   !folio_test_locked(folio) && !folio_test_readahead(folio) &&
		   READ_ONCE(folio->mapping) == mapping;
	rcu_read_unlock();
	return mappable;
}

/* filemap_map_pages(vmf, start, end): filemap_fault() gets what this does not map */
static void probe_map(const unsigned long *args)
{
	const struct vm_fault *vmf = (void *)args[0];
	struct iot_paths_file file IOT_UNINITIALIZED;
	struct lookup l = { 0 };
	bool again;

	if (!find_file(vmf->vma->vm_file, &file))
		return;
	fault_lookup(vmf, &l, &file);
	if (is_beyond(&l) || !is_mappable(l.mapping, vmf->pgoff))
		return;
	again = is_retry(current, l.mapping, l.from);
	if (!(vmf->flags & FAULT_FLAG_TRIED) && (!again || is_first_try(vmf)))
		record(IOT_CACHE_HIT, &file, l.mapping->host, vmf->pgoff, 1, l.from, l.flags);
}

/*
 * Every task that reads is noted, even if it is not wanted, as another one may have been noted
 * for these pages before.
 */
static noinline void note_reader(const struct readahead_control *rac)
{
	preempt_disable_notrace();
	iot_originator_read(rac->mapping, rac->_index, rac->_nr_pages);
	preempt_enable_notrace();
}

/* read_pages(readahead_control) */
static void probe_readahead(const unsigned long *args)
{
	struct readahead_control *rac = (void *)args[0];
	struct iot_paths_file file IOT_UNINITIALIZED;

	if (!readahead_count(rac))
		return;
	if (rac->file ? find_file(rac->file, &file) : find_inode(rac->mapping->host, &file))
		record(IOT_CACHE_READAHEAD, &file, rac->mapping->host, rac->_index,
		       rac->_nr_pages, (u64)rac->_index << PAGE_SHIFT, 0);
}

static bool is_originator_wanted(const struct folio *folio)
{
	const struct iot_filter *f = rcu_dereference_sched(category->filter);
	struct iot_originator who;

	return f && READ_ONCE(has_origin) &&
	       iot_originator_find(folio->mapping, folio->index, &who) &&
	       iot_filter_origin(f, &who);
}

/*
 * Is the current task wanted, or else the originator of the folio? For the latter @flags is
 * set to IOT_CACHE_ORIGINATOR.
 */
static noinline bool is_anybody_wanted(const struct folio *folio, u32 *flags)
{
	bool wanted;

	preempt_disable_notrace();
	wanted = in_task() && iot_category_wants_task(category);
	if (!wanted && is_originator_wanted(folio)) {
		wanted = true;
		*flags = IOT_CACHE_ORIGINATOR;
	}
	preempt_enable_notrace();
	return wanted;
}

/*
 * Record an event of a folio in the cache of a file. Anonymous memory that is being swapped out
 * is no event.
 */
static void seen_folio(u16 op, struct folio *folio, struct address_space *mapping)
{
	struct iot_paths_file file IOT_UNINITIALIZED;
	u32 flags = 0;

	if (!mapping || ((unsigned long)mapping & IOT_MAPPING_FLAGS) ||
	    folio_test_swapcache(folio) || !mapping->host)
		return;
	if (unlikely(READ_ONCE(category->state) & IOT_FILTER_TASK) && (BIT(op) & BY_OTHERS) &&
	    !is_anybody_wanted(folio, &flags))
		return;
	if (find_inode(mapping->host, &file))
		record(op, &file, mapping->host, folio->index, folio_nr_pages(folio),
		       (u64)folio->index << PAGE_SHIFT, flags);
}

/* __folio_start_writeback(folio, keep_write): the folio may be under writeback already */
static void probe_writeback_start(const unsigned long *args)
{
	struct folio *folio = (void *)args[0];

	if (!folio_test_writeback(folio))
		seen_folio(IOT_CACHE_WRITEBACK_START, folio, folio->mapping);
}

/* __folio_end_writeback(folio): any context; a folio under writeback stays in the cache */
static void probe_writeback_end(const unsigned long *args)
{
	struct folio *folio = (void *)args[0];

	if (folio_test_writeback(folio))
		seen_folio(IOT_CACHE_WRITEBACK_END, folio, folio->mapping);
}

/* Limit to the tasks that are known to write to the sysctl drop_caches. */
#define DROPPERS	8

static const struct task_struct *droppers[DROPPERS];
static atomic_t nr_droppers;

static bool replace_dropper(const struct task_struct *old, const struct task_struct *new)
{
	unsigned int i;

	for (i = 0; i < DROPPERS; i++)
		if (READ_ONCE(droppers[i]) == old && cmpxchg(&droppers[i], old, new) == old)
			return true;
	return false;
}

static bool is_dropper(void)
{
	unsigned int i;

	if (likely(!atomic_read(&nr_droppers)))
		return false;
	for (i = 0; i < DROPPERS; i++)
		if (READ_ONCE(droppers[i]) == current)
			return true;
	return false;
}

static void begin_drop(void)
{
	if (replace_dropper(NULL, current))
		atomic_inc(&nr_droppers);
	else
		atomic_long_inc(&nr_missed); /* their events are recorded as INVALIDATE */
}

static void end_drop(void)
{
	if (replace_dropper(current, NULL))
		atomic_dec(&nr_droppers);
}

static u16 why_removed(struct address_space *mapping)
{
	if (is_dropper())
		return IOT_CACHE_DROP;
	if (current->reclaim_state || (current->flags & PF_MEMALLOC))
		return IOT_CACHE_RECLAIM;
	return mapping_exiting(mapping) ? IOT_CACHE_EVICT : IOT_CACHE_INVALIDATE;
}

/* The tracepoints. */
static void folio_removed(void *data, struct folio *folio)
{
	IOT_POINT_ENTER();
	struct address_space *mapping = folio->mapping;

	if (mapping && is_wanted(REMOVALS))
		seen_folio(why_removed(mapping), folio, mapping);
}

static void folio_dirtied(void *data, struct folio *folio, struct address_space *mapping)
{
	IOT_POINT_ENTER();

	if (is_wanted(BIT(IOT_CACHE_DIRTY)))
		seen_folio(IOT_CACHE_DIRTY, folio, mapping);
}

#ifdef CONFIG_IO_URING
/*
 * The kiocb is the first member of an io_uring request. An entry of an earlier request at this
 * address is dropped.
 */
static void iot_uring_submitted(request_submitted)
{
	IOT_POINT_ENTER();

	is_retry(req, NULL, 0);
}
#endif

static struct iot_point points[] = {
#ifdef CONFIG_IO_URING
	{ .name = IOT_URING_SUBMIT_POINT, .probe = request_submitted },
#endif
	{ .name = "mm_filemap_delete_from_page_cache", .probe = folio_removed },
	{ .name = "writeback_dirty_folio", .probe = folio_dirtied },
};

static void check_types(void)
{
	check_trace_callback_type_mm_filemap_delete_from_page_cache(folio_removed);
	check_trace_callback_type_writeback_dirty_folio(folio_dirtied);
#ifdef CONFIG_IO_URING
	iot_uring_check_submit(request_submitted);
#endif
}

/* The functions: the probe at the entry of each, and what it may record. */
enum tag {
	TAG_READ, TAG_SPLICE, TAG_WRITE, TAG_FAULT, TAG_MAP, TAG_READAHEAD, TAG_START, TAG_END,
	TAG_DROP
};

static const struct {
	void (*seen)(const unsigned long *args);
	unsigned long ops;
} probes[] = {
	[TAG_READ] = { probe_read, LOOKUPS },
	[TAG_SPLICE] = { probe_splice, LOOKUPS },
	[TAG_WRITE] = { probe_write, LOOKUPS },
	[TAG_FAULT] = { probe_fault, LOOKUPS },
	[TAG_MAP] = { probe_map, LOOKUPS },
	[TAG_READAHEAD] = { probe_readahead, BIT(IOT_CACHE_READAHEAD) },
	[TAG_START] = { probe_writeback_start, BIT(IOT_CACHE_WRITEBACK_START) },
	[TAG_END] = { probe_writeback_end, BIT(IOT_CACHE_WRITEBACK_END) },
};

#ifdef IOT_REDIRECT
/*
 * For the most frequent functions: checks the call and runs the probe in one step. Without a
 * filter, no register has to be saved.
 */
static __always_inline void begins(struct ftrace_regs *fregs,
				   void (*probe)(const unsigned long *args))
{
	const struct iot_regs *regs = iot_ftrace_regs(fregs);
	const unsigned long args[] = { iot_regs_arg(regs, 0), iot_regs_arg(regs, 1) };

	probe(args);
}

static noinline void read_may_begin(unsigned long ip, unsigned long parent_ip,
				    struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (is_wanted(LOOKUPS))
		begins(fregs, probe_read);
}

static noinline void write_may_begin(unsigned long ip, unsigned long parent_ip,
				     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (is_wanted(LOOKUPS))
		begins(fregs, probe_write);
}

static void read_begins(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			struct ftrace_regs *fregs)
{
	/* no READ_ONCE(): the load is then a part of the comparison */
	if (likely(data_race(category->state) == IOT_CATEGORY_ACTIVE))
		begins(fregs, probe_read);
	else
		read_may_begin(ip, parent_ip, ops, fregs);
}

static void write_begins(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs)
{
	/* no READ_ONCE(): the load is then a part of the comparison */
	if (likely(data_race(category->state) == IOT_CATEGORY_ACTIVE))
		begins(fregs, probe_write);
	else
		write_may_begin(ip, parent_ip, ops, fregs);
}
#endif

#define LOOKUP(function, t, p)	\
	.symbol = (function), .what = "HIT,MISS", .tag = (t), .proto = (p)
#define ITER_PROTO	"_ (struct kiocb *, struct iov_iter *, ...)"

static struct iot_site sites[] = {
	{ LOOKUP("filemap_read", TAG_READ, ITER_PROTO), .handler = IOT_HOOK_OWN(read_begins) },
	{ LOOKUP("filemap_splice_read", TAG_SPLICE,
		 "_ (struct file *, long *, struct pipe_inode_info *, long, ...)") },
	{ LOOKUP("generic_perform_write", TAG_WRITE, ITER_PROTO),
	  .handler = IOT_HOOK_OWN(write_begins) },
	{ LOOKUP("iomap_file_buffered_write", TAG_WRITE, ITER_PROTO),
	  .handler = IOT_HOOK_OWN(write_begins) },
	{ LOOKUP("btrfs_buffered_write", TAG_WRITE, ITER_PROTO), .module = "btrfs",
	  .handler = IOT_HOOK_OWN(write_begins) },
	{ LOOKUP("filemap_fault", TAG_FAULT, "_ (struct vm_fault *, ...)") },
	{ LOOKUP("filemap_map_pages", TAG_MAP, "_ (struct vm_fault *, ...)") },
	{ .symbol = "read_pages", .what = "READAHEAD", .tag = TAG_READAHEAD,
	  .proto = "_ (struct readahead_control *, ...)" },
	{ .symbol = "__folio_start_writeback", .what = "WRITEBACK_START", .tag = TAG_START,
	  .proto = "_ (struct folio *, ...)" },
	{ .symbol = "__folio_end_writeback", .what = "WRITEBACK_END", .tag = TAG_END,
	  .proto = "_ (struct folio *, ...)" },
	{ .symbol = "drop_caches_sysctl_handler", .what = "DROP", .tag = TAG_DROP,
	  .proto = "_ (...)", .unbounded = true },
};

/* Context: entry of the function. All but DROP is recorded here; the call is not followed. */
static enum iot_hook_verdict wants(const struct iot_site *site, const unsigned long *args,
				   unsigned long caller)
{
	if (site->tag == TAG_DROP)
		return IOT_HOOK_FOLLOW_RETURN;
	if (site->tag == TAG_READAHEAD && READ_ONCE(has_origin))
		note_reader((const void *)args[0]);
	if (is_wanted(probes[site->tag].ops))
		probes[site->tag].seen(args);
	return IOT_HOOK_IGNORE;
}

static int entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct iot_site *site = iot_site_of(ri);
	unsigned long args[IOT_CALL_ARGS];

	if (site->tag == TAG_DROP) {
		begin_drop();
		return 0;
	}
	iot_kretprobe_args(regs, args, ARRAY_SIZE(args));
	wants(site, args, 0);
	return 1;
}

static int exit_drop(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	end_drop();
	return 0;
}

static struct iot_hook_set set = {
	.sites = sites,
	.nr = ARRAY_SIZE(sites),
	.wants = wants,
	.entry = entry,
	.exit = exit_drop,
};

/* Start noting originators if the filter has conditions on tasks. They are noted until stop. */
static int refresh(void)
{
	const struct iot_filter *f = rcu_dereference_protected(category->filter,
					lockdep_is_held(&category->control));
	int err;

	if (has_origin || !(f->used & IOT_FILTER_TASK))
		return 0;
	err = iot_originator_get();
	if (!err)
		WRITE_ONCE(has_origin, true);
	return err;
}

static void drop_origin(void)
{
	if (!has_origin)
		return;
	WRITE_ONCE(has_origin, false);
	iot_originator_put();
}

static int start(void)
{
	int err;

	check_types();
	iot_table_clear(&retries);
	memset(droppers, 0, sizeof(droppers));
	atomic_set(&nr_droppers, 0);
	err = refresh() ?: iot_hook_set_start(&set, points, ARRAY_SIZE(points));
	if (err)
		drop_origin();
	return err;
}

static void stop(void)
{
	iot_hook_set_stop(&set, points, ARRAY_SIZE(points));
	drop_origin();
}

static unsigned long missed(void)
{
	return iot_hook_set_missed(&set) + atomic_long_read(&nr_missed);
}

const struct iot_category_ops iot_cache_ops = {
	.start = start,
	.stop = stop,
	.refresh = refresh,
	.missed = missed,
};

#endif /* IOT_WITHOUT_CACHE */
