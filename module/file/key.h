/* SPDX-License-Identifier: GPL-2.0 */
/* What identifies a file, without a reference to it. */
#ifndef IOT_KEY_H
#define IOT_KEY_H

#include <linux/compiler.h>
#include <linux/fs.h>
#include <linux/types.h>
#include <linux/uuid.h>

#define IOT_FH_WORDS	6	/* words of a file handle, which distinguishes subvolumes */

/**
 * struct iot_key - what identifies a file
 * @ino:	inode->i_ino
 * @dev:	s_dev of its superblock, 0 if the file handle is compared
 *		instead
 * @generation:	inode->i_generation: differs if another file gets the same inode
 *		number
 * @first_dev:	s_dev of its superblock when the key was made
 * @fh_words:	used words of @fh, 0 if the other fields are enough
 * @fh_type:	as encode_fh() returned it
 * @fh:		file handle; with @magic and @uuid in place of @dev, for filesystems whose
 *		superblock has another device number after each mount
 * @magic:	sb->s_magic
 * @uuid:	sb->s_uuid
 */
struct iot_key {
	u64 ino;
	dev_t dev;
	u32 generation;
	dev_t first_dev;
	int fh_words;
	int fh_type;
	u32 fh[IOT_FH_WORDS];
	unsigned long magic;
	uuid_t uuid;
};

void iot_key_make(struct iot_key *key, struct inode *inode);
bool iot_key_fh_matches(const struct iot_key *key, struct inode *inode);

/** iot_key_is_inode() - compare the inode number and generation. Context: any */
static __always_inline bool iot_key_is_inode(const struct iot_key *key, const struct inode *inode)
{
	return key->ino == inode->i_ino && key->generation == inode->i_generation;
}

/** iot_key_is() - check whether an inode is the file of a key. Context: any */
static __always_inline bool iot_key_is(const struct iot_key *key, struct inode *inode)
{
	return iot_key_is_inode(key, inode) &&
	       (likely(key->dev == inode->i_sb->s_dev) ||
		(key->fh_words && iot_key_fh_matches(key, inode)));
}

#endif /* IOT_KEY_H */
