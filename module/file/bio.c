// SPDX-License-Identifier: GPL-2.0
/* Finds the file to which a bio's data belongs: the rare cases, which bio.h does not handle. */
#include <linux/blkdev.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/swap.h>
#include <linux/swapops.h>
#include "compat/blkdev.h"
#include "hook/symbol.h"
#include "file/bio.h"

/* end_bio_bh_io_sync(), fs/buffer.c: completes bios that write one buffer; 0 if there is none */
unsigned long iot_bio_end_of_buffer;

/* swap_info[], mm/swapfile.c: the swap areas by their number; NULL if it is not found */
static struct swap_info_struct *const *swap_areas;

/**
 * iot_bio_is_for_other() - do iot_bio_is_for() for a device that is not the superblock's only one
 *
 * A filesystem holds its further devices (XFS realtime and log, ext4 journal, btrfs, f2fs, erofs)
 * in the name of the superblock, of what is behind it (XFS before 6.5), or of its type. Where it is
 * the type (erofs, btrfs before 6.17), the device may be another superblock's. bcachefs holds each
 * device in the name of an object of its own.
 *
 * Context: any; the bio keeps the device.
 */
bool iot_bio_is_for_other(const struct block_device *bdev, const struct super_block *sb)
{
	const void *holder = READ_ONCE(bdev->bd_holder);

	if (!holder)
		return false;
	if (holder == sb || holder == sb->s_fs_info)
		return true;
	if (holder == sb->s_type)
		return !iot_bdev_is_of_other(bdev, sb);
	return iot_bdev_holder_is_in(bdev, sb->s_type->owner);
}

/**
 * iot_bio_find_swap() - find the file of a bio for which iot_bio_swaps() is true
 * @swap:	filled in
 *
 * While a page is being moved, its area stays in use. Context: where the bio is submitted.
 */
void iot_bio_find_swap(const struct bio *bio, struct iot_bio_swap *swap)
{
	struct bio_vec bv = bio_iter_iovec(bio, bio->bi_iter);
	swp_entry_t entry = iot_swap_entry(bv.bv_page);
	const struct swap_info_struct *area = NULL;

	if (swap_areas && swp_type(entry) < MAX_SWAPFILES)
		area = READ_ONCE(swap_areas[swp_type(entry)]);
	swap->file = area ? READ_ONCE(area->swap_file) : NULL;
	swap->bdev = area ? READ_ONCE(area->bdev) : NULL;
	swap->offset = ((u64)swp_offset(entry) << PAGE_SHIFT) + bv.bv_offset;
}

/** iot_bio_init() - find functions and variables at load. Context: task, may sleep */
void iot_bio_init(void)
{
	iot_bio_end_of_buffer = iot_symbol_find("end_bio_bh_io_sync");
	swap_areas = (struct swap_info_struct *const *)iot_symbol_data("swap_info");
}
