// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/sql_table.h"
#include "cmd/sql_where.h"
#include "trace/metadata.h"
#include "trace/record.h"

#define LOOK_RECORDS 65536	/* records between two looks whether to stop */
#define MANY_RECORDS 1000000	/* of one table that are read again: worth a warning, */
#define MANY_SCANS 100		/* and so are scans */
#define GUESS_RECORDS 1000000	/* for the planner, if nothing is known */

#define BEGIN_NS "begin_ns"

struct table {
	sqlite3_vtab base;
	struct sql_tables *tables;
	size_t index;		/* of the category in the pass */
	struct row_printer printer;
	unsigned int time;	/* offset of the field time */
};

struct cursor {
	sqlite3_vtab_cursor base;
	struct pass_reader reader;
	struct sql_where where;
	const void *record;	/* NULL: the end */
	__u64 scans, read;	/* all scans, and the records that they read */
	bool open, quiet;
	bool narrowed;		/* the scan leaves out records, or frames, that the query does not want */
};

/* --- what a scan says ------------------------------------------------------------ */

static void drop_line(void *data, const char *line)
{
	(void)data;
	(void)line;
}

/* What is wrong with a category is said when it is read first. */
static const struct say_sink *hush(bool quiet)
{
	static const struct say_sink nobody = { drop_line, NULL };

	return quiet ? say_to(&nobody) : NULL;
}

static void unhush(bool quiet, const struct say_sink *before)
{
	if (quiet)
		say_to(before);
}

static void take_counts(struct sql_tables *t, size_t i, const struct pass_reader *r, bool narrowed)
{
	struct sql_counts *c = &t->counts[i];

	c->said |= r->ended;
	if (c->known)
		return;
	c->known = r->ended && !narrowed;
	c->basis = r->basis;
	c->last = r->last;
}

bool sql_tables_go_on(const struct sql_tables *t, __u64 records)
{
	return records % LOOK_RECORDS || !t->stop || !t->stop(NULL);
}

bool sql_tables_count(struct sql_tables *t, size_t i)
{
	const struct say_sink *before;
	struct pass_reader r;
	int status;

	if (t->counts[i].known)
		return true;
	before = hush(t->counts[i].said);
	status = pass_reader_open(&r, t->pass, i);
	while (!status && sql_tables_go_on(t, r.merge.events) && pass_next(&r))
		;
	pass_reader_close(&r);
	unhush(t->counts[i].said, before);
	if (status)
		t->status = status;
	take_counts(t, i, &r, false);
	return t->counts[i].known;
}

void sql_tables_report(struct sql_tables *t)
{
	size_t i;

	for (i = 0; i < t->pass->nr; i++)
		if (!t->counts[i].told)
			t->counts[i].told = pass_say_basis(t->pass, t->pass->at[i].category,
							   &t->counts[i].basis);
}

/* --- tables ---------------------------------------------------------------------- */

void sql_printer_open(struct row_printer *p, const struct sql_tables *t, size_t i)
{
	const struct category *category = t->pass->at[i].category;

	*p = (struct row_printer){
		.event = category_event(category), .bare = true, .clock = &t->pass->check.clock,
		.paths = &t->pass->names, .anonymizer = pass_anonymizer(t->pass),
		.with_sources = t->pass->sources.nr,
	};
	row_printer_open_own(p, category->command_op != NO_OP);
}

char *sql_columns(const struct row_printer *p)
{
	char *columns = NULL, *column;
	size_t i;

	for (i = 0; i < p->nr_columns; i++) {
		column = xasprintf("\"%s\" %s", p->columns[i].name,
				   row_column_is_integer(&p->columns[i]) ? "INTEGER" : "TEXT");
		columns = text_append(columns, ", ", column);
		free(column);
	}
	return text_append(columns, ", ", BEGIN_NS " INTEGER");
}

