/* SPDX-License-Identifier: GPL-2.0 */
/* Compressing a file of a trace that is complete. */
#ifndef TOOL_TRACE_COMPRESS_H
#define TOOL_TRACE_COMPRESS_H

#include <stdbool.h>
#include <linux/types.h>

struct iot_stream_header;

/*
 * Puts a compressed file in the place of @name, and its size into @bytes. @like is what
 * its header says. @interrupted is asked now and then. When it does not come to an end,
 * for want of room, say, the file stays as it is: 0 or a negative errno.
 */
int trace_compress(const char *directory, int dir, const char *name, int level,
		   const struct iot_stream_header *like, bool (*interrupted)(void *data),
		   void *data, __u64 *bytes);

#endif /* TOOL_TRACE_COMPRESS_H */
