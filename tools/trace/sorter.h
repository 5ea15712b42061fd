/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Items of one size, sorted by group and then by time, those of the same time in the order in which
 * they were added. Memory is bounded: what is more than SORTER_BYTES is written, as sorted runs, to a
 * temporary file without a name in $TMPDIR (default: /var/tmp), and the runs are merged at the end.
 */
#ifndef TOOL_TRACE_SORTER_H
#define TOOL_TRACE_SORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define SORTER_BYTES (64UL * 1024 * 1024)

/* An item begins with these; sorter_add() sets @serial. */
struct sorter_key {
	__u64 group;
	__u64 time;
	__u64 serial;
};

struct sorter_run {
	__u64 at, end;		/* what is still to be read of the file */
	char *items;		/* read of it */
	size_t used, nr;
};

/* Start from a zeroed struct. */
struct sorter {
	size_t size;		/* bytes of an item */
	char *items;
	size_t nr, room, most;
	__u64 added;
	int fd;			/* the temporary file; -1: none */
	__u64 written;
	struct sorter_run *runs;
	size_t nr_runs, per_run;	/* items of a run that are read at once */
	size_t *heap;		/* runs that have an item, the one with the first item at the top */
	size_t nr_heap;
	size_t next;		/* without runs: the next item */
	bool begun;
	bool failed;		/* the temporary file failed, which was reported */
};

/* @most: items in memory at a time; 0: those that SORTER_BYTES hold. */
void sorter_open(struct sorter *s, size_t size, size_t most);

/* False if the temporary file cannot be written. */
bool sorter_add(struct sorter *s, void *item);

/* Call it after the last sorter_add(), and before sorter_next(). False as above. */
bool sorter_finish(struct sorter *s);

/* The next item, valid until the next call. NULL at the end, or if s->failed. */
const void *sorter_next(struct sorter *s);
void sorter_close(struct sorter *s);

#endif /* TOOL_TRACE_SORTER_H */
