/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A snapshot that is written whole or not at all: a directory with a table in parts
 * (part0001.csv.gz ...) and snapshot.json, which says what it is. It is made under a name that
 * begins with a dot, and has its own name only when all of it is on the disk. Or the table alone
 * goes to standard output.
 */
#ifndef TOOL_TRACE_TABLE_WRITER_H
#define TOOL_TRACE_TABLE_WRITER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "base/put.h"
#include "base/wall.h"

#define TABLE_DOCUMENT	"snapshot.json"
#define TABLE_PART	"part"		/* and a number of four digits or more, */
#define TABLE_SUFFIX	".csv.gz"

#define TABLE_FORMAT	1	/* of snapshot.json and the columns */
#define TABLE_ROW_MAX	(256 * 1024)	/* bytes that a row takes at most */

struct table_writer {
	/* set before it is opened */
	int in;			/* the directory in which it is made; -1: standard output */
	const char *where;	/* the name of that directory, for messages */
	const char *kind;	/* fs, process, system */
	const char *header;	/* the first line of each part, without its end */
	__u64 rotate;		/* rows of a part; 0: all */

	struct wall_pair begin;
	char time[PUT_UTC];		/* @begin, as rows show it */
	int dir;		/* the directory that is made, -1: none */
	char *hidden, *name;	/* its name meanwhile, and in the end */
	void *compressed;	/* gzFile of the part */
	unsigned int parts;
	__u64 part_rows, rows;
	json_t *files;		/* describes the parts */
	char *data;		/* not written yet */
	size_t used;
	bool failed;		/* which was reported */
};

/* False if that failed, which was reported. Close it in either case. */
bool table_writer_open(struct table_writer *s);

/* Room for a row of TABLE_ROW_MAX bytes, NULL if it cannot be had; table_writer_put() takes its end. */
char *table_writer_row(struct table_writer *s);
bool table_writer_put(struct table_writer *s, char *end);

/*
 * Adds what all snapshots have to @document, writes it, and gives the snapshot its name. Takes
 * @document. False if something could not be written; then nothing is left.
 */
bool table_writer_finish(struct table_writer *s, json_t *document);

/* Deletes what is not finished. */
void table_writer_close(struct table_writer *s);

#endif /* TOOL_TRACE_TABLE_WRITER_H */
