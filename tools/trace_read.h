/* SPDX-License-Identifier: GPL-2.0 */
/* Reading a file of a trace, frame by frame. */
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
	bool cut;		/* it ends within a frame, or is damaged from there */
	char *packed;
	size_t room;
};

/* @layout: IOT_LAYOUT_*. An exit code; what is wrong was said. Close it in either case. */
int trace_reader_open(struct trace_reader *r, const char *directory, const char *file,
		      unsigned int layout);
void trace_reader_close(struct trace_reader *r);

/*
 * The next whole frame's header, and where it stands; its content is passed over.
 * False at the end.
 */
bool trace_reader_next(struct trace_reader *r, struct trace_frame *frame, __u64 *at);

/*
 * The content of the frame at @at, into @data, which grows to @room. False, and cut, when it
 * is damaged.
 */
bool trace_reader_load(struct trace_reader *r, __u64 at, char **data, size_t *room,
		       struct trace_frame *frame);

/* What was read of the frame at @at makes no sense: the file ends there. */
void trace_reader_damaged(struct trace_reader *r, __u64 at);

/* Says that the trace was cut off, if it was. */
void trace_reader_report(const struct trace_reader *r);

#endif /* TOOL_TRACE_READ_H */
