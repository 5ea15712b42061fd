/* SPDX-License-Identifier: GPL-2.0 */
/* The files of which something is known, and the list of those that a sync may concern. */
#ifndef TOOL_TRACE_DURABLE_FILE_H
#define TOOL_TRACE_DURABLE_FILE_H

#include "trace/durable_state.h"

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

#endif /* TOOL_TRACE_DURABLE_FILE_H */
