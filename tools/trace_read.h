/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading a file of a trace, frame by frame. What is damaged is said on standard error
 * and passed over.
 */
#ifndef TOOL_TRACE_READ_H
#define TOOL_TRACE_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "trace.h"

struct trace_reader {
	char *name;		/* for messages */
	int fd;
	struct iot_stream_header header;
	__u64 at;		/* where the next frame begins */
	__u64 size;		/* of the file, when it was opened */
	__u64 number;		/* of the next frame */
	__u64 frames;		/* whole ones that were loaded */
	bool damaged;		/* not everything is as it was written */
	char *packed;
	size_t room;
};

/*
 * @like is what the header has to say: layout, event, record_size, cpus; it stands in for
 * a header that is damaged. An exit code; what is wrong was said. Close it in either case.
 */
int trace_reader_open(struct trace_reader *r, const char *directory, const char *file,
		      const struct iot_stream_header *like);
void trace_reader_close(struct trace_reader *r);

/*
 * The header of the next frame that has a whole one, and where it stands; its content is
 * passed over. False at the end.
 */
bool trace_reader_next(struct trace_reader *r, struct trace_frame *frame, __u64 *at);

/*
 * The content of the frame at @at, into @data, which grows to @room. False, and damaged,
 * when it is not what was written.
 */
bool trace_reader_load(struct trace_reader *r, __u64 at, char **data, size_t *room,
		       struct trace_frame *frame);

/* What was read of the frame at @at makes no sense. */
void trace_reader_damaged(struct trace_reader *r, __u64 at, const struct trace_frame *frame);

/*
 * At the end: compares what was read with what metadata.json tells. False, and damaged,
 * when that differs.
 */
bool trace_reader_check(struct trace_reader *r, __u64 frames, __u64 bytes);

#endif /* TOOL_TRACE_READ_H */
