/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records of category fs as lines of IOTraceCollector, a filesystem in userspace (FUSE) that
 * wrote a line for each operation it was asked for:
 *
 *	20181019-131104.961024:    WRITE: path=/hello/world.txt; offset=0; length_buf=13
 */
#ifndef TOOL_FUSE_H
#define TOOL_FUSE_H

#include <stddef.h>
#include <linux/types.h>

struct iot_fs;
struct names;
struct wall_clock;

#define FUSE_OPS 64		/* more than category fs has */

struct fuse_lines {
	const struct wall_clock *clock;
	const struct names *paths;
	char *below;			/* escaped; paths are relative to it; "" for all */
	size_t below_length;
	__u64 without[FUSE_OPS];	/* events below it of operations that have no line */
};

/* Writes the line of a record at @out. Returns its end, which is @out if it has no line. */
char *fuse_line(struct fuse_lines *f, char *out, const struct iot_fs *fs);

/* Reports the operations that have no line. */
void fuse_report(const struct fuse_lines *f, const char *trace);

#endif /* TOOL_FUSE_H */
