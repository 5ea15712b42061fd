/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Copies the module's streams into the files of a trace.
 *
 * Data of a stream is gathered until half a chunk is full, or for half a second, and
 * then given to the writer as a frame. New paths are read and given to the writer before the
 * frame, since records only name paths that exist already.
 */
#ifndef TOOL_RECORD_RECORDER_H
#define TOOL_RECORD_RECORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/busiest.h"
#include "record/receipt_parts.h"
#include "record/writer.h"
#include "trace/anonymize.h"
#include "trace/category.h"

/* The state of reading one CPU's events. */
struct recorder_cpu {
	__u64 read;			/* ns: all events that ended before this were read */
	bool seen;			/* it had a block in this turn */
	bool begun;			/* an event that ended in the window was read */
};

/* A stream: of a category, or of paths. */
struct recorder_stream {
	const struct category *category;	/* NULL: paths */
	const struct iot_schema_event *event;
	size_t op, comm, pid, result, time, latency, path;	/* offsets in a record */
	bool has_path;
	int fd;
	struct iot_stream_header header;
	struct writer_file file;
	struct chunk *chunk;		/* the data that is gathered */
	size_t fill;			/* bytes that were read into it */
	size_t whole;			/* of these, bytes of whole blocks or records */
	__u64 events;			/* events in the whole blocks */
	__u64 since;			/* ns: when the first of them was read */
	__u64 until;			/* ns: all events that ended before this are written */
	__u64 begin, end;		/* ns: of the window, by the end of events; 0: no limit */
	__u64 outside;			/* events that were left out */
	struct recorder_cpu *cpus;
	bool marked;			/* a turn of the CPUs began with @mark */
	unsigned int mark;
	__u64 mark_time;		/* ns */
	char *notes;
	size_t used_notes;
	bool listing;			/* paths: has not reached the end of the module's table yet */
	__u64 next_path;
	char *scratch;			/* paths as they were read */
	size_t raw;			/* bytes of paths in @scratch */
};

struct recorder {
	int dir;
	int level;			/* level of compression, 0: none */
	__u64 limit;			/* bytes, 0: none */
	__u64 chunks_of;		/* bytes of which a frame is a small part; 0: @limit */
	const struct anonymizer *anonymizer;	/* NULL: names are not hashed */
	struct receipt *receipt;	/* sums the records, by index of the stream */
	struct busiest *busiest;	/* NULL: the busiest files are not shown */
	struct writer writer;
	struct recorder_stream paths;
	struct recorder_stream *streams;
	size_t nr_streams;
	char *error;			/* why recording had to end, or NULL */
	struct hidden_comm *comms;
};

/*
 * Opens the streams, and creates the files in the directory r->dir. Events that the first
 * read reports as missing do not count. Returns an exit code; errors are reported. Close it
 * in either case.
 */
int recorder_open(struct recorder *r, const struct category *const *chosen, size_t nr);

/*
 * Continues in new files, in the directory r->dir, which the caller has changed: with the events
 * that end from now on, and the paths that they may have. Events that ended before are in the old
 * files, which are complete and closed. @done is called in between, while the counts are still
 * those of the old files. False after an error.
 */
bool recorder_next(struct recorder *r, void (*done)(void *data), void *data);

/* Waits until all gathered data is on disk, or sets r->error. */
void recorder_finish(struct recorder *r);
void recorder_close(struct recorder *r);

/*
 * Reads the available data. @last: reads until nothing is left, and gives it to the writer. False
 * after an error, or if the limit is reached. @much: a lot was read, so the caller should read
 * again at once.
 */
bool recorder_drain(struct recorder *r, bool last, bool *much);

/* After an error of a stream: gives the data gathered before it to the writer. */
void recorder_rescue(struct recorder *r);

__u64 recorder_bytes(const struct recorder *r);
__u64 recorder_events(const struct recorder *r);
__u64 recorder_lost(const struct recorder *r);

#endif /* TOOL_RECORD_RECORDER_H */
