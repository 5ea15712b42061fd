/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A snapshot that is written whole or not at all: a directory with a table in parts
 * (part0001.csv.gz ...) and snapshot.json, which says what it is. It is made under a name that
 * begins with a dot, and has its own name only when all of it is on the disk. Or the table alone
 * goes to standard output.
 */
#ifndef TOOL_SHEET_H
#define TOOL_SHEET_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "put.h"
#include "wall.h"

#define SHEET_DOCUMENT	"snapshot.json"
#define SHEET_PART	"part"		/* and a number of four digits or more, */
#define SHEET_SUFFIX	".csv.gz"

#define SHEET_FORMAT	1	/* of snapshot.json and the columns */
#define SHEET_ROW_MAX	(256 * 1024)	/* bytes that a row takes at most */

struct sheet {
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
bool sheet_open(struct sheet *s);

/* Room for a row of SHEET_ROW_MAX bytes, NULL if it cannot be had; sheet_put() takes its end. */
char *sheet_row(struct sheet *s);
bool sheet_put(struct sheet *s, char *end);

/*
 * Adds what all snapshots have to @document, writes it, and gives the snapshot its name. Takes
 * @document. False if something could not be written; then nothing is left.
 */
bool sheet_finish(struct sheet *s, json_t *document);

/* Deletes what is not finished. */
void sheet_close(struct sheet *s);

#endif /* TOOL_SHEET_H */
