/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Accesses in the order in which they began, and what follows from that: the time between two, and the
 * length of runs. A trace has its events in the order in which they ended, and one that ended late may
 * have begun long ago. So all accesses are kept, 24 bytes each, and are sorted in place.
 *
 * A run is of accesses that follow each other: the next access of the same kind (reads or writes), of
 * the same file or device and with the same key, begins where the one before it ended. Of accesses that
 * began at the same time, the one with the lower start is the first.
 */
#ifndef TOOL_TRACE_ACCESS_H
#define TOOL_TRACE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "trace/intern.h"

/* Whose accesses a run is of. */
struct access_owner {
	__u64 inode;		/* 0: the device itself */
	__u32 device;
	__u32 source;		/* of a merged trace: devices are those of its host */
	__u32 key;
	__u32 writes;		/* 1: of writes, 0: of reads */
};

struct access {
	struct access_owner owner;
	__u64 time;		/* CLOCK_MONOTONIC ns: when it began */
	__u64 start;		/* byte */
	__u32 length;		/* bytes */
};

/* Start from a zeroed struct. */
struct accesses {
	struct access_kept {
		__u64 time, start;
		__u32 length, owner;
	} *at;
	size_t nr, room;
	struct intern owners;
};

void accesses_add(struct accesses *all, const struct access *a);
void accesses_free(struct accesses *all);

/* Takes a value of @key, whose access began at @time. */
typedef void (*access_take)(void *data, __u32 key, __u64 value, __u64 time);

/*
 * Both sort the accesses. Gaps: for each access but the first of its owner, the ns since the one before
 * it began. Runs: the bytes of each, and when its first access began.
 */
void accesses_gaps(struct accesses *all, access_take take, void *data);
void accesses_runs(struct accesses *all, access_take take, void *data);

#endif /* TOOL_TRACE_ACCESS_H */
