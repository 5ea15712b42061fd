/* SPDX-License-Identifier: GPL-2.0 */
/* Where exported rows go: standard output, or files that rotate. */
#ifndef TOOL_TRACE_OUTPUT_H
#define TOOL_TRACE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "trace/row.h"

struct output {
	const char *directory;	/* NULL: standard output */
	const char *category;
	const char *suffix;	/* "csv", "json" */
	const char *name;	/* of the file in @directory; NULL: of category, time and suffix */
	bool gzip;
	__u64 rotate;		/* rows per file; 0: all */

	int dir;		/* directory of the files; -1: not opened yet */
	int fd;			/* -1: no file is open */
	void *compressed;	/* gzFile */
	char *path;		/* path of the open file */
	char *data;		/* rows that are not written yet */
	size_t used;
	__u64 rows;		/* rows in the open file */
	__u64 last;		/* ms: the time in the name of the last file */
	bool failed;		/* a write failed, which was reported */
};

/* Writes all bytes to a file that blocks. False if that failed, with errno set. */
bool output_write(int fd, const char *data, size_t size);

void output_open(struct output *o);

/* Whether the next row begins a file; if so, call output_begin() first. */
static inline bool output_is_full(const struct output *o)
{
	return o->fd < 0 || (o->rotate && o->rows >= o->rotate);
}

/* Begins a file that is named by @time, CLOCK_REALTIME ns. False if that failed. */
bool output_begin(struct output *o, __u64 time);

bool output_flush(struct output *o);

/* Begins the file @name in the directory. False if that failed. */
bool output_begin_named(struct output *o, const char *name);

/* Room for a row; output_put() takes the end of the row. */
static inline char *output_row(struct output *o)
{
	return o->data + o->used;
}

#define OUTPUT_CHUNK (256 * 1024)

static inline bool output_put(struct output *o, const char *end)
{
	o->used = end - o->data;
	o->rows++;
	return o->used < OUTPUT_CHUNK || output_flush(o);
}

/* A text, or bytes, of ROW_MAX bytes at most. False if that could not be written. */
bool output_bytes(struct output *o, const char *bytes, size_t length);
bool output_text(struct output *o, const char *text);

/* False if something could not be written. */
bool output_close(struct output *o);

#endif /* TOOL_TRACE_OUTPUT_H */
