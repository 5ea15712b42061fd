/* SPDX-License-Identifier: GPL-2.0 */
/* Compresses a file of a trace after recording. */
#ifndef TOOL_TRACE_COMPRESS_H
#define TOOL_TRACE_COMPRESS_H

#include <stdbool.h>
#include <linux/types.h>

struct iot_stream_header;

/*
 * Replaces @name by a compressed file, whose frames hold several of the old ones where these are
 * small. Stores its size in @bytes, and the number of frames in @frames. @like is the expected
 * header. @interrupted is called before each frame; true stops the compression. Returns 0 or
 * a negative errno. On an error, for instance if there is no room, the file stays as it is.
 */
int trace_compress(const char *directory, int dir, const char *name, int level,
		   const struct iot_stream_header *like, bool (*interrupted)(void *data),
		   void *data, __u64 *bytes, __u64 *frames);

#endif /* TOOL_TRACE_COMPRESS_H */
