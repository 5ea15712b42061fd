/* SPDX-License-Identifier: GPL-2.0 */
/* Versions of bytes that are exposed, until they are durable. */
#ifndef TOOL_TRACE_DURABLE_VERSION_H
#define TOOL_TRACE_DURABLE_VERSION_H

#include "trace/durable_state.h"

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

/* Adds what flushes made durable since. */
void durable_finish(struct durable *d);

#endif /* TOOL_TRACE_DURABLE_VERSION_H */
