/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The files with the most events lately, for a line of progress. Bounded memory: a file that
 * has many of the events is found, one that has few may not be.
 */
#ifndef TOOL_BASE_BUSIEST_H
#define TOOL_BASE_BUSIEST_H

#include <linux/types.h>
#include <stddef.h>

struct busiest;

struct busiest *busiest_new(void);

/* NULL is allowed, here and as the first argument of the others, which do nothing then. */
void busiest_free(struct busiest *b);

/* Counts an event of the file with a path of this id; 0: it has none, and is not counted. */
void busiest_count(struct busiest *b, __u64 id);

/* A path's text, which is not terminated. The newest paths are remembered, by their last part. */
void busiest_name(struct busiest *b, __u64 id, const char *path, size_t length);

/*
 * The names of the busiest files and their shares of the events of files, as "; a 61 %, b 20 %".
 * Older events count less with each call. "" if there is no event. Free it.
 */
char *busiest_text(struct busiest *b);

#endif /* TOOL_BASE_BUSIEST_H */
