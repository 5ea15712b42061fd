/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which file the data of a bio belongs to.
 *
 * Buffered: the bio's first page is in the page cache of the file. A read holds the page's
 * lock and a write its writeback flag, or the lock of its buffer, so the mapping stays until the
 * bio completes.
 * Direct: the pages are a program's memory; file/direct.h finds the call.
 * Swap: the page is in no file's page cache. Its swap entry leads to the swap file.
 *
 * Layers below the filesystem (device mapper, md, loop) submit bios with the same pages again, and
 * so do journals. A bio is the file's own if it is for a device that its filesystem holds:
 * the device mapper, md and others hold the devices below them in their own name.
 */
#ifndef IOT_BIO_H
#define IOT_BIO_H

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/fs.h>
#include <linux/pagemap.h>
#include <linux/preempt.h>
#include "compat/blkdev.h"
#include "file/direct.h"
#include "uapi/iotracer.h"

extern unsigned long iot_bio_end_of_buffer;

void iot_bio_init(void);

/** iot_bio_writes_buffer() - check whether the bio writes a buffer of its page to its place */
static __always_inline bool iot_bio_writes_buffer(const struct bio *bio)
{
	return iot_bio_ends_buffer_write(bio, iot_bio_end_of_buffer);
}

/** iot_bio_folio() - get the folio of a bio's first page; the bio has data */
static __always_inline struct folio *iot_bio_folio(const struct bio *bio)
{
	return page_folio(bio_page(bio));
}

/** iot_bio_host() - get the inode whose page cache the folio is in, or NULL */
static __always_inline struct inode *iot_bio_host(struct folio *folio)
{
	struct address_space *mapping;

	/* a program's own memory is in no file's page cache, and may only be in the swap cache */
	if (folio_test_anon(folio))
		return NULL;
	mapping = folio_mapping(folio);
	return mapping ? READ_ONCE(mapping->host) : NULL;
}

/**
 * iot_bio_moves_cache() - check whether the folio is being read from or written to the device
 *
 * If not, the page of the page cache is only the buffer of a program's direct call, or what is
 * written is a journal's copy of it: jbd2 submits the file's own page for that (data=journal of
 * ext4), with neither flag nor with the completion function of the page's own buffer.
 */
static __always_inline bool iot_bio_moves_cache(const struct bio *bio, struct folio *folio)
{
	if (op_is_write(bio_op(bio)))
		return folio_test_writeback(folio) || iot_bio_writes_buffer(bio);
	return folio_test_locked(folio) && !folio_test_uptodate(folio);
}

bool iot_bio_is_for_other(const struct block_device *bdev, const struct super_block *sb);

/** iot_bio_is_for() - check whether the bio is for a device of a filesystem */
static __always_inline bool iot_bio_is_for(const struct bio *bio, const struct super_block *sb)
{
	return likely(bio->bi_bdev == sb->s_bdev) || iot_bio_is_for_other(bio->bi_bdev, sb);
}

/** iot_bio_offset() - get the file offset of the bio's first byte; @folio is in the page cache */
static __always_inline u64 iot_bio_offset(const struct bio *bio, struct folio *folio)
{
	struct bio_vec bv = bio_iter_iovec(bio, bio->bi_iter);

	return folio_pos(folio) + folio_page_idx(folio, bv.bv_page) * PAGE_SIZE + bv.bv_offset;
}

/**
 * iot_bio_is_cache_io() - check whether the bio moves the page cache of @host
 *
 * If not, the page is only the buffer of a direct call, or a layer below submits it again.
 */
static __always_inline bool iot_bio_is_cache_io(const struct bio *bio, struct folio *folio,
						const struct inode *host)
{
	if (S_ISBLK(host->i_mode))
		return host->i_rdev == bio->bi_bdev->bd_dev;
	return iot_bio_is_for(bio, host->i_sb) && iot_bio_moves_cache(bio, folio);
}

/** iot_bio_moves_data() - check whether the bio reads or writes data. Context: any */
static __always_inline bool iot_bio_moves_data(struct bio *bio)
{
	switch (bio_op(bio)) {
	case REQ_OP_READ:
	case REQ_OP_WRITE:
	case REQ_OP_ZONE_APPEND:
		return bio_has_data(bio);
	default:
		return false;
	}
}

/**
 * iot_bio_swaps() - check whether the bio moves a page of memory from or to a swap area
 *
 * A read has no flag for that. Its folio is locked, is not in a file's page cache, and is in the
 * swap cache or, where swap is as quick as memory, nowhere yet. The memory of a program that reads
 * directly is not locked.
 */
static __always_inline bool iot_bio_swaps(const struct bio *bio, struct folio *folio)
{
	if (op_is_write(bio_op(bio)))
		return bio->bi_opf & REQ_SWAP;
	return unlikely(folio_test_locked(folio)) && folio_test_swapbacked(folio) &&
	       !folio_test_uptodate(folio) &&
	       (folio_test_swapcache(folio) || !READ_ONCE(folio->mapping));
}

/**
 * struct iot_bio_swap - where memory is swapped to
 * @file:	the swap file or device, NULL if it is not known; valid until the bio completes
 * @bdev:	device that swap I/O goes to
 * @offset:	of the page in the file, bytes
 */
struct iot_bio_swap {
	const struct file *file;
	const struct block_device *bdev;
	u64 offset;
};

void iot_bio_find_swap(const struct bio *bio, struct iot_bio_swap *swap);

/**
 * iot_bio_direct_call() - find the read or write of the current task that the bio is a part of
 * @host:	inode whose page cache the folio is in, or NULL
 *
 * The filesystem may submit bios inside that call for something else: metadata or page cache I/O.
 * A page fault on the caller's memory may swap. Return: a direct call, valid while it lasts, or
 * NULL.
 */
static __always_inline const struct iot_direct *
iot_bio_direct_call(const struct bio *bio, struct folio *folio, const struct inode *host)
{
	const struct iot_direct *call = in_task() ? iot_direct_now() : NULL;

	if (!call || !iot_bio_is_for(bio, call->sb) || (bio->bi_opf & REQ_META) ||
	    iot_bio_swaps(bio, folio) || (host && iot_bio_is_cache_io(bio, folio, host)))
		return NULL;
	return call;
}

/** iot_bio_sector() - get the first sector, counted from the start of a partition */
static __always_inline u64 iot_bio_sector(struct bio *bio)
{
	u64 sector = bio->bi_iter.bi_sector;

	return bio_flagged(bio, BIO_REMAPPED) ? sector - bio->bi_bdev->bd_start_sect : sector;
}

/** iot_bio_other_op() - get the operation of a bio without data; IOT_OP_READ: none of ours */
static inline u8 iot_bio_other_op(const struct bio *bio)
{
	switch (bio_op(bio)) {
	case REQ_OP_WRITE:
		return bio->bi_opf & REQ_PREFLUSH ? IOT_OP_FLUSH : IOT_OP_READ;
	case REQ_OP_DISCARD:
		return IOT_OP_DISCARD;
	case REQ_OP_SECURE_ERASE:
		return IOT_OP_SECURE_ERASE;
	case REQ_OP_WRITE_ZEROES:
		return IOT_OP_WRITE_ZEROES;
	default:
		return IOT_OP_READ;
	}
}

#endif /* IOT_BIO_H */
