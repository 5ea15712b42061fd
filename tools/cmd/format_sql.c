// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/wall.h"
#include "base/xalloc.h"
#include "cmd/format_sql.h"
#include "trace/categories.h"
#include "trace/category.h"
#include "trace/fleet.h"
#include "trace/fleet_columns.h"

#define TRACE_TABLE "_trace"

/* A table: the rows of a category, or _trace. */
struct table {
	const char *name, *tree;
	const struct category *category;	/* NULL: _trace */
	struct row_printer printer;		/* of a category */
};

typedef const char *(*type_name)(const struct fleet_column *c);

/* --- columns ---------------------------------------------------------------------- */

static size_t nr_columns(const struct table *t)
{
	return t->category ? t->printer.nr_columns : nr_fleet_trace_columns;
}

static struct fleet_column column(const struct table *t, size_t i)
{
	return t->category ? fleet_printer_column(&t->printer, i) : fleet_trace_columns[i];
}

/* A name has letters, digits and _ alone. @between it and its type; without @type there are none. */
static void put_columns(const struct table *t, char quote, const char *between, type_name type)
{
	size_t i;

	for (i = 0; i < nr_columns(t); i++) {
		struct fleet_column c = column(t, i);

		printf("%s\n\t%c%s%c%s%s", i ? "," : "", quote, c.name, quote, between, type ? type(&c) : "");
	}
}

/* Characters of @escaped get a backslash. A quote that is not one of them is written twice. */
static void put_quoted(const char *text, const char *escaped)
{
	putchar('\'');
	for (; *text; text++) {
		if (strchr(escaped, *text))
			putchar('\\');
		else if (*text == '\'')
			putchar('\'');
		putchar(*text);
	}
	putchar('\'');
}

/* --- DuckDB ----------------------------------------------------------------------- */

static const char *duckdb_type(const struct fleet_column *c)
{
	if (c->type == FLEET_TIME)
		return "'TIMESTAMP_NS'";
	if (c->type == FLEET_SIGNED)
		return "'BIGINT'";
	if (c->type == FLEET_UNSIGNED)
		return c->size > 4 ? "'UBIGINT'" : "'UINTEGER'";
	return "'VARCHAR'";
}

/* The characters of a pattern stand for themselves between brackets. */
static char *duckdb_pattern(const struct table *t)
{
	const char *at = t->tree;
	char *pattern = xreallocarray(NULL, 3 * strlen(at) + 2, 1), *out = pattern, *whole;

	for (; *at; at++)
		out += sprintf(out, strchr("*?[", *at) ? "[%c]" : "%c", *at);
	strcpy(out, *t->tree ? "/" : "");
	whole = t->category ?
		xasprintf("%s" FLEET_CATEGORY "%s/*/*/*" FLEET_SUFFIX, pattern, t->name) :
		xasprintf("%s" FLEET_TRACE "/*" FLEET_SUFFIX, pattern);
	free(pattern);
	return whole;
}

/*
 * A directory above the tree may be called x=y, which DuckDB takes for a column: select by name.
 * No text is null: \N cannot be one, because a backslash in a text is written as \134.
 */
static void put_duckdb(const struct table *t)
{
	char *pattern = duckdb_pattern(t);

	printf("CREATE OR REPLACE VIEW \"%s\" AS SELECT", t->name);
	put_columns(t, '"', "", NULL);
	printf("%s\nFROM read_csv(\n\t", t->category ? ",\n\t\"host\", \"date\"" : "");
	put_quoted(pattern, "");
	printf(",\n\tauto_detect = false, header = true, delim = ',', quote = '\"', escape = '\"',\n"
	       "\tnew_line = '\\n', nullstr = '\\N', compression = 'zstd', max_line_size = 4194304,\n"
	       "\thive_partitioning = %s, columns = {",
	       t->category ? "true, hive_types = {'category': VARCHAR, 'host': VARCHAR, 'date': DATE}" : "false");
	put_columns(t, '\'', ": ", duckdb_type);
	puts("});\n");
	free(pattern);
}

/* --- ClickHouse ------------------------------------------------------------------- */

static const char *clickhouse_type(const struct fleet_column *c)
{
	if (c->type == FLEET_SIGNED)
		return "Int64";
	if (c->type == FLEET_UNSIGNED)
		return c->size > 4 ? "UInt64" : "UInt32";
	return "String";
}