char *sql_category_columns(const struct sql_tables *t, size_t i)
{
	struct row_printer p;
	char *columns;

	sql_printer_open(&p, t, i);
	columns = sql_columns(&p);
	row_printer_close(&p);
	return columns;
}

/* The only argument is the category's place in the pass. */
static int table_connect(sqlite3 *db, void *data, int argc, const char *const *argv,
			 sqlite3_vtab **made, char **error)
{
	struct sql_tables *t = data;
	char *columns, *statement;
	struct table *table;
	int code;

	(void)error;
	if (argc != 4)
		return SQLITE_ERROR;
	table = xreallocarray(NULL, 1, sizeof(*table));
	*table = (struct table){ .tables = t, .index = strtoul(argv[3], NULL, 10) };
	sql_printer_open(&table->printer, t, table->index);
	table->time = record_field(table->printer.event, "time")->offset;
	columns = sql_columns(&table->printer);
	statement = xasprintf("CREATE TABLE x(%s)", columns);
	code = sqlite3_declare_vtab(db, statement);
	free(statement);
	free(columns);
	*made = &table->base;
	return code;
}

static int table_disconnect(sqlite3_vtab *base)
{
	struct table *table = (struct table *)base;

	row_printer_close(&table->printer);
	free(table);
	return SQLITE_OK;
}

static int table_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	struct table *table = (struct table *)base;
	const struct pass *p = table->tables->pass;
	struct metadata_file file;
	__u64 records = GUESS_RECORDS;

	if (metadata_category_file(&p->check.metadata, p->at[table->index].index, &file))
		records = file.events;
	info->estimatedRows = records < 1ULL << 40 ? records : 1ULL << 40;
	info->estimatedCost = info->estimatedRows + 1;
	return sql_where_plan(&table->printer, info);
}

/* --- cursors --------------------------------------------------------------------- */

static int cursor_open(sqlite3_vtab *base, sqlite3_vtab_cursor **made)
{
	struct cursor *c = xreallocarray(NULL, 1, sizeof(*c));

	(void)base;
	*c = (struct cursor){ .open = false };
	*made = &c->base;
	return SQLITE_OK;
}

static void end_scan(struct cursor *c)
{
	struct table *table = (struct table *)c->base.pVtab;
	const struct say_sink *before;

	if (!c->open)
		return;
	before = hush(c->quiet);
	c->read += c->reader.merge.events;
	pass_reader_close(&c->reader);
	take_counts(table->tables, table->index, &c->reader, c->narrowed);
	unhush(c->quiet, before);
	sql_where_close(&c->where);
	c->open = false;
	c->record = NULL;
}

static int cursor_close(sqlite3_vtab_cursor *base)
{
	struct cursor *c = (struct cursor *)base;

	end_scan(c);
	free(c);
	return SQLITE_OK;
}

static __s64 begin_of(const struct table *table, const void *record)
{
	return pass_wall(table->tables->pass, record_scalar(record, table->time, 8));
}

static int cursor_next(sqlite3_vtab_cursor *base)
{
	struct cursor *c = (struct cursor *)base;
	struct table *table = (struct table *)base->pVtab;
	const struct say_sink *before = hush(c->quiet);
	bool go_on;

	do {
		c->record = pass_next(&c->reader);
		go_on = sql_tables_go_on(table->tables, c->reader.merge.events);
	} while (c->record && go_on &&
		 !sql_where_meets(&c->where, &table->printer, c->record,
				  c->where.by_time ? begin_of(table, c->record) : 0));
	unhush(c->quiet, before);
	/* a pass that is interrupted has no next record either */
	if (!c->record)
		go_on = sql_tables_go_on(table->tables, 0);
	return go_on ? SQLITE_OK : SQLITE_INTERRUPT;
}

/* A table inside a loop over another one. */
static void warn(struct cursor *c, struct sql_tables *t, const char *category)
{
	if (t->warned || c->scans < 3 || (c->scans < MANY_SCANS && c->read < MANY_RECORDS))
		return;
	t->warned = true;
	cli_say("%s is read again for each row of another table: name what is needed of it first, as WITH x AS MATERIALIZED (SELECT ... FROM \"%s\")",
		category, category);
}

