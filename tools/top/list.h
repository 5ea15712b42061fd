/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rows of a window as they are shown: sorted, filtered, with how each of them was in earlier
 * intervals.
 */
#ifndef TOOL_TOP_LIST_H
#define TOOL_TOP_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "top/window.h"

#define TOP_FILTER	64	/* bytes of a filter, with the NUL */
#define TOP_PAST	8	/* intervals that are remembered */

enum top_sort {
	TOP_BY_BYTES, TOP_BY_OPS, TOP_BY_READ, TOP_BY_WRITE, TOP_BY_P50, TOP_BY_P99, TOP_BY_MISSES, TOP_BY_DEVICE,
	TOP_BY_NAME, TOP_SORTS
};

#define TOP_SORT_WORDS "bytes ops read write p50 p99 misses device name"

/* Operations of a key in the last intervals, the present one last. */
struct top_past {
	__u64 at[TOP_PAST];
};

/* Start from a zeroed struct. */
struct top_list {
	enum top_sort sort;
	bool is_reversed;
	char filter[TOP_FILTER];	/* rows whose key or note has this text are shown */
	size_t *rows;			/* numbers of rows of the window, in order */
	size_t nr;
	struct intern names;		/* keys that had operations lately */
	struct top_past *past;		/* by number of the name */
	size_t room;
};

/* Makes the list of the window, which has ended. */
void top_list_make(struct top_list *l, const struct top_window *w);

/* Adds a window to the past. Call it once for each window, after top_list_make(). */
void top_list_remember(struct top_list *l, const struct top_window *w);

/* Another view: there is no past. */
void top_list_forget(struct top_list *l);

/* The past of a key; zeros if it has none. */
struct top_past top_list_past(const struct top_list *l, const char *key);
void top_list_free(struct top_list *l);

#endif /* TOOL_TOP_LIST_H */
