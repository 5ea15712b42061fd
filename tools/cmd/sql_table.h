/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The categories of a trace as read-only virtual tables of sqlite. What they rest on is sql_trace.h's.
 *
 * A category has the columns of export, integers as INTEGER, and begin_ns: ns since 1970 when the event
 * began. Each scan of a table reads the category's file.
 */
#ifndef TOOL_CMD_SQL_TABLE_H
#define TOOL_CMD_SQL_TABLE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "cmd/pass.h"

/* What is known of a category after it was read. */
struct sql_counts {
	bool known;		/* all of it was read */
	bool said;		/* what is damaged was said, as its file was read to the end */
	bool told;		/* sql_tables_report() has told the counts */
	struct basis basis;
	__u64 last;		/* when the last event ended, ns since 1970 */
};

struct sql_tables {
	struct pass *pass;
	struct sql_counts counts[PASS_CATEGORIES];	/* in the order of the pass */
	char *text;		/* room for one column */
	int status;		/* exit code of a category that could not be opened, which was reported */
	bool warned;		/* that one is read again and again */
	bool (*stop)(void *data);	/* set by the caller: whether to give up; may be NULL */
};

/*
 * Makes the tables in a @schema of the database, "main" or "temp". The pass is open, and stays so until
 * the database is closed. Returns a code of sqlite. Free the tables after the database.
 */
int sql_tables_open(struct sql_tables *t, struct pass *pass, sqlite3 *db, const char *schema);
void sql_tables_free(struct sql_tables *t);

/* The columns of a category, as in a statement: "a" TEXT, "b" INTEGER. Freed by the caller. */
char *sql_columns(const struct row_printer *p);
char *sql_category_columns(const struct sql_tables *t, size_t i);

/* Prepares to show records of the i-th category as texts without quotes. Close it. */
void sql_printer_open(struct row_printer *p, const struct sql_tables *t, size_t i);

/* Reads all of a category, unless that was done. False if it cannot be read, or if it was interrupted. */
bool sql_tables_count(struct sql_tables *t, size_t i);

/* Says on standard error what is missing in the categories that were read, once. */
void sql_tables_report(struct sql_tables *t);

/* Whether reading goes on; to be asked now and then. */
bool sql_tables_go_on(const struct sql_tables *t, __u64 records);

#endif /* TOOL_CMD_SQL_TABLE_H */
