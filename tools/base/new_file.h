/* SPDX-License-Identifier: GPL-2.0 */
/* A file that a command makes. It has its name when it is complete, and is whole even after a crash. */
#ifndef TOOL_BASE_NEW_FILE_H
#define TOOL_BASE_NEW_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct new_file {
	const char *path;	/* as the user named it; "-": standard output */
	bool replaces;		/* it may take the place of another regular file */
	int dir;		/* directory that it is in */
	char *name;		/* in that */
	char *hidden;		/* its name until it is complete */
	FILE *stream;
};

/*
 * Without @replaces the file must not exist. It is for its owner alone, as a trace shows what a whole machine
 * does. No symbolic link is followed where other users may have put it (place.h); one in the file's own place
 * is refused. Returns an exit code; errors are reported. Close it in either case.
 */
int new_file_open(struct new_file *f, const char *path, bool replaces);

/* What was written to @stream becomes the file. Returns an exit code; errors are reported. */
int new_file_publish(struct new_file *f);

/* Deletes the file if it was not published. */
void new_file_close(struct new_file *f);

#endif /* TOOL_BASE_NEW_FILE_H */
