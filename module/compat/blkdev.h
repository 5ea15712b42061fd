/* SPDX-License-Identifier: GPL-2.0 */
/* Differences between kernels in the block layer; see compat.h. */
#ifndef IOT_COMPAT_BLKDEV_H
#define IOT_COMPAT_BLKDEV_H

#include <linux/blkdev.h>
#include <linux/buffer_head.h>
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

#endif /* IOT_COMPAT_BLKDEV_H */
