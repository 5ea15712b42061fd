/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rows of a query on standard output. Text has columns as wide as the first rows need, or, if the
 * names alone do not fit on a line, a line for each value. CSV has a line with the names first, JSON an
 * object for each row, on a line of its own.
 *
 * Characters that could control a terminal are escaped in all formats.
 */
#ifndef TOOL_CMD_SQL_OUTPUT_H
#define TOOL_CMD_SQL_OUTPUT_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/cli.h"

struct sql_output {
	enum cli_format format;	/* text, csv or json */

	/* Private. Of the statement: */
	int nr;			/* columns */
	bool upright;		/* text: a line for each value */
	int *widths;		/* of the columns; of all names, if upright */
	bool *numbers;		/* the column is set to the right */
	char **cells;		/* of rows that are held back until their widths are known */
	size_t held, room;	/* cells */
	size_t bytes;		/* of cells */
	bool begun;		/* something was printed */
	char *line;		/* of CSV or JSON */
	size_t line_room;
};

/* Begins the rows of a statement. */
void sql_output_begin(struct sql_output *o, sqlite3_stmt *statement);
void sql_output_row(struct sql_output *o, sqlite3_stmt *statement);

/* Prints the rest of the rows. */
void sql_output_end(struct sql_output *o, sqlite3_stmt *statement);

void sql_output_free(struct sql_output *o);

#endif /* TOOL_CMD_SQL_OUTPUT_H */
