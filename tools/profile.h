/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The access pattern of a file, from its records in order of time.
 *
 * An access is a read or write that moved bytes. It is sequential if it starts
 * where the previous access of the same level and kind ended, else random; the
 * first of a kind is neither, since nothing is known of what came before.
 */
#ifndef TOOL_PROFILE_H
#define TOOL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "uapi/iotracer.h"

#define PROFILE_KINDS 2		/* IOT_OP_READ, IOT_OP_WRITE */

struct profile_kind {
	__u64 accesses;
	__u64 bytes;
	__u64 sequential;
	__u64 random;
	__u64 next;		/* where a sequential access would start: byte or sector */
	__u64 *latencies;	/* ns, of the accesses; sorted by profile_finish() */
	size_t room;
	__u64 latency_sum;	/* ns */
};

struct profile_level {
	__u64 events;
	__u64 failed;		/* with an error */
	__u64 empty;		/* moved nothing */
	__u64 first, last;	/* ns; times of the first and last event */
	struct profile_kind kinds[PROFILE_KINDS];
};

struct profile {
	struct profile_level levels[IOT_LEVELS];
};

/* Start from a zeroed struct, count in order of time, finish, read, free. */
void profile_count(struct profile *p, const struct iot_io *io);
void profile_finish(struct profile *p);
void profile_free(struct profile *p);

/* The latency that @percent of the accesses do not exceed (nearest rank). */
__u64 profile_percentile(const struct profile_kind *kind, unsigned int percent);

#endif /* TOOL_PROFILE_H */
