/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the records of a stream of blocks, and their paths, for iotracer log. */
#ifndef TOOL_MODULE_BLOCKS_H
#define TOOL_MODULE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

#include "module/stream.h"
#include "trace/category.h"
#include "trace/paths.h"

struct blocks {
	const struct category *category;	/* whose events they are */
	const char *target;	/* whose stream it is: directory, processes; NULL: the category's */
	struct stream stream;	/* its descriptor, event and subject are used */
	int paths;		/* descriptor */
	struct paths names;	/* the paths that were read */
	char *data;		/* memory for one read, or a header */
	size_t left;		/* bytes after the header of the stream that were read with it */
	char *text;		/* memory for one read of paths */
	size_t text_left;
	bool begun;		/* the blocks of the first read were taken */
	__u64 before;		/* events overwritten or lost before the stream was opened */
	__u64 gaps;		/* events overwritten or lost after that */
};

/*
 * Opens the stream of the category, or if @target is not NULL of that target, which messages call
 * @subject. Returns an exit code; errors are reported. Close it in either case.
 */
int blocks_open(struct blocks *b, const struct category *category, const char *target,
		const char *subject);
void blocks_close(struct blocks *b);

/*
 * Appends records until the end of the stream, or until there are about @most, and adds
 * the paths that they name. Returns 0 or a negative errno: -EIO means that the module
 * was unloaded or the target removed.
 */
int blocks_read(struct blocks *b, struct records *r, size_t most);

/*
 * Forgets all paths, and reads those that the module has now: those of the events to come. Paths of
 * earlier events may be among them. Bounds the memory of a reader that reads for days. Returns 0 or
 * a negative errno.
 */
int blocks_list_paths(struct blocks *b);

/* Sorts records by the time when the event ended, as in the module's own log. */
void blocks_sort(const struct blocks *b, struct records *r);

/* Returns how many events could not be read; exact if nothing is recorded meanwhile. */
__u64 blocks_missing(const struct blocks *b, bool followed);

#endif /* TOOL_MODULE_BLOCKS_H */
