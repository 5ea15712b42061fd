/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records of category fs as lines of IOTraceCollector, a filesystem in userspace (FUSE) that
 * wrote a line for each operation it was asked for:
 *
 *	20181019-131104.961024:    WRITE: path=/hello/world.txt; offset=0; length_buf=13
 *
 * Lines are in the order in which operations end, but that RELEASE follows its FLUSH.
 */
#ifndef TOOL_TRACE_FUSE_H
#define TOOL_TRACE_FUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "uapi/iotracer.h"

struct paths;
struct wall_clock;

#define FUSE_OPS IOT_OPS_MAX
#define FUSE_HELD 16
#define FUSE_TIDS 256

struct fuse_directory {
	char *path;			/* escaped; "" is / */
	size_t length;
};

struct fuse_lines {
	const struct wall_clock *clock;
	const struct paths *paths;
	struct fuse_directory *below;	/* paths are relative to these; several names of one tree */
	size_t nr_below;
	bool whole;			/* every record is of the tree, whatever its path */
	__u64 without[FUSE_OPS];	/* events of the tree of operations that have no line */
	__u64 inside, elsewhere;	/* paths of lines: below the directory, and others */

	/*
	 * Since Linux 6.6 the last close() releases the file itself. Its event, the FLUSH here, then
	 * ends after the RELEASE. A RELEASE waits until the next event of its thread shows whether
	 * it belongs to such a close.
	 */
	struct fuse_held {
		struct iot_fs fs;
		unsigned int batch;
	} held[FUSE_HELD];
	size_t nr_held;
	struct iot_fs ready[FUSE_HELD + 2];	/* records whose lines are next, in order */
	size_t nr_ready, next_ready;
	unsigned int batch;
	struct fuse_closed {		/* the last event of a thread, if it was a CLOSE */
		__u32 tid, device;
		__u64 inode;
	} closed[FUSE_TIDS];
};

/* Adds a path of the directory, escaped, and keeps the text. Slashes at its end are removed. */
void fuse_add_directory(struct fuse_lines *f, char *path);
void fuse_free(struct fuse_lines *f);

/* Takes a record. After each one, call fuse_next() until there is no line. */
void fuse_take(struct fuse_lines *f, const struct iot_fs *fs);

/* Writes the next line at @out. Returns its end, which is @out if there is none now. */
char *fuse_next(struct fuse_lines *f, char *out);

/*
 * Lets go of records that wait for others: those that waited when it was called before, or with
 * @all every one, at the end. Call fuse_next() after it, too.
 */
void fuse_settle(struct fuse_lines *f, bool all);

/* Reports the operations that have no line. */
void fuse_report(const struct fuse_lines *f, const char *trace);

#endif /* TOOL_TRACE_FUSE_H */
