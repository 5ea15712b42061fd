/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The records of the running module as a source of iotracer top. They are read from the streams of
 * the categories; no file is written.
 *
 * A category that nobody has started is taken as a recorder takes it: it is started for as long as
 * this process reads it, and its settings are put back in the end. If the process is killed, the
 * kernel closes the streams, and the module stops the category. One that is traced already is only
 * read, as it is set: what its filter leaves out is not seen, and it runs on.
 */
#ifndef TOOL_TOP_LIVE_H
#define TOOL_TOP_LIVE_H

#include "module/control.h"
#include "module/stream.h"
#include "top/source.h"
#include "trace/select.h"

struct top_live_part {
	bool is_shared;		/* traced by somebody else */
	struct stream stream;
	struct select select;	/* conditions, for what the module's filter does not do */
	unsigned int pid, time, latency;	/* offsets in a record */
	__u64 gaps, missed;	/* up to the last interval */
};

/* Set before top_live_open(): the first part. */
struct top_live {
	struct top_source source;
	const struct select *select;	/* conditions of --filter; none if @nr is 0 */
	const struct category *chosen[TOP_PARTS];	/* by --categories */
	size_t nr_chosen;		/* 0: those that views need */
	__u64 sample;			/* record one event in N; 0: as many as @percent allows */
	double percent;			/* of a processor that this program may cost */

	struct top_names names;
	struct top_live_part parts[TOP_PARTS];
	struct control controls[TOP_PARTS];
	struct records batch;
	__u64 sampled;			/* one event in N at present */
	__u64 begin;			/* CLOCK_MONOTONIC ns: only events that ended later are shown */
	__u64 cpu, wall;		/* ns: processor time and time when the cost was looked at last */
	__u64 records;			/* that were read since */
};

/*
 * Starts what is needed for the view. Returns an exit code; errors are reported. Close it in either
 * case.
 */
int top_live_open(struct top_live *l, const struct top_view *view);
void top_live_close(struct top_live *l);

#endif /* TOOL_TOP_LIVE_H */
