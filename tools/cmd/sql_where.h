/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Conditions of a query that are checked before a record becomes a row: comparisons of a column of
 * integers with a number, and op= and device= with a text. They only spare work: sqlite checks each
 * condition again, so a record that does not meet it may pass, but none that does is dropped.
 */
#ifndef TOOL_CMD_SQL_WHERE_H
#define TOOL_CMD_SQL_WHERE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "cmd/selection.h"
#include "trace/row.h"

struct sql_condition;

struct sql_where {
	struct sql_condition *at;
	size_t nr;
	bool by_time;		/* there is one on when the event began */
};

/*
 * For xBestIndex: chooses among the conditions of a table whose columns are those of @p, then begin_ns.
 * Sets idxStr, and returns a code of sqlite.
 */
int sql_where_plan(const struct row_printer *p, sqlite3_index_info *info);

/* For xFilter: takes what idxStr and the values are. */
void sql_where_open(struct sql_where *w, const struct row_printer *p, const char *plan, int nr,
		    sqlite3_value **values);
void sql_where_close(struct sql_where *w);

/*
 * Adds to a selection what its options can express of the conditions, so that frames of the file are
 * skipped. Returns whether anything was added: then the selection has to be prepared for the event again.
 */
bool sql_where_narrow(const struct sql_where *w, const struct row_printer *p, struct selection *s);

/* @begin: begin_ns of the record, if w->by_time. */
bool sql_where_meets(const struct sql_where *w, const struct row_printer *p, const void *record,
		     __s64 begin);

#endif /* TOOL_CMD_SQL_WHERE_H */
