/* SPDX-License-Identifier: GPL-2.0 */
/* Disks and their flushes. */
#ifndef TOOL_TRACE_DURABLE_FLUSH_H
#define TOOL_TRACE_DURABLE_FLUSH_H

#include "trace/durable_state.h"

/* A write request shows on which disk a filesystem is. */
void durable_disk_learn(struct durable *d, const struct iot_block *r, const struct source *source);
void durable_flush_add(struct durable *d, const struct iot_block *r, const struct source *source);

/* When the first flush of the file's disk ended that was issued at @at or later. 0: none did. */
__u64 durable_flushed(const struct durable *d, const struct durable_file *f, __u64 at);

#endif /* TOOL_TRACE_DURABLE_FLUSH_H */
