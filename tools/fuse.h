/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records of category fs as lines of IOTraceCollector, a filesystem in userspace (FUSE) that
 * wrote a line for each operation it was asked for:
 *
 *	20181019-131104.961024:    WRITE: path=/hello/world.txt; offset=0; length_buf=13
 */
#ifndef TOOL_FUSE_H
#define TOOL_FUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

struct iot_fs;
struct names;
struct wall_clock;

#define FUSE_OPS 64		/* more than category fs has */

struct fuse_directory {
	char *path;			/* escaped; "" is / */
	size_t length;
};

struct fuse_lines {
	const struct wall_clock *clock;
	const struct names *paths;
	struct fuse_directory *below;	/* paths are relative to these; several names of one tree */
	size_t nr_below;
	bool whole;			/* every record is of the tree, whatever its path */
	__u64 without[FUSE_OPS];	/* events of the tree of operations that have no line */
};

/* Adds a path of the directory, escaped, and keeps the text. Slashes at its end are removed. */
void fuse_add_directory(struct fuse_lines *f, char *path);
void fuse_free(struct fuse_lines *f);

/* Writes the line of a record at @out. Returns its end, which is @out if it has no line. */
char *fuse_line(struct fuse_lines *f, char *out, const struct iot_fs *fs);

/* Reports the operations that have no line. */
void fuse_report(const struct fuse_lines *f, const char *trace);

#endif /* TOOL_FUSE_H */
