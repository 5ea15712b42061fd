// SPDX-License-Identifier: GPL-2.0
/* The table _trace: a row for each category, which says what figures about it rest on. */
#include <stdlib.h>
#include <string.h>

#include "base/put.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/sql_trace.h"

#define NS_PER_S 1000000000ULL
#define COST 1000000	/* to read all of a category, as its counts may need */

struct table {
	sqlite3_vtab base;
	struct sql_tables *tables;
};

struct cursor {
	sqlite3_vtab_cursor base;
	size_t i;		/* category */
};

/* In the order of SQL_TRACE_COLUMNS. */
enum {
	CATEGORY, RECORDS, EVENTS, SAMPLED, LOST, MISSED, UNREADABLE, BEGIN_NS, END_NS, BEGIN_TIME,
	END_TIME, HOST, KERNEL, STATE,
};

static int trace_connect(sqlite3 *db, void *data, int argc, const char *const *argv,
			 sqlite3_vtab **made, char **error)
{
	struct table *table = xreallocarray(NULL, 1, sizeof(*table));

	(void)argc;
	(void)argv;
	(void)error;
	*table = (struct table){ .tables = data };
	*made = &table->base;
	return sqlite3_declare_vtab(db, "CREATE TABLE x(" SQL_TRACE_COLUMNS ")");
}

static int trace_disconnect(sqlite3_vtab *base)
{
	free(base);
	return SQLITE_OK;
}

static int trace_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	info->estimatedRows = ((struct table *)base)->tables->pass->nr;
	info->estimatedCost = COST;
	return SQLITE_OK;
}

static int trace_open(sqlite3_vtab *base, sqlite3_vtab_cursor **made)
{
	struct cursor *c = xreallocarray(NULL, 1, sizeof(*c));

	(void)base;
	*c = (struct cursor){ .i = 0 };
	*made = &c->base;
	return SQLITE_OK;
}

static int trace_close(sqlite3_vtab_cursor *base)
{
	free(base);
	return SQLITE_OK;
}

static int trace_filter(sqlite3_vtab_cursor *base, int number, const char *plan, int argc,
			sqlite3_value **argv)
{
	(void)number;
	(void)plan;
	(void)argc;
	(void)argv;
	((struct cursor *)base)->i = 0;
	return SQLITE_OK;
}

static int trace_next(sqlite3_vtab_cursor *base)
{
	((struct cursor *)base)->i++;
	return SQLITE_OK;
}

static int trace_eof(sqlite3_vtab_cursor *base)
{
	return ((struct cursor *)base)->i >= ((struct table *)base->pVtab)->tables->pass->nr;
}

static void put_time(sqlite3_context *to, __u64 ns, bool as_text)
{
	char text[PUT_UTC];

	if (!ns)
		return;
	if (as_text)
		sqlite3_result_text(to, text, put_utc(text, ns / NS_PER_S, ns % NS_PER_S) - text,
				    SQLITE_TRANSIENT);
	else
		sqlite3_result_int64(to, ns);
}

/* The text was escaped when it was written, unless somebody changed it. */
static void put_text(sqlite3_context *to, const char *text)
{
	char *shown = text ? text_guard(text, strlen(text), "") : NULL;

	if (shown)
		sqlite3_result_text(to, shown, -1, free);
}

static void put_host(sqlite3_context *to, const struct pass *p)
{
	char *host = pass_host(p);

	if (host)
		sqlite3_result_text(to, host, -1, free);
}

static void put_count(sqlite3_context *to, const struct basis *b, int column)
{
	const __u64 counts[] = {
		[RECORDS] = b->records, [EVENTS] = b->events, [SAMPLED] = b->sampled, [LOST] = b->lost,
		[MISSED] = b->missed, [UNREADABLE] = b->unreadable,
	};

	sqlite3_result_int64(to, counts[column]);
}

/* The end of a trace that has none is that of the category's last event. */
static void put_limit(sqlite3_context *to, struct sql_tables *t, size_t i, int column)
{
	__u64 begin, end;

	if (!t->pass->check.metadata.end.monotonic && (column == END_NS || column == END_TIME))
		sql_tables_count(t, i);
	pass_times(t->pass, t->counts[i].last, &begin, &end);
	put_time(to, column == BEGIN_NS || column == BEGIN_TIME ? begin : end,
		 column == BEGIN_TIME || column == END_TIME);
}

/* What cannot be found out is null. */
static int trace_column(sqlite3_vtab_cursor *base, sqlite3_context *to, int column)
{
	struct sql_tables *t = ((struct table *)base->pVtab)->tables;
	const struct metadata *m = &t->pass->check.metadata;
	size_t i = ((struct cursor *)base)->i;

	switch (column) {
	case CATEGORY:
		put_text(to, t->pass->at[i].category->name);
		break;
	case BEGIN_NS ... END_TIME:
		put_limit(to, t, i, column);
		break;
	case HOST:
		put_host(to, t->pass);
		break;
	case KERNEL:
		put_text(to, json_string_value(json_object_get(m->document, "kernel")));
		break;
	case STATE:
		put_text(to, m->state);
		break;
	default:
		if (sql_tables_count(t, i))
			put_count(to, &t->counts[i].basis, column);
	}
	return t->stop && t->stop(NULL) ? SQLITE_INTERRUPT : SQLITE_OK;
}

static int trace_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
	*id = ((struct cursor *)base)->i;
	return SQLITE_OK;
}

static const sqlite3_module trace_module = {
	.xCreate = trace_connect,
	.xConnect = trace_connect,
	.xBestIndex = trace_best_index,
	.xDisconnect = trace_disconnect,
	.xDestroy = trace_disconnect,
	.xOpen = trace_open,
	.xClose = trace_close,
	.xFilter = trace_filter,
	.xNext = trace_next,
	.xEof = trace_eof,
	.xColumn = trace_column,
	.xRowid = trace_rowid,
};

int sql_trace_open(struct sql_tables *t, sqlite3 *db, const char *schema)
{
	int code = sqlite3_create_module(db, "iotracer_trace", &trace_module, t);
	char *statement;

	if (code)
		return code;
	statement = sqlite3_mprintf("CREATE VIRTUAL TABLE \"%w\".\"%w\" USING iotracer_trace", schema,
				    SQL_TRACE_TABLE);
	code = statement ? sqlite3_exec(db, statement, NULL, NULL, NULL) : SQLITE_NOMEM;
	sqlite3_free(statement);
	return code;
}
