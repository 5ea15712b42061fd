/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One interval of iotracer top: its sums, and the last records of each category, of which another
 * view can be made while the picture is frozen, and of which the events of one row are shown.
 */
#ifndef TOOL_TOP_WINDOW_H
#define TOOL_TOP_WINDOW_H

#include <stdbool.h>
#include <stddef.h>

#include "top/sums.h"
#include "trace/basis.h"

#define TOP_PARTS	16	/* categories at most */
#define TOP_KEPT	16384	/* records of each category */

/* A category that is read, and the paths that its records have. */
struct top_part {
	const struct category *category;
	const struct paths *paths;
};

/* The last records of a category. */
struct top_kept {
	char *data;
	size_t room;		/* records */
	__u64 nr;		/* records that came; the i-th is at i % TOP_KEPT */
};

/* Start from a zeroed struct. */
struct top_window {
	struct top_sums sums;
	struct top_feed feeds[TOP_PARTS];
	struct top_kept kept[TOP_PARTS];
	struct basis basis[TOP_PARTS];
	size_t nr;		/* parts */
	__u64 begin, end;	/* ns since 1970 */
	bool is_open;		/* records can be added */
	bool is_partial;	/* the view was changed, and not all records of the interval were kept */
};

/* Begins an interval; what was in the window is freed. */
void top_window_begin(struct top_window *w, const struct top_view *view, struct top_names *names,
		      const struct top_part *parts, size_t nr);

/* A part was added while the window is open: it is the last of @parts. */
void top_window_add_part(struct top_window *w, const struct top_part *parts, size_t nr);

/* Adds records of the i-th part. */
void top_window_take(struct top_window *w, size_t i, const void *records, size_t nr);

/* Ends the interval: the window no longer needs the paths, except for the functions below. */
void top_window_end(struct top_window *w, __u64 end);

/* Makes sums of another view of the records that were kept. @parts as they were. */
void top_window_show(struct top_window *w, const struct top_view *view, struct top_names *names,
		     const struct top_part *parts);
void top_window_free(struct top_window *w);

static inline double top_window_seconds(const struct top_window *w)
{
	return w->end > w->begin ? (w->end - w->begin) / 1e9 : 0;
}

/* The basis of all parts together. */
struct basis top_window_basis(const struct top_window *w);

/* Calls @each for the records that were kept of the row with this key, part by part. */
void top_window_each(struct top_window *w, const char *key, const struct top_part *parts,
		     void (*each)(void *data, const struct top_part *part, const void *record), void *data);

#endif /* TOOL_TOP_WINDOW_H */
