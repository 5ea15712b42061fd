/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes a file of a trace: whole frames, past the page cache if the filesystem supports
 * that. A frame that cannot be written leaves nothing in the file.
 */
#ifndef TOOL_TRACE_WRITE_H
#define TOOL_TRACE_WRITE_H

#include <stddef.h>

#include "trace/frame_index.h"
#include "trace/trace.h"

struct trace_file {
	int fd;
	__u64 end;		/* bytes written: whole frames */
	__u64 frames;
	void *zstd;		/* NULL: not compressed */
	char *packed;		/* a frame in its compressed form */
	size_t room;
	struct frame_indexer indexer;
	size_t record;		/* size of a record; 0: the content is no records */
	char *transposed;	/* a frame's content, to be compressed */
};

/* Allocates memory for a frame with @size bytes of content, aligned to TRACE_ALIGN. */
char *trace_frame_alloc(size_t size);

/*
 * Creates @name in the directory @dir. @level is that of zstd, 0 for no compression.
 * Returns 0 or a negative errno.
 */
int trace_file_create(struct trace_file *f, int dir, const char *name,
		      const struct iot_stream_header *header, int level);

#define TRACE_FULL 1

/*
 * Writes the frame in @data, from trace_frame_alloc(): a header of which size, events and
 * until are set, and size bytes of content. It may take @most bytes of the file. Returns 0,
 * TRACE_FULL if that is too little, or a negative errno. Unless it returns 0, the file is
 * unchanged.
 */
int trace_file_put(struct trace_file *f, char *data, __u64 most);

/* Syncs the file and closes it; @end and @frames stay. Returns 0 or a negative errno. */
int trace_file_close(struct trace_file *f);

#endif /* TOOL_TRACE_WRITE_H */
