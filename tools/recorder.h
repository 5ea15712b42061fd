/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From the module's streams into the files of a trace.
 *
 * What is read of a stream is gathered until half a chunk is full, or for half a
 * second, and then given to the writer as a frame; before it the paths that are new,
 * for records that were read name paths that were known before.
 */
#ifndef TOOL_RECORDER_H
#define TOOL_RECORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "anonymize.h"
#include "category.h"
#include "writer.h"

/* What is known of one CPU's events. */
struct recorder_cpu {
	__u64 read;			/* ns: all that ended before was read */
	bool seen;			/* it had events in this turn */
};

/* A stream: of a category, or of paths. */
struct recorder_stream {
	const struct category *category;	/* NULL: paths */
	const struct iot_schema_event *event;
	size_t op, comm, pid, result, time, latency;	/* offsets in a record */
	int fd;
	struct iot_stream_header header;
	struct writer_file file;
	struct chunk *chunk;		/* what is gathered */
	size_t fill;			/* bytes that were read into it */
	size_t whole;			/* of these whole blocks, or records */
	__u64 events;			/* of these */
	__u64 since;			/* ns: when the first of them came */
	__u64 until;			/* ns: all that ended before is written */
	struct recorder_cpu *cpus;
	bool marked;			/* a turn of the CPUs began with @mark */
	unsigned int mark;
	__u64 mark_time;		/* ns */
	char *notes;
	size_t used_notes;
	__u64 next_path;
	char *scratch;			/* paths as they were read */
	size_t raw;			/* bytes of these */
};

struct recorder {
	int dir;
	int level;			/* of compression */
	__u64 limit;			/* bytes, 0: none */
	const struct anonymizer *anonymizer;	/* NULL: names stay */
	struct writer writer;
	struct recorder_stream paths;
	struct recorder_stream *streams;
	size_t nr_streams;
	char *error;			/* why recording had to end, or NULL */
	struct hidden_comm *comms;
};

/*
 * Opens streams, and makes files in the directory r->dir. What is told as missing in the
 * first read is not ours. An exit code; what is wrong was said. Close it in either case.
 */
int recorder_open(struct recorder *r, const struct category *const *chosen, size_t nr);

/* All that was gathered is on the disk, or there is an error. */
void recorder_finish(struct recorder *r);
void recorder_close(struct recorder *r);

/*
 * Takes what there is now; @last: until there is nothing more, and hands it to the
 * writer. False when there is an error, or the limit is reached. @much: it was so
 * much that one had better look again at once.
 */
bool recorder_drain(struct recorder *r, bool last, bool *much);

/* After an error of a stream: what was gathered before it goes to the writer. */
void recorder_rescue(struct recorder *r);

__u64 recorder_bytes(const struct recorder *r);
__u64 recorder_events(const struct recorder *r);
__u64 recorder_lost(const struct recorder *r);

#endif /* TOOL_RECORDER_H */
