/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which process waited most in calls on which file, and what its requests waited for.
 *
 * Calls of category fs on files and directories are summed up by process, file and kind: reads,
 * writes, syncs, others. Those whose latencies add up to WAITS_PERCENT of the duration and
 * WAITS_LEAST at least are rows, WAITS at most, the longest first.
 *
 * Then calls and requests of category block are shown again, in the order in which they ended. A
 * request belongs to the first call of a row that it is related to (io_event.h): it completed
 * during the call, and the call's thread made it, or the call needs its data, or puts on the disk
 * what it writes or flushes. Each moment that such a request waits is divided among the
 * requests that its disk has then (blame.h). The reason is the first of these that holds:
 *
 *	small		the requests took less than WAITS_MOST of the time of the calls, which
 *			moved less than a page each, and are a thousand at least
 *	unknown		the trace has no requests, or they are sampled
 *	elsewhere	the requests took less than WAITS_MOST of the time of the calls
 *	neighbour	WAITS_MOST of the requests' wait is charged to one other process
 *	flush		WAITS_MOST of the requests' wait is that of flushes
 *	device		none of these
 *
 * Requests of a row may overlap, so their sum may exceed the time of the calls. Faults on a mapping
 * are not seen. A call sees the last WAITS_WINDOW requests; and WAITS_STEPS are looked at in all,
 * which only a trace with very many calls at a time needs.
 *
 * Memory: 65,536 rows of 200 bytes. If any is a wait: the window, 13 MB, and that of blame.h.
 */
#ifndef TOOL_TRACE_WAITS_H
#define TOOL_TRACE_WAITS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "trace/blame.h"
#include "trace/finding.h"
#include "trace/io_event.h"
#include "trace/paths.h"
#include "uapi/iotracer.h"

#define WAITS		5
#define WAITS_PERCENT	10
#define WAITS_LEAST	(100 * FINDING_MS)
#define WAITS_MOST	50	/* percent */
#define WAITS_WINDOW	65536
#define WAITS_STEPS	500000000

enum waits_kind { WAITS_READ, WAITS_WRITE, WAITS_SYNC, WAITS_OTHER, WAITS_KINDS };

enum waits_reason {
	WAITS_UNKNOWN, WAITS_SMALL, WAITS_ELSEWHERE, WAITS_NEIGHBOUR, WAITS_FLUSH, WAITS_DEVICE, WAITS_REASONS
};

struct waits_row {
	const struct source *source;
	__u64 inode, path;		/* path: if there is no inode */
	__u32 device, pid;
	enum waits_kind kind;
	char *process, *file;		/* escaped */
	struct finding_tally calls;
	__u64 duration;			/* ns that the calls are a share of */

	/* From waits_finish() on: */
	enum waits_reason reason;
	struct finding_tally requests, flushes;
	char *disk;			/* of its first request, escaped; "disks": of several; NULL: none */
	struct finding_tally charged;	/* to the culprit: time; its requests and their bytes */
	bool writes;			/* the culprit wrote more than it read */
	char *culprit;			/* "dd (733)", NULL if the reason is another one */
};

struct waits_owner {
	__u64 requests, read, written;	/* bytes */
	__u32 pid;
	char comm[IO_COMM];
};

struct waits_request {
	struct io_event event;
	size_t row;			/* WAITS: it belongs to none */
};

/* Set @names; all else is zero. */
struct waits {
	const struct paths *names;

	struct finding_events events;
	struct waits_row rows[WAITS];
	size_t nr;
	bool has_requests, sampled;	/* set before waits_finish(): the trace has category block */
	struct waits_request *window;	/* the last ones, by number */
	__u64 requests, steps;
	struct blame blame;
	struct intern owners, disks;
	struct waits_owner *owned;	/* by number; NULL before the first request */
	char seen[WAITS][IO_DISK];	/* the first disk of each row */
};

/* @record: of category fs. */
void waits_add(struct waits *w, const struct iot_fs *fs, const struct measure *m, const struct source *source);

/* All calls were added: makes the rows. @duration: ns that they are of. */
void waits_choose(struct waits *w, __u64 duration);

/* All requests, and the selected calls, in the order in which they ended. */
void waits_request(struct waits *w, const struct io_event *request);
void waits_call(struct waits *w, const struct io_event *call);
void waits_finish(struct waits *w);
void waits_free(struct waits *w);

/*
 * "postgres (412) waited 84.0 % of the time in fsync of /srv/wal: 42 calls took 18ms each".
 * @columns: most of the file's name; 0: all. The caller frees it.
 */
char *waits_sentence(const struct waits_row *row, size_t columns);

/* Why, and what to do about it. */
char *waits_reason(const struct waits_row *row);
const char *waits_advice(const struct waits_row *row);

void waits_text(const struct waits *w);
json_t *waits_json(const struct waits *w);

#endif /* TOOL_TRACE_WAITS_H */
