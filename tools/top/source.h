/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the records of iotracer top come from: the running module (live.h), or a trace
 * (cmd/top_trace.h).
 */
#ifndef TOOL_TOP_SOURCE_H
#define TOOL_TOP_SOURCE_H

#include <stdbool.h>

#include "top/window.h"

struct top_source {
	struct top_part parts[TOP_PARTS];
	size_t nr;
	struct top_names *names;	/* NULL: of a trace */
	bool is_live;
	bool at_end;			/* the trace has no later intervals */
	const char *trace;		/* as it was named; NULL: of the module */
	char note[160];			/* what the user is to know of the source, or "" */

	/*
	 * Live: adds the records that are there, and returns; the window is as long as the caller
	 * waits before it ends it. Else adds those of the interval that begins at w->begin and has
	 * @ns. Returns an exit code; errors are reported.
	 */
	int (*fill)(struct top_source *s, struct top_window *w, __u64 ns);

	/*
	 * The window has ended, and no window is open: completes its basis, and prepares for the
	 * next one.
	 */
	void (*turn)(struct top_source *s, struct top_window *w);

	/* CLOCK_MONOTONIC ns as ns since 1970. */
	__u64 (*wall)(const struct top_source *s, __u64 monotonic);

	/* Sees to the categories that a view needs. Returns an exit code; errors are reported. */
	int (*need)(struct top_source *s, const struct top_view *view);
};

#endif /* TOOL_TOP_SOURCE_H */
