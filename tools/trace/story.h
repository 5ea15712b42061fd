/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One I/O and what belongs to it, from the call down to the disk, and from a request up to its
 * calls.
 *
 * Of a call or page fault, the *subject*, the steps are: what its thread did to pages of its file
 * meanwhile; its requests (io_event.h); and of a buffered write also what happened to its bytes
 * later: when the writeback of its pages began and ended, and the first requests that were made
 * after the call began and that wrote bytes of its range which none before them wrote.
 *
 * Of a request the steps are: the last buffered write to its range that began before it was made,
 * whose bytes it writes; and the calls and faults that waited for it.
 *
 * *Neighbours* are the other requests that were under way at some time between the begin and the
 * end of the subject: on its disks, or if it has no request, on any disk of its machine.
 *
 * Memory is bounded: the first STORY_REQUESTS requests and the first STORY_CALLS calls that
 * waited are kept, and neighbours of STORY_NEIGHBOURS processes and disks. The others are
 * counted.
 */
#ifndef TOOL_TRACE_STORY_H
#define TOOL_TRACE_STORY_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "trace/explain.h"
#include "trace/io_event.h"
#include "trace/spans.h"

#define STORY_REQUESTS		100
#define STORY_CALLS		20
#define STORY_NEIGHBOURS	256
#define STORY_OPS		10	/* of category cache */

/* How a step belongs to the subject, beside enum io_relation. */
enum story_relation { STORY_LATER = IO_RELATIONS, STORY_WRITER, STORY_SUBJECT, STORY_RELATIONS };

extern const char *const story_relation_names[STORY_RELATIONS];

struct story_io {
	struct io_event event;
	unsigned int relation;	/* enum io_relation or enum story_relation */
};

/* What happened to pages, by operation. */
struct story_pages {
	__u64 events, pages;
	__u64 first, last;	/* ns */
};

struct story_neighbour {
	char disk[IO_DISK];
	__u32 pid;		/* whom the requests are for */
	char comm[IO_COMM];
	__u64 requests, bytes;
	__u64 overlap;		/* ns in common with the subject, summed up over the requests */
};

struct story {
	struct explain explain;	/* of the subject alone */
	struct io_event subject;

	struct story_io requests[STORY_REQUESTS], calls[STORY_CALLS];
	size_t nr_requests, nr_calls;
	__u64 more_requests, more_calls;
	struct story_io writer;	/* its category is NULL if there is none */
	struct story_pages pages[STORY_OPS];
	struct spans written;	/* bytes of the subject that later requests wrote */
	struct story_neighbour neighbours[STORY_NEIGHBOURS];
	size_t nr_neighbours;
	struct story_neighbour further;	/* those beyond */
};

void story_begin(struct story *s, const struct io_event *subject);

/*
 * Show all calls and faults if the subject is a request; then all requests; then all events of the
 * cache.
 */
void story_call(struct story *s, const struct io_event *call);
void story_request(struct story *s, const struct io_event *request);
void story_page(struct story *s, const struct iot_cache *page, const struct source *source);

/* Leaves out neighbours on other disks than the subject's, and sorts them: the busiest first. */
void story_finish(struct story *s);
void story_free(struct story *s);

#endif /* TOOL_TRACE_STORY_H */
