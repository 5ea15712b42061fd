// SPDX-License-Identifier: GPL-2.0
/*
 * Category block: each request from when it is made to when it is done.
 *
 * A request's life in tracepoints (block/blk-mq.c, blk-merge.c, blk-flush.c):
 *   block_getrq	The request is made for a bio, in the submitter's context. The
 *			tracepoint reports only the bio, so the request is found by that
 *			bio until it is issued.
 *   block_rq_insert	It is inserted into the scheduler or the queue.
 *   block_rq_issue	It is issued to the driver.
 *   block_rq_requeue	The driver gives it back.
 *   block_rq_merge	It is merged into another request.
 *   block_rq_complete	Some or all of its bytes are done.
 * Until a request is issued, bios are merged into it, at its front or back. From then on
 * its last bio stays the same and identifies it. A request without a bio is found by its
 * own address.
 *
 * Flushes: if a write needs the device's cache flushed, the block layer issues a separate
 * request for that (FLUSH). It completes the data with RQF_FLUSH_SEQ set. Finally it
 * completes the write as a whole, with the flag clear and no bytes left. The FLUSH has the file
 * whose fsync submitted the write that it was made for; others may wait for the same FLUSH.
 *
 * Devices without requests (device mapper, md, brd) get bios: block_bio_queue and
 * block_bio_complete. The latter does not fire for bios of other devices.
 *
 * What /proc/diskstats counts as one I/O is one event here, and a merge is not an event
 * of its own. The exception is a bio that the device mapper splits: it is one event with
 * several parts.
 *
 * Contexts: getrq and bio_queue fire in the submitter, mostly a task. Insert, issue and
 * requeue fire in any task or, rarely, softirq. Complete fires in any context. Preemption
 * is off in all of them.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_BLOCK /* left_out.h */
#include <linux/atomic.h>
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/buffer_head.h>
#include <linux/hash.h>
#include <linux/overflow.h>
#include <linux/pagemap.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <trace/events/block.h>
#include "compat/blkdev.h"
#include "core/clock.h"
#include "core/table.h"
#include "core/task.h"
#include "hook/hook.h"
#include "hook/point.h"
#include "hook/symbol.h"
#include "file/bio.h"
#include "file/direct.h"
#include "file/originator.h"
#include "file/paths.h"
#include "record/event.h"
#include "record/rw.h"
#include "record/wants.h"
#include "probe/categories.h"
#include "probe/pending.h"
#include "probe/rw_hooks.h"
#include "probe/vfs.h"
#include "uapi/iotracer.h"

static struct iot_category * const category = &iot_category_block;

static atomic_long_t nr_missed;

/*
 * The table forgets a request that was not seen to complete. The number of requests of its
 * device is corrected.
 */
static void request_gone(void *thing, bool displaced)
{
	const struct iot_pending *p = thing;

	if (p->issue)
		atomic_dec(p->depth);
	if (displaced)
		atomic_long_inc(&nr_missed);
}

static struct iot_table pending = {
	IOT_TABLE_OF(struct iot_pending, e.time, e.uid, e.pid),
	IOT_TABLE_BEGUN(13),
	.gone = request_gone,
};

/*
 * The number of requests that a device has, by its queue. Slots are released only by the
 * next start. If disks come and go often enough, the later ones share the last slot.
 */
#define QUEUES		256
#define QUEUE_PROBES	32

static struct queue_depth {
	const struct request_queue *q;
	atomic_t n;
} depths[QUEUES + 1];

static atomic_t *depth_of(const struct request_queue *q)
{
	u32 from = iot_table_hash((unsigned long)q, ilog2(QUEUES));
	unsigned int i;

	for (i = 0; i < QUEUE_PROBES; i++) {
		struct queue_depth *d = &depths[(from + i) % QUEUES];
		const struct request_queue *owner = READ_ONCE(d->q);

		if (likely(owner == q))
			return &d->n;
		if (!owner)
			owner = cmpxchg(&d->q, NULL, q);
		if (!owner || owner == q)
			return &d->n;
	}
	return &depths[QUEUES].n;
}

