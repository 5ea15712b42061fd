/* SPDX-License-Identifier: GPL-2.0 */
/* A trace for one command: recorded first, and deleted when the command has read it. */
#ifndef TOOL_CMD_LIVE_H
#define TOOL_CMD_LIVE_H

#include "trace/category.h"
#include "trace/select.h"

struct live {
	const char *vm;		/* set by the caller: the virtual machine to record, or NULL: all */
	char *directory;	/* of its own, in $TMPDIR or /var/tmp; NULL: nothing was recorded */
	char *trace;		/* the trace in it */
};

/*
 * Records the categories, fs if there are none, for @seconds, or if that is 0 until SIGINT, SIGTERM or
 * SIGHUP. Conditions that the module knows are left to it. Returns an exit code; errors are reported. Call
 * live_remove() in either case.
 */
int live_record(struct live *l, const struct category *const *categories, size_t nr,
		const struct select *select, double seconds);
void live_remove(struct live *l);

#endif /* TOOL_CMD_LIVE_H */
