/* SPDX-License-Identifier: GPL-2.0 */
/* Statements for databases that read the tree of iotracer export --partition. */
#ifndef TOOL_CMD_FORMAT_SQL_H
#define TOOL_CMD_FORMAT_SQL_H

#define SQL_DIALECTS "duckdb clickhouse spark"
enum sql_dialect { SQL_DUCKDB, SQL_CLICKHOUSE, SQL_SPARK };

/*
 * Prints the statements for _trace and the categories that @tree has. NULL: for all categories, with
 * paths relative to where the database is started. Returns an exit code; errors are reported.
 */
int format_sql(enum sql_dialect dialect, const char *tree);

#endif /* TOOL_CMD_FORMAT_SQL_H */
