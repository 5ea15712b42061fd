/* SPDX-License-Identifier: GPL-2.0 */
/* Directories whose contents are traced, and which paths are below them. */
#ifndef IOT_BELOW_H
#define IOT_BELOW_H

#include <linux/compiler.h>
#include <linux/dcache.h>
#include <linux/path.h>
#include <linux/types.h>
#include "file/key.h"

#define IOT_BELOW_MAX	32	/* directories at a time */

/**
 * struct iot_below_root - a directory whose contents are traced
 * @key:	which directory it is; no reference to it is held
 * @slot:	its bit in struct iot_below
 * @epoch:	of the first paths that may have that bit because of this directory
 */
struct iot_below_root {
	struct iot_key key;
	unsigned int slot;
	u32 epoch;
};

/* Depth of a path whose text does not end with what it is called below the directory. */
#define IOT_BELOW_ELSEWHERE	U16_MAX

/**
 * struct iot_below - the directories that a path is below
 * @roots:	a bit for each, by its slot
 * @deep:	it is too deep to know
 * @epoch:	iot_below_now when @roots was computed
 * @depth:	by slot: names between the directory and the end of the path, 0 for the directory
 *		itself
 */
struct iot_below {
	u32 roots;
	bool deep;
	u32 epoch;
	u16 depth[IOT_BELOW_MAX];
};

extern u32 iot_below_any;	/* a bit for each slot that is in use */
extern u32 iot_below_now;	/* the epoch */

int iot_below_add(struct iot_below_root *root, struct inode *dir);
void iot_below_remove(struct iot_below_root *root);
void iot_below_advance(void);

/** iot_below_none() - say that a path is below no directory. Context: any */
static inline void iot_below_none(struct iot_below *below)
{
	below->epoch = smp_load_acquire(&iot_below_now); /* before the directories are read */
	below->roots = 0;
	below->deep = false;
}

bool iot_below_may_be(const struct super_block *sb);
void iot_below_find(const struct path *path, struct iot_below *below);

#endif /* IOT_BELOW_H */
