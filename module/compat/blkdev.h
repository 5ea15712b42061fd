/* SPDX-License-Identifier: GPL-2.0 */
/* Differences between kernels in the block layer; see compat.h. */
#ifndef IOT_COMPAT_BLKDEV_H
#define IOT_COMPAT_BLKDEV_H

#include <linux/blkdev.h>
#include <linux/buffer_head.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/swap.h>
#include <linux/swapops.h>
#include "compat/config.h"

/* Flags that not every kernel has. */
#ifndef REQ_FS_PRIVATE
#define REQ_FS_PRIVATE	((__force blk_opf_t)0)
#endif
#ifndef REQ_ATOMIC
#define REQ_ATOMIC	((__force blk_opf_t)0)
#endif
#ifndef REQ_CGROUP_PUNT
#define REQ_CGROUP_PUNT	((__force blk_opf_t)0)
#endif

/* Number of a partition, 0 for a whole disk. */
static inline u16 iot_bdev_partno(const struct block_device *bdev)
{
#ifdef IOT_HAVE_BDEV_PARTNO
	return bdev_partno(bdev);
#else
	return bdev->bd_partno;
#endif
}

/* RWH_WRITE_LIFE_* of a bio, 0 if bios have none in this kernel. */
static inline u16 iot_bio_write_hint(const struct bio *bio)
{
#ifdef IOT_HAVE_BIO_WRITE_HINT
	return bio->bi_write_hint;
#else
	return 0;
#endif
}

/* Completion function of a buffer, which end_bio_bh_io_sync() calls; 0 if this kernel has none. */
static inline unsigned long iot_buffer_end(const struct buffer_head *bh)
{
#ifdef IOT_HAVE_BUFFER_HEAD_END_IO
	return (unsigned long)bh->b_end_io;
#else
	return 0; /* bio->bi_end_io is the completion function */
#endif
}

/*
 * Does the bio end as write_dirty_buffer() and sync_dirty_buffer() have it (fs/buffer.c)?
 * @end_of_buffer: address of end_bio_bh_io_sync(), if the kernel has that
 */
static inline bool iot_bio_ends_buffer_write(const struct bio *bio, unsigned long end_of_buffer)
{
#ifdef IOT_HAVE_BUFFER_HEAD_END_IO
	return (unsigned long)bio->bi_end_io == end_of_buffer && end_of_buffer &&
	       iot_buffer_end(bio->bi_private) == (unsigned long)end_buffer_write_sync;
#else
	return bio->bi_end_io == bh_end_write;
#endif
}

/*
 * Is the device the only one of another superblock, which does not hold it in its own name? Before
 * 6.6 most filesystems hold a device in the name of their type.
 */
static inline bool iot_bdev_is_of_other(const struct block_device *bdev,
					const struct super_block *sb)
{
#ifdef IOT_HAVE_BDEV_SUPER
	return bdev->bd_super && bdev->bd_super != sb;
#else
	return false;
#endif
}

/* Are the operations of the device's holder the filesystem's own? */
static inline bool iot_bdev_holder_is_in(const struct block_device *bdev,
					 const struct module *owner)
{
#ifdef IOT_HAVE_BDEV_HOLDER_OPS
	return owner && within_module((unsigned long)READ_ONCE(bdev->bd_holder_ops), owner);
#else
	return false;
#endif
}

/* Where a page of memory is swapped to. */
static inline swp_entry_t iot_swap_entry(struct page *page)
{
#ifdef IOT_HAVE_PAGE_SWAP_ENTRY
	return page_swap_entry(page);
#else
	return (swp_entry_t){ .val = page_private(page) };
#endif
}

#endif /* IOT_COMPAT_BLKDEV_H */
