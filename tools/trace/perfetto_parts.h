/* SPDX-License-Identifier: GPL-2.0 */
/* What the files perfetto*.c share. The numbers are those of Perfetto's perfetto_trace.proto. */
#ifndef TOOL_TRACE_PERFETTO_PARTS_H
#define TOOL_TRACE_PERFETTO_PARTS_H

#include <stdint.h>

#include "trace/depth.h"
#include "trace/lanes.h"
#include "trace/perfetto.h"

enum {
	TRACE_PACKET = 1,

	PACKET_CLOCK_SNAPSHOT = 6, PACKET_TIMESTAMP = 8, PACKET_SEQUENCE = 10, PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12, PACKET_FLAGS = 13, PACKET_SYSTEM_INFO = 45, PACKET_CLOCK = 58,
	PACKET_DEFAULTS = 59, PACKET_TRACK = 60,

	FLAG_CLEARED = 1, FLAG_NEEDED = 2,	/* of state that packets of the sequence share */

	SNAPSHOT_CLOCK = 1, SNAPSHOT_PRIMARY = 2, CLOCK_ID = 1, CLOCK_TIME = 2,
	CLOCK_IS_REALTIME = 1, CLOCK_IS_MONOTONIC = 3,

	SYSTEM_UTSNAME = 1, SYSTEM_NAME = 17, UTSNAME_SYSNAME = 1, UTSNAME_RELEASE = 3,

	TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5,
	TRACK_COUNTER = 8, TRACK_ORDERING = 11, TRACK_RANK = 12, ORDERING_EXPLICIT = 3,
	PROCESS_PID = 1, PROCESS_NAME = 6, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5,
	COUNTER_UNIT = 3, UNIT_COUNT = 2,

	EVENT_CATEGORY = 3, EVENT_ARGUMENT = 4, EVENT_TYPE = 9, EVENT_NAME = 10, EVENT_TRACK = 11,
	EVENT_VALUE = 30, EVENT_FLOW = 47,
	TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4,

	ARGUMENT_NAME = 1, ARGUMENT_UINT = 3, ARGUMENT_INT = 4, ARGUMENT_TEXT = 6, ARGUMENT_POINTER = 7,
	ARGUMENT_TEXT_NUMBER = 17,

	INTERNED_CATEGORY = 1, INTERNED_NAME = 2, INTERNED_ARGUMENT = 3, INTERNED_TEXT = 29,
	INTERNED_NUMBER = 1, INTERNED_BYTES = 2,
};

#define PERFETTO_SEQUENCE 1	/* the number of the only sequence of packets */
#define PERFETTO_MOST_TIME INT64_MAX	/* readers have signed times */
#define PERFETTO_COMM 16
#define PERFETTO_MOST_TRACKS (1u << 20)

enum perfetto_kind {
	TRACK_OF_PROCESS,
	TRACK_OF_THREAD,
	TRACK_OF_CATEGORY,	/* operations of a thread that are not of category fs */
	TRACK_OF_DISK,
	TRACK_OF_DEPTH,		/* the counter of a disk */
	TRACK_OF_LANE,		/* behind the first of another track */
	TRACK_OF_MISSING,
};

/* The key of a track, without holes, and zeroed. */
struct perfetto_key {
	__u32 kind;
	__u32 a, b;	/* pid, tid; of a lane: number of its track, and of the lane */
	__u32 category;	/* number of the event, or 0 */
	char name[32];	/* of the disk */
};

struct perfetto_track {
	__u64 uuid;
	char comm[PERFETTO_COMM];	/* as it was described */
	struct lanes lanes;
	struct depth depth;
};

/*
 * Tracks by number, which are described when they are wanted first, or when the name of the thread
 * changed. PERFETTO_NO_TRACK if there are too many, which was reported.
 */
#define PERFETTO_NO_TRACK (~0U)
__u32 perfetto_thread(struct perfetto *p, const void *record);
__u32 perfetto_of_category(struct perfetto *p, const void *record);
__u32 perfetto_disk(struct perfetto *p, const char *name, size_t length);
__u32 perfetto_depth(struct perfetto *p, __u32 disk);
__u32 perfetto_missing(struct perfetto *p);

/* The track of a lane of another track; that itself if it is its first, which has no requests. */
__u32 perfetto_lane(struct perfetto *p, __u32 track, __u32 lane);
void perfetto_free_tracks(struct perfetto *p);

static inline __u64 perfetto_uuid(__u32 track)
{
	return track + 1;
}

/*
 * A packet: room for it in the output, and its end. @time: ns, or 0 for one that has none. Returns
 * where its content goes.
 */
char *perfetto_packet(struct perfetto *p, __u64 time);
bool perfetto_packet_end(struct perfetto *p, char *end);

/* The number of a word, which is written if it is a new one. @as: INTERNED_*. */
__u32 perfetto_word(struct perfetto *p, const char *word, unsigned int as);

/* Writes a string that later packets name by number. */
void perfetto_intern(struct perfetto *p, unsigned int as, __u64 number, const char *text,
		     size_t length);

#endif /* TOOL_TRACE_PERFETTO_PARTS_H */
