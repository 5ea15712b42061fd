/* SPDX-License-Identifier: GPL-2.0 */
/*
 * READ and WRITE of category fs while it has scopes. iot_scopes_find() finds at the entry of a
 * call whether anybody may want it, and the path of its file. Only the id of the path is kept
 * during the call: the entry of the table that it leads to has all that a record says of the file.
 */
#ifndef IOT_SCOPE_RW_H
#define IOT_SCOPE_RW_H

#include "record/scope.h"
#include "record/rw.h"

void iot_scope_rw_end_slow(u64 path, const struct file *file, struct iot_rw_call call);

/**
 * iot_scope_rw_end() - record a call that began with iot_scopes_find()
 * @path:	id of the path that was found
 * @file:	the caller holds a reference
 * @start:	CLOCK_MONOTONIC ns
 * @offset:	bytes
 * @requested:	bytes
 * @result:	bytes or -errno
 *
 * Context: task, may sleep; the call was synchronous and had no flags.
 */
static __always_inline void iot_scope_rw_end(u64 path, const struct file *file, u64 start,
					     u64 offset, u64 requested, s64 result, bool write)
{
	const struct iot_rw_call call = {
		.start = start,
		.latency = ktime_get_mono_fast_ns() - start,
		.offset = offset,
		.requested = requested,
		.result = result,
		.op = iot_rw_op(write, false),
	};
	struct iot_category *only = NULL;
	const struct iot_path *p;

	preempt_disable_notrace();
	p = iot_path_table_at(path);
	if (likely(p && iot_event_is_plain(call.latency, result)))
		only = iot_scopes_only(p);
	if (likely(only))
		iot_rw_put(only, &p->file, &call);
	preempt_enable_notrace();
	if (unlikely(!only))
		iot_scope_rw_end_slow(path, file, call);
}

#endif /* IOT_SCOPE_RW_H */
