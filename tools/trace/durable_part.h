/* SPDX-License-Identifier: GPL-2.0 */
/* What the files durable*.c share: files, flushes, and versions that are exposed. */
#ifndef TOOL_TRACE_DURABLE_PART_H
#define TOOL_TRACE_DURABLE_PART_H

#include <stdint.h>

#include "trace/durable.h"

#define DURABLE_ALL	INT64_MAX	/* no file is larger */

static inline __u64 durable_lesser(__u64 a, __u64 b)
{
	return a < b ? a : b;
}

/* --- files (durable_file.c) ----------------------------------------------------- */

/* NULL if it was not heard of. */
struct durable_file *durable_file_find(struct durable *d, const struct source *source, __u32 device, __u64 inode);

/* A new file in the place of that which has the number. NULL if there are too many. */
struct durable_file *durable_file_make(struct durable *d, const struct source *source, __u32 device, __u64 inode);

/* The file, a new one if there is none. @path: 0 if it is not known. NULL if there are too many. */
struct durable_file *durable_file_get(struct durable *d, const struct source *source, __u32 device, __u64 inode,
				      __u64 path);

/* Whether a sync may make bytes or the name of the file durable. */
bool durable_is_waiting(const struct durable_file *f);

/*
 * Puts a file for which that holds into the list; removes those from the list for which it does
 * not.
 */
void durable_file_list(struct durable *d, struct durable_file *f);
void durable_prune(struct durable *d);

/* --- flushes (durable_flush.c) -------------------------------------------------- */

/* A write request shows on which disk a filesystem is. */
void durable_disk_learn(struct durable *d, const struct iot_block *r, const struct source *source);
void durable_flush_add(struct durable *d, const struct iot_block *r, const struct source *source);

/* When the first flush of the file's disk ended that was issued at @at or later. 0: none did. */
__u64 durable_flushed(const struct durable *d, const struct durable_file *f, __u64 at);

/* --- versions (durable_version.c) ----------------------------------------------- */

/* Whether there is room for a further range of the file; else it is given up, and crowded. */
bool durable_has_room(struct durable *d, struct durable_file *f);

/* Bytes were acknowledged. */
void durable_expose(struct durable *d, struct durable_file *f, __u64 begin, __u64 end,
		    const struct extent_version *v);

/* Writeback of pages began, or ended. */
void durable_writeback(struct durable *d, struct durable_file *f, __u64 begin, __u64 end, __u64 time, bool ended);

/* A call that lasted from @from to @to made durable what was acknowledged before. */
void durable_range_sync(struct durable *d, struct durable_file *f, __u64 begin, __u64 end, __u64 from, __u64 to);

/* These bytes were exposed from @first to @durable. */
void durable_exposure_count(struct durable_file *f, __u64 bytes, __u64 first, __u64 durable);

void durable_make_unknown(struct durable_file *f, __u64 begin, __u64 end);

/* Nothing of what is exposed will be known to be durable. */
void durable_give_up(struct durable *d, struct durable_file *f);

#endif /* TOOL_TRACE_DURABLE_PART_H */
