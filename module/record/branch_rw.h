/* SPDX-License-Identifier: GPL-2.0 */
/*
 * READ and WRITE of category fs while it has branches. Whether anybody may want a call, and the
 * path of its file, are found by one lookup at the entry of the call. What the lookup found is kept
 * as the id of the path only: the entry of the table, which the end of the call finds by it, has
 * all that a record says of the file.
 */
#ifndef IOT_BRANCH_RW_H
#define IOT_BRANCH_RW_H

#include "record/branch.h"
#include "record/rw.h"

#define IOT_BRANCH_RW_UNKNOWN	U64_MAX	/* the path of the file is not in the table */

bool iot_branch_rw_rejects(const struct file *file);
void iot_branch_rw_end_slow(u64 path, const struct file *file, u64 start, u64 now, u64 offset,
			    u64 requested, s64 result, bool write);

/*
 * Return: the id of a path if it is of one of @kinds, else 0. Context: task, preemption off.
 */
static __always_inline u64 iot_branch_rw_find_kinds(const struct file *file, u32 kinds)
{
	const struct iot_path *known = iot_paths_find(&file->f_path, false);

	if (unlikely(!known))
		return IOT_BRANCH_RW_UNKNOWN;
	return known->file.kinds & kinds ? known->file.id : 0;
}

/**
 * iot_branch_rw_find() - find the path of a file that a branch may want
 *
 * All branches are of directories, else iot_branch_rw_find_tasks() does it. A rename between two
 * calls changes the stamp of all paths, so what is found is right for this moment.
 * Context: task. Return: the id of the path; IOT_BRANCH_RW_UNKNOWN, or 0 if nobody wants the call.
 */
static __always_inline u64 iot_branch_rw_find(const struct file *file)
{
	u64 path;

	preempt_disable_notrace();
	path = iot_branch_rw_find_kinds(file, READ_ONCE(iot_category_fs.kinds));
	preempt_enable_notrace();
	return path;
}

/**
 * iot_branch_rw_find_tasks() - do iot_branch_rw_find() while a branch is of processes
 *
 * The process is checked first, which is quicker than the path. Context: as there.
 */
static __always_inline u64 iot_branch_rw_find_tasks(const struct file *file)
{
	u64 path = 0;

	preempt_disable_notrace();
	if (iot_branches_want_task())
		path = iot_branch_rw_find_kinds(file, READ_ONCE(iot_category_fs.kinds));
	else if (READ_ONCE(iot_below_any))
		path = iot_branch_rw_find_kinds(file, IOT_PATHS_BELOW);
	preempt_enable_notrace();
	return path;
}

/* Record a call in the rings of the branch that alone has it. Context: preemption off. */
static __always_inline void iot_branch_rw_record(struct iot_category *c,
						 const struct iot_path *path, u64 start,
						 u64 latency, u64 offset, u64 requested,
						 s64 result, bool write)
{
	const struct iot_rw rw = { .file = path->file };
	struct iot_event_at at;
	struct iot_fs *e = iot_event_reserve(c, &at);

	if (unlikely(!e))
		return;
	iot_event_fill(e, &at, c, iot_rw_op(write, false), start, latency);
	iot_task_fill(e);
	e->offset = offset;
	e->requested = requested;
	e->result = result;
	e->flags = 0;
	iot_rw_fill_file(e, &rw);
	iot_event_commit(c, &at);
}

/**
 * iot_branch_rw_end() - record a call that began with iot_branch_rw_find()
 * @path:	id of the path that was found
 * @file:	the caller holds a reference
 * @start:	CLOCK_MONOTONIC ns
 * @offset:	bytes
 * @requested:	bytes
 * @result:	bytes or -errno
 *
 * Context: task, may sleep; the call was synchronous and had no flags.
 */
static __always_inline void iot_branch_rw_end(u64 path, const struct file *file, u64 start,
					      u64 offset, u64 requested, s64 result, bool write)
{
	u64 now = ktime_get_mono_fast_ns();
	struct iot_category *only = NULL;
	const struct iot_path *p;

	preempt_disable_notrace();
	p = iot_path_table_at(path);
	if (likely(p && iot_event_is_plain(now - start, result)))
		only = iot_branches_only(p);
	if (likely(only))
		iot_branch_rw_record(only, p, start, now - start, offset, requested, result,
				     write);
	preempt_enable_notrace();
	if (unlikely(!only))
		iot_branch_rw_end_slow(path, file, start, now, offset, requested, result, write);
}

#endif /* IOT_BRANCH_RW_H */
