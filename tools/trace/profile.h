/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The access pattern of a file, from its records in order of time.
 *
 * An access is a read or write that moved bytes. In strict order it is sequential
 * if it starts where the previous access of the same level and kind ended, else
 * random; the first of a kind is neither, since nothing is known of what came before.
 *
 * Within a window of N it is sequential if one of the N accesses before it or of the
 * N after it ended where it starts. So several streams side by side, and
 * requests that overtake each other, count as sequential. The accesses of less than
 * PROFILE_PROBE bytes with which a process begins, PROFILE_PROBES at most, probe the file:
 * they, and the access after them, are not random.
 *
 * Both are counted by accesses and by bytes.
 */
#ifndef TOOL_TRACE_PROFILE_H
#define TOOL_TRACE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "uapi/iotracer.h"

#define PROFILE_KINDS 2		/* IOT_OP_READ, IOT_OP_WRITE */
#define PROFILE_PROBE 512	/* bytes */
#define PROFILE_PROBES 8	/* accesses of a process */
#define PROFILE_WINDOW 16	/* accesses, by default */

struct profile_access {
	__u64 start, end;	/* byte or sector */
	__u64 bytes;
	__u64 latency;		/* ns */
	__u32 pid;
	bool has_no_past;	/* a probe, or the access after one */
};

/* One of two parts of the accesses: the sequential ones, or the random ones. */
struct profile_part {
	__u64 accesses;
	__u64 bytes;
};

struct profile_order {
	struct profile_part sequential, random;
};

struct profile_kind {
	__u64 accesses;
	__u64 bytes;
	struct profile_order strict;
	struct profile_order window;
	struct profile_access *all;	/* in order of time, until profile_finish() */
	__u64 *latencies;		/* ns, sorted; from profile_finish() on */
	size_t room;
	__u64 latency_sum;	/* ns */
	__u64 queued;		/* asynchronous ones, whose latency is until their completion */
	__u64 submitted;	/* asynchronous ones, of which only the submission is known */
	__u64 submission_sum;	/* ns, of both */
};

struct profile_level {
	__u64 events;
	__u64 failed;		/* accesses that failed */
	__u64 empty;		/* accesses that moved nothing */
	__u64 first, last;	/* ns; times of the first and last event */
	struct profile_kind kinds[PROFILE_KINDS];
};

struct profile {
	struct profile_level levels[IOT_LEVELS];
};

/* Start from a zeroed struct, count in order of time, finish, read, free. */
void profile_count(struct profile *p, const struct iot_io *io);
/* @window: accesses before and after one that are searched */
void profile_finish(struct profile *p, size_t window);
void profile_free(struct profile *p);

/* The latency that @percent of the accesses do not exceed (nearest rank). */
__u64 profile_percentile(const struct profile_kind *kind, unsigned int percent);

#endif /* TOOL_TRACE_PROFILE_H */
