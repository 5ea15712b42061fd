/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events of category fs, as its probes make them:
 *
 *	struct iot_fs e;
 *
 *	if (iot_fs_begin(&e, IOT_FS_FSYNC)) {
 *		iot_fs_file(&e, &file->f_path, true);
 *		... the call; e.fd, e.flags, e.offset ... as known ...
 *		iot_fs_end(&e, result);
 *	}
 *
 * None of these sleeps unless @may_sleep says so. Between begin and end the
 * category may be stopped and reset; then end does nothing.
 */
#ifndef IOT_FS_H
#define IOT_FS_H

#include "record/categories.h"
#include "uapi/iotracer.h"

/* Nothing is traced. Context: any. */
static __always_inline bool iot_fs_off(void)
{
	return !iot_category_active(&iot_category_fs);
}

/**
 * iot_fs_begin() - start an event: clears @e, sets op and time, fd to -1
 * Return: false: not wanted of this task, or at all
 */
bool iot_fs_begin(struct iot_fs *e, enum iot_op_id op);

/**
 * iot_fs_file() - say which file
 * @may_sleep:	the path may be resolved here and now; else only if it is known
 *
 * Return: false: the filter does not want it; forget @e
 */
bool iot_fs_file(struct iot_fs *e, const struct path *path, bool may_sleep);

/** iot_fs_file2() - the second file, as above; no filter */
void iot_fs_file2(struct iot_fs *e, const struct path *path, bool may_sleep);

/**
 * iot_fs_name() - a path that leads to no file (yet): absolute text
 * @second:	it is the second path
 */
void iot_fs_name(struct iot_fs *e, const char *text, size_t len, bool second,
		 bool may_sleep);

/** iot_fs_wants_op() - does the filter want this operation? */
bool iot_fs_wants_op(enum iot_op_id op);

/** iot_fs_count_missed() - an event could not be made: no memory, or not now. Context: any */
void iot_fs_count_missed(void);

/** iot_fs_counted_missed() - how many that were */
unsigned long iot_fs_counted_missed(void);

/** iot_fs_end() - the result; fills in the caller, and records what is wanted */
void iot_fs_end(struct iot_fs *e, s64 result);

/** iot_fs_end_at() - likewise, of what ended at @now, CLOCK_MONOTONIC ns */
void iot_fs_end_at(struct iot_fs *e, s64 result, u64 now);

#endif /* IOT_FS_H */
