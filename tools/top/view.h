/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the rows of iotracer top are: files, processes and so on, and which category has which
 * column.
 *
 * Operations, bytes and latencies are those of the first category of @main that is there. Beside
 * them, if the rows' keys are in these categories, too: misses are pages that category cache did
 * not find in memory, and device time is how long the requests of category block were with the
 * driver and the device.
 */
#ifndef TOOL_TOP_VIEW_H
#define TOOL_TOP_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/category.h"
#include "trace/stats_key.h"

enum top_view_number {
	TOP_FILES, TOP_DIRECTORIES, TOP_PROCESSES, TOP_CGROUPS, TOP_DEVICES, TOP_CONNECTIONS, TOP_VMS, TOP_VIEWS
};

/* In the same order, for an option. */
#define TOP_VIEW_WORDS "file directory process cgroup device connection vm"

struct top_view {
	const char *name;		/* of a row: a member of JSON, and the head of the column */
	const char *title;		/* of all rows */
	const char *keys[STATS_KEYS];	/* of stats_key.h; the second may be NULL */
	const struct category *const *main;	/* ends with NULL */
	const char *note;		/* name of what is shown beside the key; NULL: nothing is */
	bool live;			/* rows are found on the machine that runs, not in a trace */
};

extern const struct top_view top_views[TOP_VIEWS];

#endif /* TOOL_TOP_VIEW_H */
