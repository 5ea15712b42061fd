/* SPDX-License-Identifier: GPL-2.0 */
/* A read-only virtual table of sqlite, _trace, with a row for each category: what its figures rest on. */
#ifndef TOOL_CMD_SQL_TRACE_H
#define TOOL_CMD_SQL_TRACE_H

#include <sqlite3.h>

#include "cmd/sql_table.h"

#define SQL_TRACE_TABLE "_trace"

/* Its columns, as in a statement. */
#define SQL_TRACE_COLUMNS \
	"category TEXT, records INTEGER, events INTEGER, sampled INTEGER, lost INTEGER, missed INTEGER," \
	" unreadable INTEGER, begin_ns INTEGER, end_ns INTEGER, begin_time TEXT, end_time TEXT, host TEXT," \
	" kernel TEXT, state TEXT"

/* As sql_tables_open(), after it. Returns a code of sqlite. */
int sql_trace_open(struct sql_tables *t, sqlite3 *db, const char *schema);

#endif /* TOOL_CMD_SQL_TRACE_H */