/* Returns an exit code; errors are reported. */
static int open_scan(struct cursor *c, struct table *table)
{
	struct pass *p = table->tables->pass;
	int status = pass_reader_open(&c->reader, p, table->index);

	c->open = true;
	c->narrowed = sql_where_narrow(&c->where, &table->printer, &c->reader.selection);
	if (!status && c->narrowed)
		status = selection_event(&c->reader.selection, table->printer.event, &p->names,
					 pass_anonymizer(p));
	return status;
}

static int cursor_filter(sqlite3_vtab_cursor *base, int number, const char *plan, int argc,
			 sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)base;
	struct table *table = (struct table *)base->pVtab;
	struct sql_tables *t = table->tables;
	const struct say_sink *before;
	int status;

	(void)number;
	end_scan(c);
	c->scans++;
	warn(c, t, t->pass->at[table->index].category->name);
	sql_where_open(&c->where, &table->printer, plan ? plan : "", argc, argv);
	c->quiet = t->counts[table->index].said;
	before = hush(c->quiet);
	status = open_scan(c, table);
	unhush(c->quiet, before);
	if (!status)
		return cursor_next(base);
	t->status = status;
	return SQLITE_ERROR;
}

static int cursor_eof(sqlite3_vtab_cursor *base)
{
	return !((struct cursor *)base)->record;
}

static int cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *to, int i)
{
	struct cursor *c = (struct cursor *)base;
	struct table *table = (struct table *)base->pVtab;
	struct row_printer *p = &table->printer;
	char *text = table->tables->text;
	const struct row_column *column;
	__s64 n;

	if ((size_t)i >= p->nr_columns) {
		sqlite3_result_int64(to, begin_of(table, c->record));
		return SQLITE_OK;
	}
	column = &p->columns[i];
	if (row_column_is_integer(column) && row_integer(p, column, c->record, &n)) {
		sqlite3_result_int64(to, n);
		return SQLITE_OK;
	}
	p->source = c->reader.source;
	p->note = column->field ? NULL : cpu_merge_note(&c->reader.merge, c->record, &p->note_length);
	sqlite3_result_text(to, text, column->put(p, column, text, c->record) - text, SQLITE_TRANSIENT);
	return SQLITE_OK;
}

static int cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
	*id = ((struct cursor *)base)->reader.merge.events;
	return SQLITE_OK;
}

static const sqlite3_module category_module = {
	.xCreate = table_connect,
	.xConnect = table_connect,
	.xBestIndex = table_best_index,
	.xDisconnect = table_disconnect,
	.xDestroy = table_disconnect,
	.xOpen = cursor_open,
	.xClose = cursor_close,
	.xFilter = cursor_filter,
	.xNext = cursor_next,
	.xEof = cursor_eof,
	.xColumn = cursor_column,
	.xRowid = cursor_rowid,
};

/* --- all of them ----------------------------------------------------------------- */

static int make(sqlite3 *db, const char *schema, const char *name, size_t i)
{
	char *statement = sqlite3_mprintf("CREATE VIRTUAL TABLE \"%w\".\"%w\" USING iotracer(%d)",
					  schema, name, (int)i);
	int code = statement ? sqlite3_exec(db, statement, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(statement);
	return code;
}

int sql_tables_open(struct sql_tables *t, struct pass *pass, sqlite3 *db, const char *schema)
{
	int code = sqlite3_create_module(db, "iotracer", &category_module, t);
	size_t i;

	t->pass = pass;
	t->text = xreallocarray(NULL, ROW_MAX, 1);
	for (i = 0; !code && i < pass->nr; i++)
		code = make(db, schema, pass->at[i].category->name, i);
	return code;
}

void sql_tables_free(struct sql_tables *t)
{
	free(t->text);
}
