/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The inodes with several names that were met: a set whose memory is bounded. An inode leaves
 * it when all of its names were met.
 */
#ifndef TOOL_TRACE_HARDLINKS_H
#define TOOL_TRACE_HARDLINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

struct hardlinks {
	struct links_entry *at;
	size_t size;		/* 0 or a power of two */
	size_t used;
	__u64 untracked;	/* inodes for which there was no room */
};

/*
 * Whether this is the first name of an inode that is met; @nlink is its number of names. Without
 * room each name is the first.
 */
bool hardlinks_first(struct hardlinks *l, __u64 device, __u64 inode, __u32 nlink);
void hardlinks_free(struct hardlinks *l);

#endif /* TOOL_TRACE_HARDLINKS_H */
