/* SPDX-License-Identifier: GPL-2.0 */
/* The binary stream of a category or a target: its records, their paths, and what is missing. */
#ifndef TOOL_MODULE_STREAM_H
#define TOOL_MODULE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "core/schema.h"
#include "trace/category.h"
#include "trace/paths.h"

/* Records of one event, in one piece of memory. */
struct records {
	unsigned char *data;
	size_t nr;
	size_t room;
};

/* A file that is read in parts. */
struct stream_file {
	int fd;			/* -1: not open */
	char *data;		/* memory for one read */
	size_t left;		/* bytes in @data that were read and are not used yet */
};

struct stream {
	const char *subject;	/* for messages: what the user named */
	const char *target;	/* name of the target, NULL if the stream is a category's */
	const struct category *category;	/* whose events they are; NULL: event io, of a file or device */
	const struct iot_schema_event *event;
	__u64 t0;		/* CLOCK_MONOTONIC ns */
	struct stream_file blocks, paths;	/* records of event io name no paths */
	struct paths names;	/* the paths that were read */
	bool foreign;		/* it is the stream of another version of the module */
	bool begun;		/* the blocks of the first read were taken */
	bool started;		/* @first is set */
	__u64 first;		/* event io: seq of the oldest record when the stream was opened */
	__u64 before;		/* not event io: events overwritten or lost before the stream was opened */
	__u64 gaps;		/* events overwritten or lost after that */
};

/* One that is not open, and may be closed. */
#define STREAM_CLOSED { .blocks.fd = -1, .paths.fd = -1 }

/*
 * Opens the stream of the category, or if @target is not NULL of that target, which messages call
 * @subject. A target's @category is NULL if its events may be of io or of fs. Returns an exit code;
 * errors are reported. Close the stream in either case.
 */
int stream_open(struct stream *s, const struct category *category, const char *target,
		const char *subject);
void stream_close(struct stream *s);

/* Reports why a read failed: @err, a negative errno. Returns an exit code. */
int stream_explain(const struct stream *s, int err);

/*
 * Appends records until the end of the stream, or until there are about @most, and adds the paths
 * that they name. Returns 0 or a negative errno: -EIO means that the module was unloaded or the
 * target removed.
 */
int stream_read(struct stream *s, struct records *r, size_t most);

/*
 * Forgets all paths, and reads those that the module has now: those of the events to come. Paths of
 * earlier events may be among them. Bounds the memory of a reader that reads for days. Returns 0 or
 * a negative errno.
 */
int stream_list_paths(struct stream *s);

/*
 * Sorts by the time when events began, or for a category, a directory or processes when they ended,
 * as in the module's own log. For equal times by seq.
 */
void stream_sort(const struct stream *s, struct records *r);

/* Sorts by the time when events began, whatever they are of. */
void stream_sort_by_begin(const struct stream *s, struct records *r);

/*
 * Returns how many events can no longer be read: with @followed of those since the stream was
 * opened and before, else since the last reset. Call it after reading; exact if nothing is recorded
 * meanwhile.
 */
__u64 stream_missing(const struct stream *s, bool followed);

const void *records_at(const struct stream *s, const struct records *r, size_t i);
void records_free(struct records *r);

#endif /* TOOL_MODULE_STREAM_H */
