/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Joins a guest's trace with its host's: finds the calls of QEMU, and the requests of the host, that
 * served each block request of the guest.
 *
 * Times are ns since 1970, each by the clock of its own trace. The *offset* is the host's time minus
 * the guest's at the same moment. It is known only as a span, because a call that serves a request
 * begins after the guest's driver received the request, and ends before the request completes:
 *
 *	call's end - request's end <= offset <= call's begin - request's begin
 *
 * clock.c cuts the trace into windows of time, and finds for each the span that most pairs of request
 * and call allow. match.c assigns calls to requests by operation, bytes and span.
 *
 * Everything is held in memory: about 200 bytes per request of the guest, 90 per call of QEMU on the
 * images, 50 per request of the host.
 */
#ifndef TOOL_JOIN_JOIN_H
#define TOOL_JOIN_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "trace/category.h"
#include "trace/check.h"
#include "trace/paths.h"
#include "uapi/iotracer.h"
#include "vm/image.h"

#define JOIN_NONE	0xffffffffu	/* no index */
#define JOIN_COMM	16
#define JOIN_WINDOW_NS	100000000LL

/* A range of offsets of the clocks, or of time; both ends belong to it. */
struct join_span {
	__s64 lo, hi;
};

static inline bool join_span_is_empty(const struct join_span *s)
{
	return s->lo > s->hi;
}

static inline struct join_span join_span_and(struct join_span a, struct join_span b)
{
	return (struct join_span){ a.lo > b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi };
}

/* The middle of the span, which is not empty. */
static inline __s64 join_span_middle(const struct join_span *s)
{
	return s->lo + (s->hi - s->lo) / 2;
}

enum join_kind { JOIN_READ, JOIN_WRITE, JOIN_DISCARD, JOIN_ZEROES, JOIN_FLUSH, JOIN_KINDS };

enum join_call_kind { CALL_READ, CALL_WRITE, CALL_ALLOCATE, CALL_SYNC };

/* How a request was matched. */
enum join_match {
	MATCH_NOT,		/* see the reason */
	MATCH_OFFSET,		/* calls cover all of its bytes */
	MATCH_ZERO,		/* a read where the image has no data: no call is needed */
	MATCH_SIZE,		/* the image cannot be read: the only call with that size at that time */
	MATCH_ORDER,		/* a flush: the next sync */
};

enum join_reason {
	REASON_NONE,
	REASON_EARLY,		/* it began before the trace, so its start is not known */
	REASON_OUTSIDE,		/* the host's trace does not cover all of its time */
	REASON_NO_CALL,		/* no candidate covers any of its bytes */
	REASON_STEP,		/* the same, where the clocks stepped or may have stepped */
	REASON_PART,		/* calls cover only some of its bytes */
	REASON_NO_PLACE,	/* the image stores its bytes nowhere now */
	REASON_AMBIGUOUS,	/* without the image: other calls or requests fit as well */
	REASON_NO_SYNC,		/* a flush without a sync */
	JOIN_REASONS
};

/* A request of the guest. */
struct join_request {
	__s64 time;		/* of its submission */
	__s64 begin, end;	/* when the driver received it, and when it completed */
	__u64 latency, queue;
	__u64 sector, size;	/* 512 B; bytes */
	__u64 path;
	__u32 pid;
	char comm[JOIN_COMM];
	__u16 op;
	__u8 kind;		/* enum join_kind */
	__u8 match, reason;
	bool early;
	__u64 covered;		/* bytes that calls cover, for REASON_PART */
	__u32 links;		/* the first of its links, or JOIN_NONE */
	struct join_span span;	/* of the offset, that its calls allow */
};

/* A call of QEMU on one of the drive's files. */
struct join_call {
	__s64 begin, end;	/* of an asynchronous call the end is its last request's completion */
	__s64 returned;
	__u64 offset, size;	/* bytes in the file */
	__u64 inode;
	__u32 device, tid;
	__u32 file;		/* index in the files of the drive */
	__u8 kind;		/* enum join_call_kind */
	bool async;
	__u32 links;
};

/* A request of the host. */
struct join_below {
	__s64 begin, end;
	__u64 offset, size;
	__u64 inode;
	__u32 device;		/* of the file */
	__u32 tid;
};

/* A call served a request. Those of a request, and those of a call, are lists. */
struct join_link {
	__u32 request, call;
	__u32 next_of_request, next_of_call;
	bool other;		/* the call is neither its data nor its sync */
};

struct join_trace {
	const char *named;
	char *path;
	struct check check;
	struct paths names;
};

/* A file that may store the drive's data. */
struct join_file {
	char *shown;		/* its name, escaped as in traces */
	char *device;		/* another name of a block device, or NULL */
	bool found;		/* st is valid */
	struct stat st;
};

/* A range of a request, and where a layer of the image stores it. */
struct join_extent {
	__u64 guest, length;
	__u64 host, host_length;	/* the lengths differ if it is compressed */
	__u32 file, layer;
	bool compressed;
};

