/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events of category fs. A probe makes one like this:
 *
 *	struct iot_fs e;
 *
 *	if (iot_fs_begin(&e, IOT_FS_FSYNC)) {
 *		iot_fs_file(&e, &file->f_path, true);
 *		... the call; e.fd, e.flags, e.offset ... as known ...
 *		iot_fs_end(&e, result);
 *	}
 *
 * None of these sleeps unless @may_sleep allows it. Between begin and end the category may be
 * stopped and reset; then end does nothing.
 */
#ifndef IOT_FS_H
#define IOT_FS_H

#include "record/categories.h"
#include "uapi/iotracer.h"

/* Check whether category fs is off. Context: any. */
static __always_inline bool iot_fs_off(void)
{
	return !iot_category_active(&iot_category_fs);
}

/**
 * iot_fs_begin() - begin an event: clear @e, set op and time, and fd to -1
 *
 * Return: false if the operation is not wanted of this task, or nothing is traced.
 */
bool iot_fs_begin(struct iot_fs *e, enum iot_op_id op);

/**
 * iot_fs_file() - set the file of an event
 * @may_sleep:	the caller may sleep, so the path can always be resolved
 *
 * Return: false if the filter does not want the file; the caller then drops @e.
 */
bool iot_fs_file(struct iot_fs *e, const struct path *path, bool may_sleep);

/** iot_fs_file2() - set the second file of an event, without asking the filter */
void iot_fs_file2(struct iot_fs *e, const struct path *path, bool may_sleep);

/**
 * iot_fs_name() - set a path that leads to no file (or not yet)
 * @text:	absolute path, or what a symbolic link contains
 * @second:	set the second path
 */
void iot_fs_name(struct iot_fs *e, const char *text, size_t len, bool second,
		 bool may_sleep);

/** iot_fs_name_at() - as above, for a name that was looked up. Context: task, may sleep */
void iot_fs_name_at(struct iot_fs *e, const char *text, bool second);

/** iot_fs_asks_file() - check whether the filter rejects an event for having no (known) file */
bool iot_fs_asks_file(const struct iot_fs *e);

/** iot_fs_second_counts() - check whether an event may be wanted for its second file alone */
bool iot_fs_second_counts(void);

/** iot_fs_wants_op() - check whether the filter wants an operation */
bool iot_fs_wants_op(enum iot_op_id op);

/**
 * iot_fs_count_missed() - count an event that could not be recorded, for example without memory
 *
 * Context: any.
 */
void iot_fs_count_missed(void);

/** iot_fs_counted_missed() - get the number of events that iot_fs_count_missed() has counted */
unsigned long iot_fs_counted_missed(void);

/** iot_fs_end() - set the result and the caller, and record the event if it is wanted */
void iot_fs_end(struct iot_fs *e, s64 result);

/** iot_fs_end_at() - as above, for a call that ended at @now, CLOCK_MONOTONIC ns */
void iot_fs_end_at(struct iot_fs *e, s64 result, u64 now);

#endif /* IOT_FS_H */
