// SPDX-License-Identifier: GPL-2.0
/*
 * Bios that carry a target's data, or flush, discard or zero for it: tracepoint block_bio_queue.
 *
 * It fires once for each bio that a filesystem submits, before the bio is split or
 * merged (submit_bio_noacct_nocheck()). Context: that of the submitter, mostly a task,
 * rarely an interrupt; preemption is off.
 *
 * Which file a bio belongs to:
 *   buffered	Its first page is in the page cache of the file. Reads hold the
 *		page's lock and writes its writeback flag, so the mapping stays.
 *   direct	The pages are the caller's. The bio belongs to the file that the
 *		current task is reading or writing directly (file/direct.c), unless
 *		the filesystem submits it for something else inside that call:
 *		metadata, swap or page cache I/O.
 *   swap	The page is memory that is swapped out or in. Its swap entry leads to the
 *		swap file.
 * A target that is a device gets all bios of the device, whatever they carry.
 * Bios without data (flush, discard, zeroes) are recorded for targets of `add -a` only.
 * Layers below the filesystem (device mapper, md, loop) submit bios with the same
 * pages again. For a file, only bios to the filesystem's own devices count (file/bio.h).
 */
#include <linux/blkdev.h>
#include <linux/magic.h>
#include <linux/pagemap.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <trace/events/block.h>
#include "compat/compat.h"
#include "core/spoil.h"
#include "core/task.h"
#include "hook/point.h"
#include "file/bio.h"
#include "file/direct.h"
#include "record/target_index.h"
#include "probe/bio.h"
#include "uapi/iotracer.h"

static struct iot_indexed_file *direct_file(const struct bio *bio, struct folio *folio,
					    const struct inode *host, u64 *offset)
{
	const struct iot_direct *call = iot_bio_direct_call(bio, folio, host);

	if (!call)
		return NULL;
	*offset = call->offset;
	return iot_target_index_by_id(call->id);
}

static struct iot_indexed_file *buffered_file(const struct bio *bio, struct folio *folio,
					      struct inode *host, u64 *offset)
{
	if (!host || !iot_target_index_maybe(host) || !iot_bio_is_cache_io(bio, folio, host))
		return NULL;
	*offset = iot_bio_offset(bio, folio);
	return iot_target_index_find(host);
}

/* The swap file, if the bio is the one that the kernel submits for it. */
static noinline struct iot_indexed_file *swap_file(const struct bio *bio, u64 *offset)
{
	struct iot_bio_swap swap IOT_UNINITIALIZED;
	struct inode *inode;

	iot_bio_find_swap(bio, &swap);
	if (!swap.file || swap.bdev != bio->bi_bdev)
		return NULL;
	inode = file_inode(swap.file);
	*offset = swap.offset;
	return iot_target_index_maybe(inode) ? iot_target_index_find(inode) : NULL;
}

static u16 bio_flags(const struct bio *bio, bool direct)
{
	u16 flags = direct ? IOT_IO_DIRECT : 0;

	if (bio->bi_opf & REQ_SYNC)
		flags |= IOT_IO_SYNC;
	if (bio->bi_opf & REQ_RAHEAD)
		flags |= IOT_IO_READAHEAD;
	if (bio->bi_opf & REQ_FUA)
		flags |= IOT_IO_FUA;
	return flags;
}

/*
 * The sector is counted from the start of the device, which may be a partition;
 * for a target that is the whole disk, from the start of the disk.
 */
static u64 bio_sector(struct bio *bio, const struct iot_indexed_file *f)
{
	u64 sector = bio->bi_iter.bi_sector;

	if (f->device && f->device != bio->bi_bdev->bd_dev)
		return bio_flagged(bio, BIO_REMAPPED) ? sector :
		       sector + bio->bi_bdev->bd_start_sect;
	return iot_bio_sector(bio);
}

/* Only writes to a file have a known originator: a device has many files. */
static void fill_origin(struct iot_io *r, const struct iot_indexed_file *f)
{
	if (f->device || r->op != IOT_OP_WRITE) {
		r->origin_pid = 0;
		memset(r->origin_comm, 0, sizeof(r->origin_comm));
		return;
	}
	r->origin_pid = iot_writer_read(&f->writer, r->origin_comm);
}

static void fill_submitter(struct iot_io *r)
{
	if (in_task()) {
		iot_task_ids(r, current);
	} else {
		r->pid = 0;
		r->tid = 0;
		strscpy_pad(r->comm, "(interrupt)", sizeof(r->comm));
	}
}

