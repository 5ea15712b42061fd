/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The access patterns of a trace: for the reads and for the writes of each key, how their positions
 * follow each other, their sizes and their alignment.
 *
 * An access is a read or write that moved bytes at a position (position.h).
 *
 * It follows the previous access of its stream: the same kind, read or write, of the same file by the
 * same thread (fs), or of the same device (block), in the order in which they began. It is
 *
 *	sequential	if it begins where that one ended
 *	same		else, if it begins where that one began
 *	strided		else, if it is as far from that one as that one was from its own predecessor
 *	random		else
 *
 * The first of a stream has no predecessor, and is none of these.
 *
 * Requests come in the order in which they ended. They are sorted anew, PATTERN_HELD at a time: if more
 * requests than these end while one is under way, it is taken too late.
 *
 * Memory grows with the keys (600 bytes and their different sizes), and with the streams (100 bytes).
 */
#ifndef TOOL_TRACE_PATTERN_H
#define TOOL_TRACE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "trace/distribution.h"
#include "trace/intern.h"
#include "trace/key_table.h"
#include "trace/key_text.h"
#include "trace/measure.h"
#include "trace/position.h"

#define PATTERN_HELD	65536
#define PATTERN_KINDS	2		/* reads, writes */
#define PATTERN_ALIGNMENTS 4

extern const char *const pattern_kinds[PATTERN_KINDS];		/* "read", "write" */
extern const unsigned int pattern_alignments[PATTERN_ALIGNMENTS];	/* bytes */

enum pattern_order {
	PATTERN_SEQUENTIAL, PATTERN_STRIDED, PATTERN_SAME, PATTERN_RANDOM,
	PATTERN_ORDERS,
	PATTERN_FIRST = PATTERN_ORDERS,
};

extern const char *const pattern_orders[PATTERN_ORDERS + 1];

struct pattern_part {
	__u64 count, bytes;
};

struct pattern_kind {
	__u64 count, bytes;
	struct pattern_part orders[PATTERN_ORDERS + 1];		/* by enum pattern_order */
	__u64 aligned[PATTERN_ALIGNMENTS];	/* accesses whose begin and end are multiples */
	__u64 least, most;			/* bytes of one */
	__u64 usual, usual_count;		/* the most frequent size; from patterns_finish() on */
	struct distribution sizes;
};

struct pattern_row {
	__u32 key;			/* number of its key; KEY_TEXT_OTHERS */
	__u32 folded;			/* keys that the row of others is of */
	__u64 lowest, highest;		/* bytes at which accesses began */
	__u64 earliest, latest;		/* when they began, ns */
	__u64 failed, empty;		/* reads and writes that failed, or moved nothing */
	struct pattern_kind kinds[PATTERN_KINDS];
	char command[STATS_COMM];	/* by process: that of its first record */
};

enum pattern_sort { PATTERN_BY_BYTES, PATTERN_BY_COUNT, PATTERN_BY_NAME };

#define PATTERN_SORT_WORDS "bytes count name"

/* Private: an access that waits until it is its turn, and the last of a stream. */
struct pattern_access {
	__u64 time, arrival;
	__u64 start, bytes, weight;
	__u32 key, stream;
};

struct pattern_stream {
	__u64 start, end;
	__u64 distance;		/* from its predecessor, modulo 2^64 */
	bool begun, far;	/* it had an access; @distance is known */
};

struct patterns {
	struct key_table table;
	bool with_command;
	struct pattern_row *rows;	/* by number of the key, until patterns_finish() */
	size_t nr, room;
	__u64 count, failed, empty;
	__u64 unplaced;			/* reads and writes of what has no positions */

	struct positions positions;
	struct intern names;		/* what streams are of */
	struct pattern_stream *streams;	/* by number of the name */
	size_t room_streams;
	struct pattern_access *held;	/* a heap, the earliest first; NULL: events come in order */
	size_t nr_held;
};

/* @event has positions, and @keys are open for it. Free it in the end. */
void patterns_open(struct patterns *p, struct stats_keys *keys, const struct iot_schema_event *event);

/*
 * @source: what identifies the trace that the record is of in a merged one, else 0. Returns the
 * number of the record's key if it is an access, else PATTERN_LEFT_OUT.
 */
#define PATTERN_LEFT_OUT (~0U)
__u32 patterns_add(struct patterns *p, const void *record, const struct measure *m, __u64 source);

/* Sorts the rows. Those behind the first @top, which is not 0, become one, the last. */
void patterns_finish(struct patterns *p, enum pattern_sort sort, size_t top);
void patterns_free(struct patterns *p);

/*
 * The same for @nr rows that the caller knows by number, each with a stream of reads and one of
 * writes, in the order in which they began. @bytes is not 0. The rows keep their order.
 */
void patterns_open_placed(struct patterns *p, size_t nr);
void patterns_place(struct patterns *p, __u32 row, bool write, __u64 start, __u64 bytes, const struct measure *m);
void patterns_finish_placed(struct patterns *p);

/* After that: the row of each key. The caller frees it. */
__u32 *patterns_row_of(const struct patterns *p);

/* After that: as patterns_add(), but counts nothing. Where the access is. */
__u32 patterns_find(struct patterns *p, const void *record, const struct measure *m, struct position *at);

/* Of what a row has, reads and writes: its accesses and their bytes. */
struct pattern_part pattern_total(const struct pattern_row *row);

/* The accesses that have a predecessor: of these are the shares. */
struct pattern_part pattern_followers(const struct pattern_kind *kind);

#endif /* TOOL_TRACE_PATTERN_H */