static const u8 ops[REQ_OP_LAST] = {
	[0 ... (__force int)REQ_OP_LAST - 1] = IOT_BLOCK_OTHER,
	[(__force int)REQ_OP_READ] = IOT_BLOCK_READ,
	[(__force int)REQ_OP_WRITE] = IOT_BLOCK_WRITE,
	[(__force int)REQ_OP_FLUSH] = IOT_BLOCK_FLUSH,
	[(__force int)REQ_OP_DISCARD] = IOT_BLOCK_DISCARD,
	[(__force int)REQ_OP_SECURE_ERASE] = IOT_BLOCK_SECURE_ERASE,
	[(__force int)REQ_OP_WRITE_ZEROES] = IOT_BLOCK_WRITE_ZEROES,
	[(__force int)REQ_OP_ZONE_APPEND] = IOT_BLOCK_ZONE_APPEND,
	[(__force int)REQ_OP_ZONE_OPEN] = IOT_BLOCK_ZONE_OPEN,
	[(__force int)REQ_OP_ZONE_CLOSE] = IOT_BLOCK_ZONE_CLOSE,
	[(__force int)REQ_OP_ZONE_FINISH] = IOT_BLOCK_ZONE_FINISH,
	[(__force int)REQ_OP_ZONE_RESET] = IOT_BLOCK_ZONE_RESET,
	[(__force int)REQ_OP_ZONE_RESET_ALL] = IOT_BLOCK_ZONE_RESET_ALL,
	[(__force int)REQ_OP_DRV_IN] = IOT_BLOCK_DRV_IN,
	[(__force int)REQ_OP_DRV_OUT] = IOT_BLOCK_DRV_OUT,
};

static u16 op_of(blk_opf_t opf)
{
	unsigned int op = (__force unsigned int)(opf & REQ_OP_MASK);

	return op < ARRAY_SIZE(ops) ? ops[op] : IOT_BLOCK_OTHER;
}

/* These flags have the same bits in all kernels. */
static_assert(__REQ_FAILFAST_DEV == REQ_OP_BITS && __REQ_SYNC == REQ_OP_BITS + 3 &&
	      __REQ_META == REQ_OP_BITS + 4 && __REQ_FUA == REQ_OP_BITS + 9 &&
	      __REQ_PREFLUSH == REQ_OP_BITS + 10 && __REQ_NOWAIT == REQ_OP_BITS + 13);

static noinline u32 rare_flags(blk_opf_t opf)
{
	u32 flags = 0;

	if (opf & REQ_POLLED)
		flags |= IOT_REQ_POLLED;
	if (opf & REQ_ALLOC_CACHE)
		flags |= IOT_REQ_ALLOC_CACHE;
	if (opf & REQ_SWAP)
		flags |= IOT_REQ_SWAP;
	if (opf & REQ_DRV)
		flags |= IOT_REQ_DRV;
	if (opf & REQ_NOUNMAP)
		flags |= IOT_REQ_NOUNMAP;
	if (opf & REQ_FS_PRIVATE)
		flags |= IOT_REQ_FS_PRIVATE;
	if (opf & REQ_ATOMIC)
		flags |= IOT_REQ_ATOMIC;
	if (opf & REQ_CGROUP_PUNT)
		flags |= IOT_REQ_CGROUP_PUNT;
	return flags;
}

static u32 flags_of(blk_opf_t opf)
{
	u64 bits = (__force u64)opf >> REQ_OP_BITS;
	u32 flags = bits & IOT_REQ_COMMON;

	if (unlikely(bits & ~(u64)IOT_REQ_COMMON))
		flags |= rare_flags(opf);
	return flags;
}

static u16 class_of_size(u64 size)
{
	u16 class = IOT_CLASS_FILE_4K;
	u64 limit = 4096;

	while (size > limit && class < IOT_CLASS_FILE_LARGER) {
		limit *= 4;
		class++;
	}
	return class;
}

static_assert(4096ULL << (2 * (IOT_CLASS_FILE_1G - IOT_CLASS_FILE_4K)) == 1ULL << 30);

static void note_file(struct iot_block *e, const struct iot_paths_file *file, u64 size)
{
	e->inode = file->ino;
	e->path = file->id;
	e->file_device = file->dev;
	e->file_size = size;
}

/* Completion functions of the bios of ext4's and xfs's journals; 0 if not in the kernel now */
static unsigned long end_of_buffer, end_of_jbd2, end_of_xlog;

static void find_journals(void)
{
	end_of_buffer = iot_symbol_find("end_bio_bh_io_sync");
	end_of_jbd2 = iot_symbol_find("journal_end_buffer_io_sync");
	end_of_xlog = iot_symbol_find("xlog_bio_end_io");
}

static bool is_journal(const struct bio *bio)
{
	unsigned long end = (unsigned long)bio->bi_end_io;

	if (!end)
		return false;
	if (end == end_of_buffer)
		return end_of_jbd2 && iot_buffer_end(bio->bi_private) == end_of_jbd2;
	return end == end_of_xlog || end == end_of_jbd2;
}

static void note_origin(struct iot_block *e, const struct folio *folio)
{
	struct iot_originator who IOT_UNINITIALIZED;

	/* if the filter needed the originator, it has been looked up and counted before */
	if (e->flags & IOT_REQ_ORIGINATOR)
		iot_originator_peek(folio->mapping, folio->index, &who);
	else
		iot_originator_find(folio->mapping, folio->index, &who);
	e->origin_pid = who.pid;
	memcpy(e->origin_comm, who.comm, sizeof(e->origin_comm));
}

