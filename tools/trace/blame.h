/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whose requests were in a device while whose requests waited.
 *
 * A request waits from when it was made until it completes. Each moment of that is charged to the
 * owners of the requests that the same disk has then, the same share for each request. If the
 * waiting request is one of them, its share is charged to its own owner, as are those of the
 * owner's other requests. If no request is in the device, the moment is charged to nobody: the
 * request waits for something else than a busy device, as the scheduler, a plug or a limit. So
 * what is charged for a victim adds up to the latencies of its requests, to the nanosecond.
 *
 * A request is in the device for the last device_latency nanoseconds before it completes. Shares
 * are rounded to whole nanoseconds, whenever a request comes or goes.
 *
 * Requests arrive in the order in which they completed, and are sorted by when they were made in
 * a window of BLAME_WINDOW requests. The part of a request that is older than the window, or that
 * comes about when more than BLAME_WINDOW requests are under way, is not divided, and is counted.
 *
 * Memory: 80 MB at most, whatever the trace has. Owners are numbered as they come; those from
 * BLAME_OWNERS - 1 on share a number.
 */
#ifndef TOOL_TRACE_BLAME_H
#define TOOL_TRACE_BLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define BLAME_OWNERS	1024
#define BLAME_OTHERS	(BLAME_OWNERS - 1)	/* the owner of what is not told apart */
#define BLAME_DISKS	256
#define BLAME_WINDOW	(1u << 20)

struct blame_request {
	__u64 begin, issued, end;	/* ns; issued == end: it was never in the device */
	__u16 owner;			/* less than BLAME_OWNERS */
	__u16 disk;			/* less than BLAME_DISKS */
	bool victim;			/* its wait is divided; else it is only a culprit */
	bool inside;			/* in the device now; false at first */
};

/* What a victim waited, in ns. */
struct blame_victim {
	__u64 requests;
	__u64 wait;			/* nobody + undivided + what is charged to owners */
	__u64 nobody, undivided;
};

struct blame_heap {
	struct blame_request *at;
	size_t nr, room;
};

struct blame_disk;

struct blame {
	struct blame_victim victims[BLAME_OWNERS];
	__u64 *charged;			/* [victim * BLAME_OWNERS + culprit] */
	struct blame_disk *disks[BLAME_DISKS];
	struct blame_heap coming, live;	/* not begun, by begin; begun, by their next step */
	__u64 now;			/* all before it is divided */
};

/* Start from a zeroed struct. */
void blame_add(struct blame *b, const struct blame_request *r);

/* Divides what is left. */
void blame_finish(struct blame *b);
void blame_free(struct blame *b);

/* What is charged to a culprit for a victim, ns; from blame_finish() on. */
__u64 blame_charged(const struct blame *b, unsigned int victim, unsigned int culprit);

/* Moves what owner @from waited, and what is charged to it, to owner @to. */
void blame_fold(struct blame *b, unsigned int from, unsigned int to);

#endif /* TOOL_TRACE_BLAME_H */
