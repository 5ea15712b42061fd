// SPDX-License-Identifier: GPL-2.0
/*
 * Bios in the logs of directories and processes: tracepoint block_bio_queue. The file of a bio is
 * found by the rules in bio.c.
 *
 *   A directory	has the bios that move data of files below it.
 *   Processes		have the bios that one of them submits, and those that another task submits
 *			to write data that one of them has dirtied.
 *
 * A stacked device (device mapper, md) turns the bios that it receives into bios for other devices.
 * These are not recorded: inside submit_bio(), current->bio_list is set, and a bio that another
 * thread submits later is not for the filesystem's device.
 *
 * Context: that of the submitter, mostly a task, rarely an interrupt; preemption is off.
 */
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/pagemap.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <trace/events/block.h>
#include "compat/compat.h"
#include "core/task.h"
#include "hook/point.h"
#include "file/bio.h"
#include "file/direct.h"
#include "file/originator.h"
#include "file/paths.h"
#include "record/scope.h"
#include "record/categories.h"
#include "probe/scope_bio.h"
#include "probe/rw_hooks.h"

/* Get the operation of a bio. Return: false if bios of this kind are not recorded. */
static bool find_op(struct bio *bio, u16 *op)
{
	static const u8 others[] = {
		[IOT_OP_FLUSH] = IOT_FS_BLOCK_FLUSH,
		[IOT_OP_DISCARD] = IOT_FS_BLOCK_DISCARD,
		[IOT_OP_SECURE_ERASE] = IOT_FS_BLOCK_SECURE_ERASE,
		[IOT_OP_WRITE_ZEROES] = IOT_FS_BLOCK_WRITE_ZEROES,
	};

	if (iot_bio_moves_data(bio))
		*op = op_is_write(bio_op(bio)) ? IOT_FS_BLOCK_WRITE : IOT_FS_BLOCK_READ;
	else
		*op = others[iot_bio_other_op(bio)];
	return *op;
}

static void note_file(struct iot_fs *e, const struct iot_paths_file *file)
{
	e->path = file->id;
	e->inode = file->ino;
	e->device = file->dev;
	e->kind = file->kind;
}

/* Note the file that the current task is reading or writing directly, if it is the bio's. */
static bool note_direct(struct iot_fs *e, const struct bio *bio, struct folio *folio,
			const struct inode *host)
{
	const struct iot_direct *call = iot_bio_direct_call(bio, folio, host);
	struct iot_paths_file file IOT_UNINITIALIZED;

	if (!call || !call->file)
		return false;
	iot_paths_of(&call->file->f_path, false, &file);
	note_file(e, &file);
	e->offset = call->offset;
	return true;
}

static void note_buffered(struct iot_fs *e, const struct bio *bio, struct folio *folio,
			  struct inode *host)
{
	struct iot_paths_file file IOT_UNINITIALIZED;

	iot_paths_of_inode(host, &file);
	note_file(e, &file);
	e->offset = iot_bio_offset(bio, folio);
}

/* Note the swap file, if the bio is the one that the kernel submits for it. */
static void note_swap(struct iot_fs *e, const struct bio *bio)
{
	struct iot_paths_file file IOT_UNINITIALIZED;
	struct iot_bio_swap swap IOT_UNINITIALIZED;

	e->flags |= IOT_REQ_SWAP;
	iot_bio_find_swap(bio, &swap);
	if (!swap.file || swap.bdev != bio->bi_bdev || !in_task())
		return;
	iot_paths_of(&swap.file->f_path, false, &file);
	note_file(e, &file);
	e->offset = swap.offset;
}

/*
 * Note the file whose data the bio moves, and find who made the data dirty, as far as that is known
 * by its first page.
 */
static bool note_data(struct iot_fs *e, const struct bio *bio, struct iot_originator *who)
{
	struct folio *folio = iot_bio_folio(bio);
	struct inode *host = iot_bio_host(folio);

	if (note_direct(e, bio, folio, host))
		return false;
	if (unlikely(iot_bio_swaps(bio, folio))) {
		note_swap(e, bio);
		return false;
	}
	if (!host || !iot_bio_is_cache_io(bio, folio, host))
		return false;
	if (!S_ISBLK(host->i_mode))
		note_buffered(e, bio, folio, host);
	return e->op == IOT_FS_BLOCK_WRITE &&
	       iot_originator_find(folio->mapping, folio->index, who);
}

static void note_submitter(struct iot_fs *e)
{
	if (likely(in_task()))
		iot_task_fill(e);
	else
		strscpy_pad(e->comm, "(interrupt)", sizeof(e->comm));
}

/* These flags have the same bits in all kernels: block.c checks that. */
static u32 flags_of(const struct bio *bio)
{
	return ((__force u64)bio->bi_opf >> REQ_OP_BITS) & IOT_REQ_COMMON;
}

static void bio_queued(void *data, struct bio *bio)
{
	IOT_POINT_ENTER();
	struct iot_originator who IOT_UNINITIALIZED;
	struct iot_fs e = { .fd = -1, .sample = 1 };
	bool known = false;

	if (!bio->bi_bdev || !find_op(bio, &e.op))
		return;
	if (bio_has_data(bio))
		known = note_data(&e, bio, &who);
	e.time = ktime_get_mono_fast_ns();
	e.requested = bio->bi_iter.bi_size;
	e.result = bio->bi_iter.bi_size;
	e.address = e.op == IOT_FS_BLOCK_FLUSH ? 0 : iot_bio_sector(bio) << SECTOR_SHIFT;
	e.device2 = bio->bi_bdev->bd_dev;
	e.flags |= flags_of(bio);
	note_submitter(&e);
	iot_scopes_record_bio(&e, in_task() && !current->bio_list, known ? &who : NULL);
}

static struct iot_point point = {
	.name = "block_bio_queue",
	.probe = bio_queued,
};

static int start(void)
{
	int err = iot_rw_track();

	if (err)
		return err;
	check_trace_callback_type_block_bio_queue(bio_queued);
	err = iot_point_get(&point);
	if (err)
		iot_rw_untrack();
	return err;
}

static void stop(void)
{
	iot_point_put(&point);
	iot_rw_untrack();
}

static int start_of_tasks(void)
{
	int err = iot_originator_get();

	if (err)
		return err;
	err = start();
	if (err)
		iot_originator_put();
	return err;
}

static void stop_of_tasks(void)
{
	stop();
	iot_originator_put();
}

static unsigned long missed(void)
{
	/* includes untracked direct calls, whose bios have no file */
	return iot_category_fs.probes->missed() + iot_direct_missed_by_block();
}

const struct iot_category_ops iot_scope_dir_ops = {
	.start = start,
	.stop = stop,
	.missed = missed,
};

const struct iot_category_ops iot_scope_tasks_ops = {
	.start = start_of_tasks,
	.stop = stop_of_tasks,
	.missed = missed,
};
