/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The slowest calls, faults and requests of a trace, and where their time went.
 *
 * First offer all events: the slowest are kept. Then show the requests and the events of the page
 * cache, each in the order in which they ended: they are related to those that were kept
 * (io_event.h). So the time that a call took does not matter, and nothing has to be remembered
 * beside what is kept.
 *
 * Each nanosecond of an event belongs to one part, and the parts add up to its latency:
 *
 *	device	at least one of its requests was in the device or its driver
 *	queue	one of its requests was made, and none was in the device
 *	cache	neither of them, and it was between the first and the last event of category cache
 *		that its thread made for its file
 *	other	the rest: nothing in the trace explains it
 *
 * Memory: a struct explained for each event that is kept, and 32 bytes at most for each of its
 * requests.
 */
#ifndef TOOL_TRACE_EXPLAIN_H
#define TOOL_TRACE_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "trace/io_event.h"
#include "trace/spans.h"

struct iot_cache;

/* Pages, by what happened to them. */
struct explain_pages {
	__u64 hit, waited, missed, dirtied, read_ahead;	/* waited: hit, but still being read */
};

struct explained {
	struct io_event event;
	struct spans requested, in_device;	/* when it had requests; when one was in the device */
	__u64 requests, bytes;			/* of them */
	__u64 related[IO_RELATIONS];		/* requests by how they belong to it */
	struct explain_pages pages;
	bool has_pages;
	__u64 pages_begin, pages_end;		/* of its first and last event of category cache */
};

struct explain_parts {
	__u64 device, queue, cache, other;	/* ns */
};

/* Set @top; all else is zero. */
struct explain {
	size_t top;			/* how many are kept, at least 1 */
	struct explained *at;
	size_t nr, room;
	__u64 offered;

	/* While requests or events of the cache are shown: */
	size_t next;			/* the next that begins */
	struct explained **running;
	size_t nr_running;
};

/* Counts an event, and returns whether to offer it: whether such a latency may be kept. */
static inline bool explain_wants(struct explain *x, __u64 latency)
{
	x->offered++;
	return x->nr < x->top || latency >= io_event_latency(&x->at[0].event);
}

/* Offers an event: it is kept if it is among the slowest so far. */
void explain_offer(struct explain *x, const struct io_event *e);

/* Call it before requests, and before events of the cache. */
void explain_begin(struct explain *x);
void explain_request(struct explain *x, const struct io_event *request);
void explain_cache(struct explain *x, const struct iot_cache *c, const struct source *source);

/* Sorts what was kept: the slowest first; of equal ones the earliest. */
void explain_finish(struct explain *x);

void explain_parts_of(const struct explained *e, struct explain_parts *parts);
void explain_free(struct explain *x);

#endif /* TOOL_TRACE_EXPLAIN_H */
