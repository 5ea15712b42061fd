/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What iotracer top shows, whatever it is shown on: one window that is being filled, and the last
 * one that has ended.
 */
#ifndef TOOL_TOP_ENGINE_H
#define TOOL_TOP_ENGINE_H

#include "top/list.h"
#include "top/source.h"

/* Set before top_begin(): the first part. */
struct top {
	struct top_source *source;
	const struct top_view *view;
	__u64 interval;			/* ns */
	__u64 at;			/* of a trace: where the next interval begins, ns since 1970 */
	struct top_list list;		/* @sort is set before; of @shown from then on */

	struct top_window windows[2];
	struct top_window *filling, *shown;
	__u64 since;			/* live: when @filling began, CLOCK_MONOTONIC ns */
};

void top_begin(struct top *t);
void top_end(struct top *t);

/* Milliseconds until the interval is over, at most @most. */
int top_wait_ms(const struct top *t, int most);

/* Live: reads what there is. Returns an exit code; errors are reported. */
int top_fill(struct top *t);

/*
 * Ends the interval, which of a trace is read first, and begins the next one. @show: it is what is
 * shown from now on. Returns an exit code; errors are reported.
 */
int top_turn(struct top *t, bool show);

/*
 * Shows another view, also of the interval that is shown. Returns an exit code; errors are
 * reported.
 */
int top_change(struct top *t, const struct top_view *view);

#endif /* TOOL_TOP_ENGINE_H */