static_assert(sizeof_field(struct iot_block, origin_comm) ==
	      sizeof_field(struct iot_originator, comm));

/* The path has to be found anew. */
static noinline void note_resolved(struct iot_block *e, const struct path *path, u64 size)
{
	struct iot_paths_file file IOT_UNINITIALIZED;

	iot_paths_resolve(path, false, &file);
	note_file(e, &file, size);
}

/* Note an open file. Its path is nearly always known: preemption is off, so it stays meanwhile. */
static __always_inline void note_open_file(struct iot_block *e, const struct file *file)
{
	const struct iot_path *known = NULL;
	u64 size = i_size_read(file_inode(file));

	if (likely(d_backing_inode(file->f_path.dentry)))
		known = iot_paths_find(&file->f_path, true);
	if (likely(known))
		note_file(e, &known->file, size);
	else
		note_resolved(e, &file->f_path, size);
}

/* The bio moves data from or to the page cache. @folio has the bio's first page. */
static noinline void note_cached(struct iot_block *e, const struct bio *bio, struct folio *folio,
				 struct inode *host)
{
	u64 offset = iot_bio_offset(bio, folio);
	struct iot_paths_file file IOT_UNINITIALIZED;

	if (op_is_write(bio_op(bio)))
		note_origin(e, folio);
	/* a checkpoint of the journal writes a file's data (data=journal) as it does metadata */
	if (S_ISBLK(host->i_mode) || (e->class && !iot_bio_writes_buffer(bio))) {
		e->class = e->class ?: IOT_CLASS_METADATA;
		return;
	}
	iot_paths_of_inode(host, &file);
	note_file(e, &file, i_size_read(host));
	e->offset = offset;
	e->class = class_of_size(e->file_size);
}

/* The bio moves memory from or to a swap area. Of a swap device it is only said that it does. */
static noinline void note_swap(struct iot_block *e, const struct bio *bio)
{
	struct iot_bio_swap swap IOT_UNINITIALIZED;

	e->flags |= IOT_REQ_SWAP;
	iot_bio_find_swap(bio, &swap);
	if (!swap.file || S_ISBLK(file_inode(swap.file)->i_mode) || !in_task())
		return;
	note_open_file(e, swap.file);
	e->offset = swap.offset;
	e->class = class_of_size(e->file_size);
}

/*
 * The bio moves a program's own memory: it belongs to the file that the task is reading or
 * writing directly.
 */
static void note_direct(struct iot_block *e)
{
	const struct iot_direct *call = in_task() ? iot_direct_now() : NULL;

	if (!call || !call->file)
		return;
	note_open_file(e, call->file);
	e->class = IOT_CLASS_DIRECT;
	e->offset = call->offset;
}

/* The inode whose page cache the bio's first page is moved from or to, or NULL. */
static __always_inline struct inode *cached_host(const struct bio *bio, struct folio *folio)
{
	struct inode *host = iot_bio_host(folio);

	/* the page cache of a device has metadata, whose I/O locks buffers instead of folios */
	return host && (S_ISBLK(host->i_mode) || iot_bio_moves_cache(bio, folio)) ? host : NULL;
}

/* Note what the bio's data belongs to. The bio is in progress, so its pages stay. */
static void note_data(struct iot_block *e, const struct bio *bio)
{
	struct inode *host;
	struct folio *folio;

	if (bio->bi_opf & REQ_META)
		e->class = is_journal(bio) ? IOT_CLASS_JOURNAL : IOT_CLASS_METADATA;
	if (!bio_has_data((struct bio *)bio))
		return;
	folio = iot_bio_folio(bio);
	host = cached_host(bio, folio);
	if (host)
		note_cached(e, bio, folio, host);
	else if (unlikely(iot_bio_swaps(bio, folio)))
		note_swap(e, bio);
	else if (!(bio->bi_opf & REQ_META))
		note_direct(e);
}

static void note_submitter(struct iot_block *e)
{
	e->submit_cpu = raw_smp_processor_id();
	if (likely(in_task())) {
		iot_task_fill(e);
		return;
	}
	e->pid = 0;
	e->tid = 0;
	e->ppid = 0;
	e->uid = 0;
	e->cgroup = 0;
	strscpy_pad(e->comm, "(interrupt)", sizeof(e->comm));
}

/* @flags: IOT_REQ_* to add to those of the bio */
static void note_bio(struct iot_block *e, const struct bio *bio, u32 flags)
{
	e->device = bio->bi_bdev->bd_dev;
	e->partition = iot_bdev_partno(bio->bi_bdev);
	e->ioprio = bio->bi_ioprio;
	e->hint = iot_bio_write_hint(bio);
	e->flags = flags_of(bio->bi_opf) | flags;
	e->sector = bio->bi_iter.bi_sector;
	e->requested = bio->bi_iter.bi_size;
	note_data(e, bio);
}

