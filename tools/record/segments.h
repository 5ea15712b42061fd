/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The traces of a recording that begins a new one from time to time (record --rotate): DIRECTORY
 * with .000001, .000002 and so on after it. Each is a trace of its own. A recording of the same name
 * goes on behind the last one that is there, and those that are there count as its own.
 */
#ifndef TOOL_RECORD_SEGMENTS_H
#define TOOL_RECORD_SEGMENTS_H

#include <stddef.h>

/* One that has ended. */
struct segment {
	unsigned int number;
	unsigned long long bytes;	/* on disk */
};

struct segments {
	const char *base;		/* DIRECTORY */
	unsigned int last;		/* the one that is recorded; 0: there are none */
	struct segment *ended;		/* those that were not deleted, the oldest first */
	size_t nr;
};

/*
 * Finds those that are there, of this user. Returns an exit code: an error, which was reported, if
 * another recorder makes them.
 */
int segments_open(struct segments *g, const char *base);

/* The path of the next trace. Allocated. */
char *segments_next(struct segments *g);

/* The path that segments_next() will return. Allocated. */
char *segments_peek(const struct segments *g);

/* Notes what the trace that ends takes on disk. */
void segments_ended(struct segments *g, const char *directory);

/*
 * Deletes the oldest ones while all that have ended take more than @most bytes; the newest of
 * them stays. 0: no limit. One that cannot be deleted is reported, and not tried again.
 */
void segments_keep(struct segments *g, unsigned long long most);

void segments_free(struct segments *g);

#endif /* TOOL_RECORD_SEGMENTS_H */
