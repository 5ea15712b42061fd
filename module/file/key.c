// SPDX-License-Identifier: GPL-2.0
/*
 * What identifies a file: superblock device, inode number and generation; on btrfs UUID and
 * file handle. No reference to the filesystem is held, so unmounting, deleting and unloading
 * work as if the file were not traced.
 */
#include <linux/exportfs.h>
#include <linux/kdev_t.h>
#include <linux/string.h>
#include "file/key.h"

/**
 * iot_key_fh_matches() - compare the part of a key that is not in the inode's fields
 *
 * btrfs numbers inodes per subvolume, and the copy of a file in a snapshot has the same
 * generation. The filesystem's export operations name the subvolume: btrfs_encode_fh() reads
 * fields of the inode and takes no lock. The operations of other filesystems might sleep, and
 * are not called.
 * Context: any.
 */
bool iot_key_fh_matches(const struct iot_key *key, struct inode *inode)
{
	const struct super_block *sb = inode->i_sb;
	u32 fh[IOT_FH_WORDS];
	int words = IOT_FH_WORDS;
	int type;

	if (sb->s_magic != key->magic || !uuid_equal(&sb->s_uuid, &key->uuid))
		return false;
	type = sb->s_export_op->encode_fh(inode, fh, &words, NULL);
	return type == key->fh_type && words == key->fh_words &&
	       !memcmp(fh, key->fh, words * sizeof(*fh));
}

/*
 * Check whether the superblock of a filesystem on block devices has an anonymous device number.
 * At the next mount it may get another number, and another filesystem may get this one.
 */
static bool has_pooled_dev(const struct super_block *sb)
{
	return !MAJOR(sb->s_dev) && (sb->s_type->fs_flags & FS_REQUIRES_DEV) &&
	       !uuid_is_null(&sb->s_uuid);
}

/** iot_key_make() - fill in the key of a file; @key is zeroed before. Context: task */
void iot_key_make(struct iot_key *key, struct inode *inode)
{
	const struct super_block *sb = inode->i_sb;
	const struct export_operations *ops = sb->s_export_op;
	int words = IOT_FH_WORDS;
	int type;

	key->ino = inode->i_ino;
	key->dev = sb->s_dev;
	key->first_dev = sb->s_dev;
	key->generation = inode->i_generation;
	if (!has_pooled_dev(sb) || !ops || !ops->encode_fh)
		return;
	type = ops->encode_fh(inode, key->fh, &words, NULL);
	if (type <= 0 || type == FILEID_INVALID)
		return;
	key->dev = 0;
	key->fh_type = type;
	key->fh_words = words;
	key->magic = sb->s_magic;
	uuid_copy(&key->uuid, &sb->s_uuid);
}