/* Does the call sync what the device of the bio holds? */
static bool syncs_device(const struct iot_direct *call, const void *data)
{
	const struct bio *bio = data;
	const struct inode *inode = call->file ? file_inode(call->file) : NULL;

	if (!inode || !iot_direct_syncs(call))
		return false;
	return S_ISBLK(inode->i_mode) ? inode->i_rdev == bio->bi_bdev->bd_dev :
					iot_bio_is_for(bio, call->sb);
}

/*
 * Note the file whose sync submits a bio that flushes. The bio may carry other data (of a
 * journal), whose file it is not.
 */
static noinline void note_sync(struct iot_pending *p, const struct bio *bio)
{
	const struct iot_direct *call = in_task() ? iot_direct_other(syncs_device, bio) : NULL;

	if (!call)
		return;
	p->syncs = true;
	iot_paths_of(&call->file->f_path, false, &p->synced);
	p->synced_size = i_size_read(file_inode(call->file));
	if (!bio_has_data((struct bio *)bio))
		note_file(&p->e, &p->synced, p->synced_size);
}

/* Note a bio that was submitted. */
static void note_submitted(struct iot_pending *p, const struct bio *bio, u32 flags)
{
	note_bio(&p->e, bio, flags);
	if (op_is_flush(bio->bi_opf))
		note_sync(p, bio);
}

#define WANTED	1u	/* may be combined with the reason, IOT_REQ_ORIGINATOR */

static __always_inline bool is_wanted(void)
{
	return iot_category_wants(category, IOT_ANY_OP);
}

/* The filter, if the category is traced and it has conditions on tasks; else NULL. */
static const struct iot_filter *filter_of_tasks(void)
{
	const struct iot_filter *f = rcu_dereference_sched(category->filter);

	return iot_category_active(category) && f && (f->used & IOT_FILTER_TASK) ? f : NULL;
}

/* The folio of the first page that the bio writes, if that is in a page cache; else NULL. */
static struct folio *written_folio(const struct bio *bio)
{
	struct folio *folio;

	if (!op_is_write(bio_op(bio)) || !bio_has_data((struct bio *)bio))
		return NULL;
	folio = iot_bio_folio(bio);
	return cached_host(bio, folio) ? folio : NULL;
}

/*
 * Does a thread of the kernel, or an interrupt, move data of some task that cannot be found out?
 * Layers that hand bios to such threads let them write a copy of the data (dm-crypt, raid5), a
 * program's memory outside of its call (dm-thin, io.max), or a file (loop). Metadata is the
 * filesystem's own.
 * @who: the originator of what it writes, NULL if that is not known
 */
static noinline bool is_unattributed(const struct bio *bio, const struct iot_originator *who)
{
	const struct inode *host;
	struct folio *folio;

	if ((bio->bi_opf & REQ_META) || !bio_has_data((struct bio *)bio))
		return false;
	folio = iot_bio_folio(bio);
	if (iot_bio_swaps(bio, folio))
		return false;
	host = cached_host(bio, folio);
	if (!host)
		return true;
	if (op_is_write(bio_op(bio)))
		return who && iot_originator_is_kernel(who);
	return !S_ISBLK(host->i_mode) || host->i_rdev != bio->bi_bdev->bd_dev;
}

static bool is_by_kernel(void)
{
	return !in_task() || (current->flags & PF_KTHREAD);
}

/* Does the bio meet the conditions on operation and device? That of its file is not known. */
static bool meets_others(const struct iot_filter *f, const struct bio *bio)
{
	return iot_filter_op(f, op_of(bio->bi_opf)) &&
	       (!(f->used & IOT_FILTER_DEV) || iot_filter_has_dev(f, bio->bi_bdev->bd_dev) ||
		iot_filter_has_dev(f, disk_devt(bio->bi_bdev->bd_disk)));
}

/* @folio: what the bio writes, NULL if that is not in a page cache */
static noinline u32 why_wanted_by_filter(const struct bio *bio, const struct iot_filter *f,
					 const struct folio *folio)
{
	struct iot_originator who;
	bool known = folio && iot_originator_find(folio->mapping, folio->index, &who);

	if (known && iot_filter_origin(f, &who))
		return WANTED | IOT_REQ_ORIGINATOR;
	if (is_by_kernel() && is_unattributed(bio, known ? &who : NULL) && meets_others(f, bio))
		iot_originator_count_unattributed();
	return 0;
}

/* The bio writes something, or a thread of the kernel or an interrupt submits it. */
static noinline u32 why_data_is_wanted(const struct bio *bio, const struct iot_filter *f)
{
	const struct folio *folio = written_folio(bio);

	return folio || is_by_kernel() ? why_wanted_by_filter(bio, f, folio) : 0;
}

/*
 * The current task is not wanted. Is the originator of what the bio writes? Only the first page is
 * checked. What a program reads, or writes from its own memory, has no other originator.
 */
