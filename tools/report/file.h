/* SPDX-License-Identifier: GPL-2.0 */
/* The file of a page. It has its name when it is complete. */
#ifndef TOOL_REPORT_FILE_H
#define TOOL_REPORT_FILE_H

#include <jansson.h>
#include <stdio.h>

struct report_file {
	const char *path;	/* as the user named it; "-": standard output */
	int dir;		/* directory that it is in */
	char *name;		/* in that */
	char *hidden;		/* its name until it is complete */
	FILE *stream;
};

/*
 * The file must not exist. It is for its owner alone, as a trace shows what a whole machine does. Returns an
 * exit code; errors are reported. Close it in either case.
 */
int report_file_open(struct report_file *f, const char *path);

/* Writes the page that shows the document. Returns an exit code; errors are reported. */
int report_file_write(struct report_file *f, const json_t *document);

/* Deletes the file if it was not written. */
void report_file_close(struct report_file *f);

#endif /* TOOL_REPORT_FILE_H */
