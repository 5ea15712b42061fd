/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads a file of a trace, frame by frame. What is damaged is reported and skipped.
 */
#ifndef TOOL_TRACE_READ_H
#define TOOL_TRACE_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/trace.h"

struct trace_reader {
	char *name;		/* for messages */
	int fd;
	struct iot_stream_header header;
	__u64 at;		/* where the next frame begins */
	__u64 size;		/* of the file, when it was opened */
	__u64 number;		/* number of the next frame */
	__u64 frames;		/* intact frames that were loaded */
	bool damaged;		/* not everything is as it was written */
	bool quiet;		/* set by the caller: an earlier reader reported it */
	__u64 damages;		/* reports of damage */
	char *packed;
	size_t room;
	char *transposed;	/* a frame's content as it was compressed */
	size_t transposed_room;
};

/* Whether this tool reads traces of streams of that version and schema. */
bool trace_reader_knows(__u64 version, __u64 schema);

/*
 * @like is what the header has to match: layout, event, record_size, and cpus as a maximum.
 * It replaces a damaged header. Returns an exit code; errors are reported. Close it in
 * either case.
 */
int trace_reader_open(struct trace_reader *r, const char *directory, const char *file,
		      const struct iot_stream_header *like);
void trace_reader_close(struct trace_reader *r);

/*
 * Finds the next frame that has an intact header. Returns the header and its position in the
 * file, and skips the content. False at the end.
 */
bool trace_reader_next(struct trace_reader *r, struct trace_frame *frame, __u64 *at);

/*
 * Loads the content of the frame at @at into @data, which has @room bytes and grows if
 * needed. If the content is not what was written, sets r->damaged and returns false.
 */
bool trace_reader_load(struct trace_reader *r, __u64 at, char **data, size_t *room,
		       struct trace_frame *frame);

/* Reports the frame at @at as damaged: its content, which was loaded, makes no sense. */
void trace_reader_damaged(struct trace_reader *r, __u64 at, const struct trace_frame *frame);

/*
 * Call it at the end: compares what was read with the counts of metadata.json. If they
 * differ, sets r->damaged and returns false.
 */
bool trace_reader_check(struct trace_reader *r, __u64 frames, __u64 bytes);

#endif /* TOOL_TRACE_READ_H */