static __always_inline u32 why_wanted_still(const struct bio *bio)
{
	const struct iot_filter *f = filter_of_tasks();

	return f && (op_is_write(bio_op(bio)) || is_by_kernel()) ? why_data_is_wanted(bio, f) : 0;
}

static u32 why_wanted(const struct bio *bio)
{
	return is_wanted() ? WANTED : why_wanted_still(bio);
}

/* Clear the fields of a struct from @first to the one before @behind. They are whole words. */
#define clear_fields(s, first, behind)							\
	memset((u8 *)(s) + offsetof(typeof(*(s)), first), 0,				\
	       size_sub(offsetof(typeof(*(s)), behind), offsetof(typeof(*(s)), first)))

/*
 * Clear what is not known yet. Every entry has a time and a submitter; record() fills in result,
 * disk and what all records have; p->synced is valid with p->syncs. Each piece is so short that the
 * compiler stores zeroes: a loop of the processor takes longer to begin.
 */
static __always_inline void clear(struct iot_pending *p)
{
	struct iot_block *e = &p->e;

	clear_fields(e, queue_latency, offset);
	clear_fields(e, offset, cgroup);
	clear_fields(e, device, pid);
	clear_fields(e, origin_pid, comm);
	clear_fields(e, origin_comm, disk);
	clear_fields(p, insert, synced);
}

static struct iot_pending *make(const void *key)
{
	struct iot_pending *p = iot_table_new(&pending, key);

	if (unlikely(!p)) {
		atomic_long_inc(&nr_missed);
		return NULL;
	}
	p->e.time = ktime_get_mono_fast_ns();
	clear(p);
	note_submitter(&p->e);
	return p;
}

/* Is this the reader of the stream, whose requests are not recorded? */
static bool is_reader(void)
{
	return iot_category_active(category) && iot_category_is_reader(category);
}

/* @wanted: as from why_wanted(), or 0: the request is the reader's */
static __always_inline void begin_request(const struct bio *bio, u32 wanted)
{
	struct iot_pending *p = make(bio);

	if (!p)
		return;
	p->silent = !wanted;
	if (wanted)
		note_submitted(p, bio, wanted & IOT_REQ_ORIGINATOR);
	iot_table_keep(p);
}

/* As above, for the few requests whose submitter is not wanted. */
static noinline void begin_request_still(const struct bio *bio, u32 wanted)
{
	begin_request(bio, wanted);
}

static void request_made(void *data, struct bio *bio)
{
	IOT_POINT_ENTER();
	u32 wanted;

	if (is_wanted()) {
		begin_request(bio, WANTED);
		return;
	}
	wanted = why_wanted_still(bio);
	/* keep the reader's requests, too: unknown ones would seem to be from before the trace */
	if (unlikely(wanted || is_reader()))
		begin_request_still(bio, wanted);
}

/* The key of a request that has been issued. */
static const void *key_of(const struct request *rq)
{
	return rq->biotail ? (const void *)rq->biotail : rq;
}

/*
 * How many bios of a request are searched for the one that it was made for. The search is
 * bounded since interrupts may be off. A request with more bios before that one is missed.
 */
#define MERGES_MAX	64

/*
 * Find a request by the bio that it was made for, which may be any of its bios. With
 * @rename, change its key to key_of(), by which the next search finds it at once; the
 * caller has already searched for that key. The key is not changed before the request is
 * issued: if more bios are merged at its back, its last bio is then in the middle, far from the
 * front. Return: the request, held, or NULL.
 */
static struct iot_pending *find_by_bios(const struct request *rq, bool rename)
{
	const struct bio *bio;
	struct iot_pending *p;
	unsigned int n = 0;

	for (bio = rq->bio; bio && n < MERGES_MAX; bio = bio->bi_next, n++) {
		if (rename && bio == rq->biotail)
			continue;
		p = iot_table_take(&pending, bio);
		if (p)
			return rename ? iot_table_rename(&pending, p, key_of(rq)) : p;
	}
	return NULL;
}

static __always_inline struct iot_pending *find(const struct request *rq)
{
	return iot_table_take(&pending, key_of(rq)) ?: find_by_bios(rq, true);
}

static struct iot_pending *find_unissued(const struct request *rq)
{
	return iot_table_take(&pending, key_of(rq)) ?: find_by_bios(rq, false);
}

/*
 * Get the request that a FLUSH is made for, the first of those that wait for it: the FLUSH
 * borrows its tag (blk_kick_flush(), block/blk-flush.c). Return: NULL if there is none.
 */
static const struct request *flushed_for(const struct request *rq)
{
	bool sorted = rq->q->elevator;
	const struct blk_mq_tags *tags = sorted ? rq->mq_hctx->sched_tags : rq->mq_hctx->tags;
	int tag = sorted ? rq->internal_tag : rq->tag;
	const struct request *first;

	if (!tags || tag < 0 || tag >= tags->nr_tags)
		return NULL;
	first = tags->static_rqs[tag];
	return first && first->q == rq->q && (first->rq_flags & RQF_FLUSH_SEQ) ? first : NULL;
}

