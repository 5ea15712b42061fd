/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The traces of a recording that starts a new one from time to time (record --rotate):
 * DIRECTORY.000001, DIRECTORY.000002 and so on. Each is a trace of its own. A recording with the
 * same name continues after the last existing trace, and treats the existing ones as its own.
 */
#ifndef TOOL_RECORD_SEGMENTS_H
#define TOOL_RECORD_SEGMENTS_H

#include <stddef.h>

/* A trace that has ended. */
struct segment {
	unsigned int number;
	unsigned long long bytes;	/* on disk */
};

struct segments {
	const char *base;		/* DIRECTORY */
	unsigned int last;		/* number of the present trace; 0: none */
	struct segment *ended;		/* and were not deleted, the oldest first */
	size_t nr;
};

/*
 * Finds the existing traces of this user. Returns an exit code: an error, which was reported, if
 * another recorder is writing one of them.
 */
int segments_open(struct segments *g, const char *base);

/* The path of the next trace. Allocated. */
char *segments_next(struct segments *g);

/* The path that segments_next() will return. Allocated. */
char *segments_peek(const struct segments *g);

/* Adds the present trace to those that have ended, with its size on disk. */
void segments_ended(struct segments *g, const char *directory);

/*
 * Deletes the oldest traces that have ended until they take at most @most bytes on disk; 0: no
 * limit. The newest of them always stays. A trace that cannot be deleted is reported, and not tried
 * again.
 */
void segments_keep(struct segments *g, unsigned long long most);

void segments_free(struct segments *g);

#endif /* TOOL_RECORD_SEGMENTS_H */
