/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The events of a category's file, of all CPUs, in the order in which they ended.
 * Only frames with events that are still to be returned are in memory. They are few: see trace.h
 * on @until.
 */
#ifndef TOOL_TRACE_CPU_MERGE_H
#define TOOL_TRACE_CPU_MERGE_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/notes.h"
#include "trace/read.h"

#define CPU_MERGE_CPUS 65536	/* most CPUs that a trace may have */

/* A frame in memory. */
struct cpu_merge_frame {
	struct cpu_merge_frame *next;	/* next frame in the list of unused frames */
	size_t refs;			/* blocks that are not finished */
	char *data;
	size_t room;
	size_t blocks, notes_size;	/* bytes of @data that are blocks, and those behind them */
	struct notes notes;		/* filled when the first one is wanted */
	bool notes_known;
};

/* A block of events that is queued or in use. */
struct cpu_merge_block {
	struct cpu_merge_frame *frame;
	const char *records;
	size_t nr;
};

/* Events of a CPU that were recorded but cannot be read. */
struct cpu_merge_hole {
	unsigned int cpu;
	__u64 first, last;		/* seq */
	__u64 after, before;		/* ns: the events ended between these; 0: unknown */
};

/* What is left of one CPU's events. */
struct cpu_merge_cpu {
	struct cpu_merge_block *queue;
	size_t first, nr, room;
	const char *record;		/* the next record, NULL for none */
	size_t left;			/* records after that one in its block */
	__u64 end;			/* ns: when the next record's event ended */

	/* About the blocks that were scanned: */
	bool known;			/* @next is known */
	__u64 next;			/* seq that must come next */
	__u64 last_end;			/* ns: when the last record's event ended, or 0 */
	__u64 behind;			/* seq after the last that was recorded; 0: unknown */
	__u64 missing;			/* events missing before the last block, beside its gap */
};

struct cpu_merge {
	struct trace_reader reader;
	const struct iot_schema_event *event;
	size_t seq, time, latency;	/* offsets in a record */
	struct cpu_merge_cpu *cpus;
	unsigned int nr_cpus;
	unsigned int *heap;		/* CPUs that have a record, the earliest first */
	unsigned int nr_heap;
	struct cpu_merge_frame *free;
	bool begun;			/* the record at the top of the heap was returned */
	__u64 until;			/* ns: all events that ended before this were read */
	bool all;			/* all later events were read, too */
	__u64 events;
	__u64 lost;			/* events lost or overwritten before they were read */
	void (*hole)(void *data, const struct cpu_merge_hole *hole);	/* called for each hole */
	void *hole_data;
	/*
	 * Whether a frame may have a record that is wanted; NULL: each does. If it says no, the frame is
	 * not read: its events count, none of them is returned, and a hole beside it is not told.
	 */
	bool (*wants)(void *data, const struct trace_index *index);
	void *wants_data;
	__u64 skipped;			/* frames that were not read */
};

/*
 * Set @hole and @wants before the first cpu_merge_next(). Returns an exit code; errors are reported. Close
 * it in either case.
 */
int cpu_merge_open(struct cpu_merge *m, const char *directory, const char *file,
		   const struct iot_schema_event *event);
void cpu_merge_close(struct cpu_merge *m);

/* The file must have the events of the CPU from @first to the one before @behind. */
void cpu_merge_expect(struct cpu_merge *m, unsigned int cpu, __u64 first, __u64 behind);

/* The next record, valid until the next call, or NULL. */
const void *cpu_merge_next(struct cpu_merge *m);

/* The CPU of the record that cpu_merge_next() returned. */
static inline unsigned int merge_cpu_of(const struct cpu_merge *m)
{
	return m->heap[0];
}

/* A frame that is whole: blocks, and then notes. */
struct cpu_merge_whole {
	struct trace_frame frame;
	char *data;			/* @frame.size bytes; the caller frees it */
	size_t room;
	size_t blocks;			/* bytes of them that are blocks */
};

/*
 * Instead of cpu_merge_next(): the next frame of the file as it is, but that the gaps of its blocks
 * include the events that are missing before them. False at the end.
 */
bool cpu_merge_next_frame(struct cpu_merge *m, struct cpu_merge_whole *w);

/* The note of the record that cpu_merge_next() returned, or NULL. */
const char *cpu_merge_note(const struct cpu_merge *m, const void *record, size_t *length);

#endif /* TOOL_TRACE_CPU_MERGE_H */