/*
 * Note for a FLUSH who submitted the request that it is made for, and the file whose sync that
 * was. That request waits for the FLUSH, so its bio stays.
 */
static void note_cause(struct iot_block *e, const struct request *rq)
{
	const struct request *first = flushed_for(rq);
	struct iot_pending *p = first ? find_unissued(first) : NULL;

	if (!p)
		return;
	if (!p->silent) {
		if (p->syncs)
			note_file(e, &p->synced, p->synced_size);
		e->origin_pid = p->e.pid;
		memcpy(e->origin_comm, p->e.comm, sizeof(e->origin_comm));
	}
	iot_table_keep(p);
}

/*
 * Make an entry for a request that no bio was submitted for: a command of a driver or
 * program, or a flush. Return: the entry, held, or NULL.
 */
static struct iot_pending *make_bare(struct request *rq)
{
	struct iot_pending *p;

	if (likely(!blk_rq_is_passthrough(rq) && req_op(rq) != REQ_OP_FLUSH) || !is_wanted())
		return NULL;
	p = make(key_of(rq));
	if (!p)
		return NULL;
	p->e.device = disk_devt(rq->q->disk);
	if (req_op(rq) == REQ_OP_FLUSH)
		note_cause(&p->e, rq);
	return p;
}

static void request_inserted(void *data, struct request *rq)
{
	IOT_POINT_ENTER();
	struct iot_pending *p;

	if (!rq->q->disk)
		return;
	p = find_unissued(rq) ?: make_bare(rq);
	if (!p)
		return;
	p->insert = ktime_get_mono_fast_ns();
	iot_table_keep(p);
}

/* Count the bios of a request. Return: MERGES_MAX + 1 if there are more than MERGES_MAX. */
static u16 count_bios(const struct request *rq)
{
	const struct bio *bio;
	u16 n = 0;

	for (bio = rq->bio; bio && n < MERGES_MAX; bio = bio->bi_next)
		n++;
	return bio ? MERGES_MAX + 1 : n;
}

/* A request without data, such as a flush, is for no sector, unless it is for a zone. */
static noinline u64 sector_without_data(const struct request *rq)
{
	return op_is_zone_mgmt(req_op(rq)) ? blk_rq_pos(rq) : 0;
}

static __always_inline u64 first_sector(const struct request *rq)
{
	return likely(blk_rq_bytes(rq)) ? blk_rq_pos(rq) : sector_without_data(rq);
}

static void request_issued(void *data, struct request *rq)
{
	IOT_POINT_ENTER();
	struct iot_pending *p;

	if (!rq->q->disk)
		return;
	p = find(rq) ?: make_bare(rq);
	if (!p)
		return;
	p->issue = ktime_get_mono_fast_ns();
	if (p->insert)
		p->e.queue_latency += iot_clock_since(p->insert, p->issue);
	p->insert = 0;
	p->depth = depth_of(rq->q);
	p->e.depth = atomic_inc_return(p->depth);
	if (!p->done && !p->e.requeues) {
		p->e.bios = count_bios(rq);
		p->e.requested = blk_rq_bytes(rq);
		p->e.sector = first_sector(rq);
	}
	iot_table_keep(p);
}

/* The driver gives the request back or has completed it. */
static void leave_device(struct iot_pending *p, u64 now)
{
	if (!p->issue)
		return;
	p->e.device_latency += iot_clock_since(p->issue, now);
	p->issue = 0;
	atomic_dec(p->depth);
}

static void request_requeued(void *data, struct request *rq)
{
	IOT_POINT_ENTER();
	struct iot_pending *p = rq->q->disk ? find(rq) : NULL;

	if (!p)
		return;
	leave_device(p, ktime_get_mono_fast_ns());
	p->e.requeues++;
	iot_table_keep(p);
}

/* The request was merged: its bios now belong to another request. */
static void request_merged(void *data, struct request *rq)
{
	IOT_POINT_ENTER();
	struct iot_pending *p = rq->q->disk ? find_unissued(rq) : NULL;

	if (p)
		iot_table_drop(&pending, p);
}

/* A condition's device may be the partition, the disk or that of the file's filesystem. */
static bool meets_device_and_inode(const struct iot_filter *f, const struct iot_block *e,
				   struct gendisk *disk)
{
	if ((f->used & IOT_FILTER_DEV) && !iot_filter_has_dev(f, e->device) &&
	    !iot_filter_has_dev(f, disk_devt(disk)) &&
	    !(e->file_device && iot_filter_has_dev(f, e->file_device)))
		return false;
	return !(f->used & IOT_FILTER_INODE) || iot_numbers_have(&f->inodes, e->inode);
}

