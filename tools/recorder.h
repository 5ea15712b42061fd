/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From the module's streams into the files of a trace.
 *
 * What is read of a stream is kept until there is half a megabyte of it, or it is
 * half a second old, and then written as frames, one a CPU; before it the paths that
 * are new, for records that are read name paths that were known before.
 */
#ifndef TOOL_RECORDER_H
#define TOOL_RECORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "anonymize.h"
#include "category.h"
#include "control.h"
#include "trace_write.h"

/* A block in the buffer, and the notes that belong to it. */
struct recorder_block {
	struct iot_block head;
	size_t at, length;
	size_t note, note_length;
	bool added;		/* to a frame */
};

/* A stream: of a category, or of paths. */
struct recorder_stream {
	const struct category *category;	/* NULL: paths */
	const struct iot_schema_event *event;
	int fd;
	struct iot_stream_header header;
	char *data;
	size_t size, fill;
	size_t whole;			/* bytes of @fill that are whole blocks, or records */
	__u64 since;			/* ns: when the first of them came */
	__u64 until, drained;		/* ns: all that ended before is written; read */
	struct recorder_block *blocks;
	size_t nr_blocks, room_blocks;
	struct iovec *parts;		/* of one frame */
	size_t room_parts;
	char *notes;
	size_t used_notes;
	struct trace_writer writer;
	char *file;			/* its name */
	__u64 events, lost;		/* or paths; written, and missing before them */
	__u64 *lost_by_cpu;
	__u64 next_path;
};

struct recorder {
	int dir;
	int level;			/* of compression */
	__u64 limit;			/* bytes, 0: none */
	const struct anonymizer *anonymizer;	/* NULL: names stay */
	struct recorder_stream paths;
	struct recorder_stream *streams;
	size_t nr_streams;
	bool full;			/* the limit is reached */
	char *error;			/* why recording had to end, or NULL */
	struct hidden_comm *comms;
};

/*
 * Opens streams and files in the directory r->dir. What is told as missing in the
 * first read is not ours. An exit code; what is wrong was said. Finish to have
 * it on the disk; close it in either case.
 */
int recorder_open(struct recorder *r, const struct category *const *chosen, size_t nr);
void recorder_finish(struct recorder *r);
void recorder_close(struct recorder *r);

/*
 * Takes what there is now; @last: until there is nothing more, and writes it. False
 * when there is an error, or the limit is reached. @much: it was so much that one
 * had better look again at once.
 */
bool recorder_drain(struct recorder *r, bool last, bool *much);

__u64 recorder_bytes(const struct recorder *r);
__u64 recorder_events(const struct recorder *r);
__u64 recorder_lost(const struct recorder *r);

#endif /* TOOL_RECORDER_H */