static __always_inline void record_as(struct iot_indexed_file *f, struct bio *bio, u64 sector,
				      u64 offset, u8 op, bool direct)
{
	struct iot_io *r;
	u64 *slot, index;

	if (!iot_ring_reserve(rcu_dereference_sched(f->t->ring), IOT_LEVEL_BLK,
			      &slot, &index))
		return;
	r = (struct iot_io *)slot;
	r->time = ktime_get_mono_fast_ns();
	r->latency = 0;
	r->offset = offset;
	r->sector = sector;
	r->requested = bio->bi_iter.bi_size;
	r->result = bio->bi_iter.bi_size;
	r->inode = f->ino;
	r->cpu = raw_smp_processor_id();
	r->device = bio->bi_bdev->bd_dev;
	r->level = IOT_LEVEL_BLK;
	r->op = op;
	r->flags = bio_flags(bio, direct);
	fill_submitter(r);
	fill_origin(r, f);
	iot_spoil(IOT_EVENT_ID_IO, slot);
	iot_ring_commit(slot, index);
}

static void record(struct iot_indexed_file *f, struct bio *bio, u64 offset, bool direct)
{
	record_as(f, bio, bio_sector(bio, f), offset,
		  op_is_write(bio_op(bio)) ? IOT_OP_WRITE : IOT_OP_READ, direct);
}

/* Record the bio for its partition and for its disk, where they are targets. */
static void record_devices(struct bio *bio, bool direct)
{
	const struct block_device *bdev = bio->bi_bdev;
	dev_t disk = disk_devt(bdev->bd_disk);
	struct iot_indexed_file *f;

	hlist_for_each_entry_rcu_notrace(f, &iot_target_index_devices, device_node)
		if (f->device == bdev->bd_dev || f->device == disk)
			record(f, bio, bio_sector(bio, f) << SECTOR_SHIFT, direct);
}

/*
 * Is what a task discards or zeroes inside a truncation or fallocate the file's own? ext4 discards
 * so without a journal, and both zero so for FALLOC_FL_WRITE_ZEROES. Where a transaction may be
 * committed inside the call (btrfs), it may be what other files gave back.
 */
static bool discards_own(const struct super_block *sb)
{
	return sb->s_magic == EXT4_SUPER_MAGIC || sb->s_magic == XFS_SUPER_MAGIC;
}

/* Does the call cause the bio for sure? A sync submits flushes, other calls the rest. */
static bool causes(const struct iot_direct *call, const void *data)
{
	const struct bio *bio = data;

	if (!iot_bio_is_for(bio, call->sb))
		return false;
	if (iot_bio_other_op(bio) == IOT_OP_FLUSH)
		return iot_direct_syncs(call);
	return !iot_direct_syncs(call) && discards_own(call->sb);
}

static void record_other(struct iot_indexed_file *f, struct bio *bio, const struct iot_direct *call)
{
	const u8 op = iot_bio_other_op(bio);
	u64 sector = op == IOT_OP_FLUSH ? 0 : bio_sector(bio, f);

	record_as(f, bio, sector, call ? call->offset : sector << SECTOR_SHIFT, op, false);
}

/*
 * A bio without data: for targets that record all operations. A file has those that a task
 * submits during a call on the file that causes them, a device all of its own.
 */
static noinline void other_queued(struct bio *bio)
{
	const struct block_device *bdev = bio->bi_bdev;
	const struct iot_direct *call;
	struct iot_indexed_file *f;

	if (!bdev || iot_bio_other_op(bio) == IOT_OP_READ)
		return;
	call = in_task() ? iot_direct_other(causes, bio) : NULL;
	f = call ? iot_target_index_by_id(call->id) : NULL;
	if (f)
		record_other(f, bio, call);
	hlist_for_each_entry_rcu_notrace(f, &iot_target_index_devices, device_node)
		if ((f->device == bdev->bd_dev || f->device == disk_devt(bdev->bd_disk)) &&
		    READ_ONCE(f->t->all_operations))
			record_other(f, bio, NULL);
}

static void bio_queued(void *data, struct bio *bio)
{
	IOT_POINT_ENTER();
	struct iot_indexed_file *f;
	struct inode *host;
	struct folio *folio;
	bool direct = true;
	u64 offset;

	if (!iot_bio_moves_data(bio) || !bio->bi_bdev) {
		other_queued(bio);
		return;
	}
	folio = iot_bio_folio(bio);
	host = iot_bio_host(folio);
	f = direct_file(bio, folio, host, &offset);
	if (!f) {
		direct = false;
		if (unlikely(iot_bio_swaps(bio, folio)))
			f = swap_file(bio, &offset);
		else
			f = buffered_file(bio, folio, host, &offset);
	}
	if (f)
		record(f, bio, offset, direct);
	if (unlikely(!hlist_empty(&iot_target_index_devices)))
		record_devices(bio, direct || !folio_mapping(folio));
}

static struct iot_point point = {
	.name = "block_bio_queue",
	.probe = bio_queued,
};

/** iot_bio_attach() - add a user; the first one attaches the probe. Context: task, may sleep */
int iot_bio_attach(void)
{
	check_trace_callback_type_block_bio_queue(bio_queued);
	return iot_point_get(&point);
}

/**
 * iot_bio_detach() - remove a user; the last one detaches the probe
 *
 * The probe may still run when this returns.
 */
void iot_bio_detach(void)
{
	iot_point_put(&point);
}