struct join_extents {
	struct join_extent *at;
	size_t nr, room;
	__u64 needed;		/* bytes for which the image has data, so that they need a call */
	struct join_span *needs;	/* the ranges of these bytes */
	size_t nr_needs, needs_room;
};

/* The image of the drive. */
struct join_image {
	const char *name;	/* of the drive or image, as the user named it */
	struct join_file *files;
	size_t nr_files;
	struct image_chain chain;
	__u32 *file_of_layer;
	bool raw;		/* one layer, whose offsets are the guest's plus @shift */
	__u64 shift;
	bool unknown;		/* the places of its data are not known */
};

/* Part of the guest's trace, with one span. */
struct join_window {
	size_t first, nr;	/* requests */
	__s64 time;		/* of the guest, for which the span holds */
	struct join_span span;
	size_t could;		/* requests with candidates at any time; */
	size_t asked, agreed;	/* of these, with candidates at the expected time; that allow the span */
	bool lost;		/* the clocks stepped by an unknown offset: candidates are at other times */
};

/* One clock was set, or the guest was paused. */
struct join_step {
	__s64 time, until;	/* it happened between these times of the guest */
	__s64 by;		/* ns that the host's clock is ahead by more afterwards */
};

struct join {
	struct join_trace guest, host;
	const char *disk;	/* in the guest */
	struct join_image image;
	__u64 drift;		/* bound to the drift between the clocks, ppm */
	bool has_below;		/* the host's trace has category block */
	__s64 host_begin, host_end;	/* of the host's trace; host_end is 0 if it is not known */

	struct join_request *requests;	/* by begin */
	size_t nr_requests, requests_room;
	struct join_call *calls;	/* by begin */
	size_t nr_calls, calls_room;
	struct join_below *below;	/* by begin */
	size_t nr_below, below_room;
	struct join_link *links;
	size_t nr_links, links_room;
	struct join_key *keys;		/* of the calls; see clock.c */
	size_t nr_keys;
	struct join_window *windows;
	size_t nr_windows;
	struct join_extents extents;	/* of the present request */
};

/* image.c: opens the image of a drive in the host's trace, or the one with this name. Errors are reported. */
int join_image_open(struct join *j, const char *name, const char *format);
void join_image_close(struct join_image *image);

/* Which file of the drive a record names, or JOIN_NONE. */
__u32 join_image_file(const struct join_image *image, const struct name *path, __u64 inode, __u32 device);

/* Looks up where the image stores the bytes of a request. False if that is not known. */
bool join_image_map(struct join_image *image, const struct join_request *r,
		    struct join_extents *extents);

/* load.c. Errors are reported; a gap in a trace sets its check.damaged. */
int join_open_trace(struct join_trace *t);
void join_close_trace(struct join_trace *t);
int join_load(struct join *j);

/*
 * Whether a request of the host belongs to a call. join_first_below() is the first that may; those
 * submitted after the call returned do not.
 */
bool join_is_below(const struct join_call *c, const struct join_below *b);
size_t join_first_below(const struct join *j, const struct join_call *c);

/* clock.c: computes the spans of all windows. Returns an exit code; errors are reported. */
int join_align(struct join *j);

/*
 * For steps.c. join_ask_window() narrows a window's expected span to the offsets that most of its
 * requests allow. join_find_offset() searches near @expected for an offset that the requests from
 * @first to @end allow, if they began within @limit by the host's clock. It stores time, span and the
 * number of requests that agree in @from.
 */
void join_ask_window(struct join *j, struct join_window *w);
bool join_find_offset(struct join *j, size_t first, size_t end, struct join_span limit, __s64 expected,
		      struct join_window *from);

/* steps.c: corrects the spans after a clock stepped. */
void join_follow_steps(struct join *j);

/* The step between two windows in which requests agree. False if there is none. */
bool join_step_between(const struct join *j, const struct join_window *a, const struct join_window *b,
		       struct join_step *step);

/* The span of a window at a time of the guest. */
struct join_span join_span_at(const struct join *j, const struct join_window *w, __s64 time);

/* match.c */
bool join_fits(enum join_kind kind, enum join_call_kind call);
size_t join_first_call(const struct join *j, __s64 begin);
void join_match_all(struct join *j);

/* Where the time of a request went; zeroes if no call served it. */
struct join_parts {
	__s64 begin, end;		/* of the calls, by the host's clock */
	__u64 before, host, after;	/* ns in QEMU before its calls; from the first to the last; after them */
	__u64 call, below;		/* of @host, ns in at least one call; in at least one host request */
	unsigned int calls, others, nr_below;
};

/* parts.c */
void join_parts_of(const struct join *j, const struct join_request *r, struct join_parts *parts);

/* row.c: the names of the columns, and a row at @out, which returns its end. */
const char *join_header(void);
char *join_row(const struct join *j, char *out, const struct join_request *r, bool json);

/* report.c: why a request was not matched, and the summary on stdout. */
const char *join_reason(enum join_reason reason);
void join_print(const struct join *j, size_t slowest);
void join_print_json(const struct join *j);

#endif /* TOOL_JOIN_JOIN_H */
