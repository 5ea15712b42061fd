/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The events of a category's file, of all CPUs, in the order in which they ended.
 * Held in memory: a frame of each CPU, and 8 bytes for each frame that is known and
 * not begun, of which there are few (see trace.h on @until).
 */
#ifndef TOOL_MERGE_H
#define TOOL_MERGE_H

#include <stdbool.h>
#include <stddef.h>

#include "trace_read.h"

/* What is left of one CPU. */
struct merge_cpu {
	__u64 *queue;			/* frames not begun: where they stand */
	size_t first, nr, room;
	char *data;			/* the frame begun */
	size_t data_room;
	const char *record;		/* its next record, NULL for none */
	size_t left;			/* records of the block behind that one */
	const char *block;		/* the next block of the frame */
	size_t blocks_left;		/* bytes from there to the notes */
	const char *notes;
	size_t notes_size;
	__u64 end;			/* ns: when the next record's event ended */
	__u64 lost;			/* events that are missing */
};

struct merge {
	struct trace_reader reader;
	const struct iot_schema_event *event;
	size_t seq, time, latency;		/* offsets in a record */
	struct merge_cpu *cpus;
	unsigned int nr_cpus;
	unsigned int *heap;		/* CPUs that have a record, the earliest first */
	unsigned int nr_heap;
	unsigned int current;		/* the one that merge_next() took from */
	bool begun;
	__u64 until;			/* events before that are known */
	bool all;			/* and all after it, too */
	__u64 events;
};

/* An exit code; what is wrong was said. Close it in either case. */
int merge_open(struct merge *m, const char *directory, const char *file,
	       const struct iot_schema_event *event);
void merge_close(struct merge *m);

/* The next record, valid until the next call, or NULL. */
const void *merge_next(struct merge *m);

/* The note of the record that merge_next() returned, or NULL. */
const char *merge_note(const struct merge *m, const void *record, size_t *length);

/* Events that are missing, on all CPUs. */
__u64 merge_lost(const struct merge *m);

#endif /* TOOL_MERGE_H */