static bool is_rejected(const struct iot_block *e, u16 op, struct gendisk *disk, u64 latency)
{
	const struct iot_filter *f = rcu_dereference_sched(category->filter);

	return !f || !meets_device_and_inode(f, e, disk) ||
	       iot_category_rejects_at_end(category, op, latency, e->requested, false);
}

static_assert(sizeof_field(struct gendisk, disk_name) == sizeof_field(struct iot_block, disk));

/* The parts add up to the whole at most, also where the clock stepped back meanwhile. */
static noinline void limit_parts(struct iot_block *e, u64 latency)
{
	e->queue_latency = min(e->queue_latency, latency);
	e->device_latency = min(e->device_latency, latency - e->queue_latency);
}

/* What an entry has of its record; the rest is filled in at the end. Copied in whole words. */
struct known_words {
	u64 word[(offsetof(struct iot_block, disk) -
		  offsetof(struct iot_block, queue_latency)) / sizeof(u64)];
};

static __always_inline void copy_known(struct iot_block *to, const struct iot_block *from)
{
	*(struct known_words *)&to->queue_latency =
		*(const struct known_words *)&from->queue_latency;
}

/* Record the end of a request or bio. Preemption is off. */
static __always_inline void record(const struct iot_pending *p, struct gendisk *disk,
				   blk_opf_t opf, u32 flags, s64 result, u64 now)
{
	u64 latency = flags & IOT_REQ_EARLY ? 0 : iot_clock_since(p->e.time, now);
	struct iot_event_at at;
	struct iot_block *e;
	u16 op = op_of(opf);

	if (iot_category_asks_at_end(category, IOT_FILTER_OP | IOT_CATEGORY_BY_FILE) &&
	    is_rejected(&p->e, op, disk, latency))
		return;
	e = iot_event_reserve(category, &at);
	if (!e)
		return;
	copy_known(e, &p->e);
	iot_event_fill(e, &at, category, op, p->e.time, latency);
	if (unlikely(e->queue_latency + e->device_latency > latency))
		limit_parts(e, latency);
	e->result = result;
	e->flags |= flags_of(opf) | flags;
	e->op_code = (__force u16)(opf & REQ_OP_MASK);
	e->parts = max_t(u16, e->parts - p->flushed, 1);
	memcpy(e->disk, disk->disk_name, sizeof(e->disk));
	iot_event_commit(category, &at);
}

/* Record the end of a request that was made before the trace or could not get a slot. */
static noinline void complete_unknown(struct request *rq, blk_status_t error,
				      unsigned int bytes)
{
	u64 now = ktime_get_mono_fast_ns();
	struct iot_pending p = {
		.e.time = now,
		.e.sector = first_sector(rq),
		.e.requested = blk_rq_bytes(rq),
		.e.device = rq->part ? rq->part->bd_dev : disk_devt(rq->q->disk),
		.e.partition = rq->part ? iot_bdev_partno(rq->part) : 0,
		.e.bios = 1,
	};

	record(&p, rq->q->disk, rq->cmd_flags, IOT_REQ_EARLY,
	       error ? blk_status_to_errno(error) : bytes, now);
}

/* Is an unknown request wanted? Its submitter is not known, so a filter on tasks rejects it. */
static bool wants_unknown(const struct request *rq)
{
	const struct iot_filter *f = rcu_dereference_sched(category->filter);

	return f && !(f->used & IOT_FILTER_TASK) && !(rq->rq_flags & RQF_FLUSH_SEQ);
}

/* Are @bytes all that was left of the request? */
static bool is_last(struct request *rq, unsigned int bytes)
{
	return bytes >= blk_rq_bytes(rq);
}

/* Some bytes of a request are done. Return: true if the request has ended. */
static bool advance(struct iot_pending *p, struct request *rq, blk_status_t error,
		    unsigned int bytes, u64 now)
{
	if (error)
		p->error = p->error ?: blk_status_to_errno(error);
	else
		p->done += bytes;
	p->e.parts++;
	if (!is_last(rq, bytes))
		return false;
	leave_device(p, now);
	if (!(rq->rq_flags & RQF_FLUSH_SEQ) || req_op(rq) == REQ_OP_FLUSH)
		return true;
	p->flushed = true;
	return false;
}

static void request_completed(void *data, struct request *rq, blk_status_t error,
			      unsigned int bytes)
{
	IOT_POINT_ENTER();
	struct iot_pending *p;
	u64 now;

	if (!rq->q->disk)
		return;
	p = find(rq);
	if (unlikely(!p)) {
		if (wants_unknown(rq))
			complete_unknown(rq, error, bytes);
		if (count_bios(rq) > MERGES_MAX)
			atomic_long_inc(&nr_missed);
		return;
	}
	now = ktime_get_mono_fast_ns();
	if (!advance(p, rq, error, bytes, now)) {
		iot_table_keep(p);
		return;
	}
	if (!p->silent)
		record(p, rq->q->disk, rq->cmd_flags, p->flushed ? IOT_REQ_FLUSH_SEQ : 0,
		       p->error ?: (s64)p->done, now);
	iot_table_drop(&pending, p);
}