/* Old versions have no time of nanoseconds: begin_ns is the number, timestamp the text. */
static void put_clickhouse(const struct table *t)
{
	printf("CREATE TABLE IF NOT EXISTS `%s` (", t->name);
	put_columns(t, '`', " ", clickhouse_type);
	puts(",\n\t`date` Date MATERIALIZED toDate(toDateTime(intDiv(begin_ns, 1000000000), 'UTC'), 'UTC'))\n"
	     "ENGINE = MergeTree PARTITION BY toYYYYMM(date) ORDER BY (trace, begin_ns);\n");
}

/* --- Spark ------------------------------------------------------------------------ */

/* There are no unsigned numbers, and no times of nanoseconds. */
static const char *spark_type(const struct fleet_column *c)
{
	if (c->type == FLEET_TIME)
		return "STRING";
	if (c->type == FLEET_SIGNED)
		return "BIGINT";
	if (c->type == FLEET_UNSIGNED)
		return c->size > 4 ? "DECIMAL(20, 0)" : "BIGINT";
	return "STRING";
}

static void put_spark(const struct table *t)
{
	char *place = xasprintf("%s%s%s%s", t->tree, *t->tree ? "/" : "",
				t->category ? FLEET_CATEGORY : FLEET_TRACE, t->category ? t->name : "");

	printf("CREATE TABLE IF NOT EXISTS `%s` (", t->name);
	put_columns(t, '`', " ", spark_type);
	printf("%s)\nUSING CSV\nOPTIONS ('header' 'true', 'enforceSchema' 'false', 'quote' '\"', 'escape' '\"', 'nullValue' '\\\\N')\n",
	       t->category ? ",\n\t`host` STRING,\n\t`date` DATE" : "");
	if (t->category)
		puts("PARTITIONED BY (`host`, `date`)");
	fputs("LOCATION ", stdout);
	put_quoted(place, "\\'");
	puts(";\n");
	if (t->category)
		printf("MSCK REPAIR TABLE `%s`;\n\n", t->name);
	free(place);
}

/* --- all tables ------------------------------------------------------------------- */

/* Whether the tree has it. */
static bool has(const char *tree, const struct category *category)
{
	char *path = xasprintf("%s/" FLEET_CATEGORY "%s", tree, category->name);
	bool there = !access(path, F_OK);

	free(path);
	return there;
}

static void put_category(const char *tree, const struct category *category, void (*put)(const struct table *t))
{
	static const struct wall_clock clock;
	struct table t = { .name = category->name, .tree = tree, .category = category };

	t.printer = (struct row_printer){ .event = category_event(category), .clock = &clock };
	fleet_printer_open(&t.printer, category, "");
	put(&t);
	row_printer_close(&t.printer);
}

static int check_tree(const char *tree)
{
	char *path = xasprintf("%s/" FLEET_TRACE, tree);
	int err = access(path, F_OK) ? errno : 0;

	free(path);
	if (err)
		cli_say_of(tree, "is no tree of iotracer export --partition: %s in it: %s", FLEET_TRACE, strerror(err));
	return err ? CLI_FAILED : CLI_OK;
}

static void put_all(const char *tree, const char *shown, void (*put)(const struct table *t))
{
	const struct table trace = { .name = TRACE_TABLE, .tree = shown };
	size_t i;

	put(&trace);
	for (i = 0; i < nr_categories; i++)
		if (!tree || has(tree, categories[i]))
			put_category(shown, categories[i], put);
}

int format_sql(enum sql_dialect dialect, const char *tree)
{
	static void (*const puts_table[])(const struct table *t) = {
		[SQL_DUCKDB] = put_duckdb, [SQL_CLICKHOUSE] = put_clickhouse, [SQL_SPARK] = put_spark,
	};
	int status = CLI_OK;
	char *shown;

	if (tree && check_tree(tree))
		return CLI_FAILED;
	shown = tree ? realpath(tree, NULL) : xstrdup("");
	if (!shown) {
		cli_say_of(tree, "cannot be opened: %s", strerror(errno));
		return CLI_FAILED;
	}
	if (dialect == SQL_DUCKDB && strchr(shown, '\\')) {
		cli_say_of(shown, "has a backslash, which DuckDB takes for a slash: move the tree");
		status = CLI_FAILED;
	} else {
		put_all(tree, shown, puts_table[dialect]);
	}
	free(shown);
	return status;
}
