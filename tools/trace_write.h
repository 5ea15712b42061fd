/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writing a file of a trace: whole frames, past the page cache where the filesystem
 * can do that. A frame that cannot be written leaves nothing behind.
 */
#ifndef TOOL_TRACE_WRITE_H
#define TOOL_TRACE_WRITE_H

#include <stddef.h>

#include "trace.h"

struct trace_file {
	int fd;
	__u64 end;		/* bytes written: whole frames */
	__u64 frames;
	void *zstd;		/* NULL: not compressed */
	char *packed;		/* a frame in its compressed form */
	size_t room;
};

/* Memory that begins at a multiple of TRACE_ALIGN, in which a frame of @size bytes is made. */
char *trace_frame_alloc(size_t size);

/*
 * @name in the directory @dir; @level of zstd, 0 for no compression. 0 or a negative
 * errno.
 */
int trace_file_create(struct trace_file *f, int dir, const char *name,
		      const struct iot_stream_header *header, int level);

#define TRACE_FULL 1

/*
 * The frame in @data, from trace_frame_alloc(): size bytes behind a header, of which
 * size, events and until are set. It may take @most bytes of the file. 0, TRACE_FULL if
 * that is too little, or a negative errno; then the file is as it was.
 */
int trace_file_put(struct trace_file *f, char *data, __u64 most);

/* Puts it on the disk and closes it; @end and @frames stay. 0 or a negative errno. */
int trace_file_close(struct trace_file *f);

#endif /* TOOL_TRACE_WRITE_H */