/* Does the bio's device take bios instead of requests? */
static bool has_no_requests(const struct bio *bio)
{
	return bio->bi_bdev && bio->bi_bdev->bd_disk->fops->submit_bio;
}

static void bio_queued(void *data, struct bio *bio)
{
	IOT_POINT_ENTER();
	u32 wanted = has_no_requests(bio) ? why_wanted(bio) : 0;
	struct iot_pending *p;

	if (!wanted)
		return;
	p = make(bio);
	if (!p)
		return;
	note_submitted(p, bio, wanted & IOT_REQ_ORIGINATOR);
	p->e.bios = 1;
	iot_table_keep(p);
}

/*
 * A bio is split: /proc/diskstats counts each piece. The tracepoint reports what is left of the
 * bio, or the piece that was split off, which is chained to the bio (block/blk-merge.c).
 */
static void bio_split_up(void *data, struct bio *bio, unsigned int sector)
{
	IOT_POINT_ENTER();
	struct iot_pending *p;

	if (!has_no_requests(bio))
		return;
	p = iot_table_take(&pending, bio);
	if (!p && IS_ALIGNED((unsigned long)bio->bi_private, sizeof(long)) && bio->bi_private)
		p = iot_table_take(&pending, bio->bi_private);
	if (!p)
		return;
	p->e.parts++;
	iot_table_keep(p);
}

static void bio_completed(void *data, struct request_queue *q, struct bio *bio)
{
	IOT_POINT_ENTER();
	struct iot_pending *p = has_no_requests(bio) ? iot_table_take(&pending, bio) : NULL;
	u64 now = ktime_get_mono_fast_ns();

	if (!p)
		return;
	p->e.device_latency = iot_clock_since(p->e.time, now);
	p->e.parts++;
	record(p, bio->bi_bdev->bd_disk, bio->bi_opf, IOT_REQ_BIO, bio->bi_status ?
	       blk_status_to_errno(bio->bi_status) : (s64)p->e.requested, now);
	iot_table_drop(&pending, p);
}

/* Completion is attached first: whatever is seen to start is then seen to end. */
static struct iot_point points[] = {
	{ .name = "block_rq_complete", .probe = request_completed },
	{ .name = "block_bio_complete", .probe = bio_completed },
	{ .name = "block_rq_merge", .probe = request_merged },
	{ .name = "block_rq_requeue", .probe = request_requeued },
	{ .name = "block_rq_issue", .probe = request_issued },
	{ .name = "block_rq_insert", .probe = request_inserted },
	{ .name = "block_getrq", .probe = request_made },
	{ .name = "block_split", .probe = bio_split_up },
	{ .name = "block_bio_queue", .probe = bio_queued },
};

static void check_types(void)
{
	check_trace_callback_type_block_rq_complete(request_completed);
	check_trace_callback_type_block_bio_complete(bio_completed);
	check_trace_callback_type_block_rq_merge(request_merged);
	check_trace_callback_type_block_rq_requeue(request_requeued);
	check_trace_callback_type_block_rq_issue(request_issued);
	check_trace_callback_type_block_rq_insert(request_inserted);
	check_trace_callback_type_block_getrq(request_made);
	check_trace_callback_type_block_bio_queue(bio_queued);
	check_trace_callback_type_block_split(bio_split_up);
}

static int start(void)
{
	int err;

	check_types();
	find_journals();
	iot_points_wait(); /* probes of an earlier trace may still run */
	err = iot_table_begin(&pending);
	if (err)
		return err;
	memset(depths, 0, sizeof(depths));
	err = iot_rw_track();
	if (err)
		return err;
	err = iot_originator_get();
	if (err)
		goto untrack;
	err = iot_points_get(points, ARRAY_SIZE(points));
	if (!err)
		return 0;
	iot_originator_put();
untrack:
	iot_rw_untrack();
	return err;
}

static void stop(void)
{
	iot_points_put(points, ARRAY_SIZE(points));
	iot_originator_put();
	iot_rw_untrack();
}

static unsigned long missed(void)
{
	/* with untracked direct calls, and kinds of files that are not hooked: bios without file */
	return atomic_long_read(&nr_missed) + iot_direct_missed_by_block() + iot_rw_unseen();
}

static void release(void)
{
	iot_table_free(&pending);
}

const struct iot_category_ops iot_block_ops = {
	.start = start,
	.stop = stop,
	.missed = missed,
	.release = release,
};

#endif /* IOT_WITHOUT_BLOCK */
