// SPDX-License-Identifier: GPL-2.0
/* iotracer sql: queries of a trace, whose categories are tables. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/progress.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "cmd/pass.h"
#include "cmd/sql_output.h"
#include "cmd/sql_trace.h"

#define QUERY_MAX	(1024 * 1024)		/* bytes of a query */
#define VALUE_MAX	(16 * 1024 * 1024)	/* bytes of a text that a query makes */
#define HEAP_MAX	(256LL * 1024 * 1024)	/* bytes that sqlite may allocate */
#define STEPS		10000			/* of sqlite between two looks for an interrupt */

struct env {
	struct cli_words words;
	enum cli_format format;
	struct pass pass;
	struct sql_tables tables;
	struct sql_output output;
	sqlite3 *db;
	bool interactive;
	char *query;		/* that is not complete yet */
	size_t length;
};

/* --- what a query may do ---------------------------------------------------------- */

/* A query may come from elsewhere: it reads tables and computes, and nothing else. */
static int authorize(void *data, int action, const char *first, const char *second, const char *schema,
		     const char *inner)
{
	(void)data;
	(void)first;
	(void)schema;
	(void)inner;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return strcmp(second, "load_extension") && strcmp(second, "fts3_tokenizer") ?
			SQLITE_OK : SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

static void set_limits(sqlite3 *db)
{
	sqlite3_hard_heap_limit64(HEAP_MAX);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, VALUE_MAX);
	sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, QUERY_MAX);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	/* a text in double quotes that is no name is a mistake */
	sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	sqlite3_set_authorizer(db, authorize, NULL);
}

/* --- ^C --------------------------------------------------------------------------- */

/* At a prompt, ^C ends the query and not the program. */
static atomic_int interrupted;

static void interrupt(int number)
{
	(void)number;
	interrupted = true;
}

static bool is_interrupted(void *data)
{
	(void)data;
	return interrupted;
}

static int look(void *data)
{
	return is_interrupted(data);
}

static void catch_interrupts(const struct env *env, bool on)
{
	struct sigaction action = { .sa_handler = on ? interrupt : SIG_DFL, .sa_flags = SA_RESTART };

	interrupted = false;
	if (env->interactive)
		sigaction(SIGINT, &action, NULL);
}

/* --- queries ---------------------------------------------------------------------- */

/* Where another query could do better. */
static const char *hint_for(int code, const char *message)
{
	if (code == SQLITE_AUTH)
		return ": a query reads the trace, with SELECT, and nothing else";
	if (strstr(message, "no such table"))
		return " (SELECT category FROM " SQL_TRACE_TABLE " shows which there are)";
	if (strstr(message, "no such column"))
		return " (iotracer format --columns lists them; put texts in single quotes)";
	if (strstr(message, "syntax error"))
		return " (put names that are words of SQL in double quotes, as \"drop\" and \"index\")";
	return "";
}

/* An error of the trace was reported by who found it. */
static int refuse(struct env *env, int code)
{
	const char *message = sqlite3_errmsg(env->db);

	progress_end();
	if (code == SQLITE_INTERRUPT) {
		cli_say("interrupted");
		return CLI_FAILED;
	}
	if (!env->tables.status)
		cli_say("query: %s%s", message, hint_for(code, message));
	return code == SQLITE_ERROR || code == SQLITE_AUTH ? CLI_USAGE : CLI_FAILED;
}

static int run_statement(struct env *env, sqlite3_stmt *statement)
{
	int code;

	if (!sqlite3_stmt_readonly(statement)) {
		cli_say("query: a query reads the trace, with SELECT, and nothing else");
		return CLI_USAGE;
	}
	sql_output_begin(&env->output, statement);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW)
		sql_output_row(&env->output, statement);
	sql_output_end(&env->output, statement);
	progress_end();
	return code == SQLITE_DONE ? CLI_OK : refuse(env, code);
}

/* Runs the statements of a text up to the first that fails. */
static int run_text(struct env *env, const char *text)
{
	int status = CLI_OK;

	catch_interrupts(env, true);
	while (!status && *text) {
		sqlite3_stmt *statement = NULL;
		int code = sqlite3_prepare_v2(env->db, text, -1, &statement, &text);

		env->tables.status = CLI_OK;
		if (code)
			status = refuse(env, code);
		else if (statement)
			status = run_statement(env, statement);
		sqlite3_finalize(statement);
		if (env->tables.status)
			status = env->tables.status;
	}
	sql_tables_report(&env->tables);
	catch_interrupts(env, false);
	return status;
}

/* --- standard input ----------------------------------------------------------------- */

/* Adds a part of a line to the query. False if it is too long. */
static bool add_part(struct env *env, const char *part)
{
	size_t length = strlen(part);

	if (env->length + length > QUERY_MAX) {
		cli_say("query: is longer than %d bytes", QUERY_MAX);
		return false;
	}
	env->query = xreallocarray(env->query, env->length + length + 1, 1);
	memcpy(env->query + env->length, part, length + 1);
	env->length += length;
	return true;
}

static void show_prompt(const struct env *env)
{
	if (!env->interactive)
		return;
	fputs(env->length ? "...> " : "sql> ", stdout);
	fflush(stdout);
}

static int run_query(struct env *env)
{
	int status = env->length ? run_text(env, env->query) : CLI_OK;

	env->length = 0;
	return status;
}

/* A person may correct a query that failed; other queries may depend on it. */
static int run_input(struct env *env)
{
	int status = CLI_OK;
	char part[4096];

	show_prompt(env);
	while (fgets(part, sizeof(part), stdin)) {
		if (!add_part(env, part)) {
			env->length = 0;
			return CLI_USAGE;
		}
		if (!strchr(part, '\n'))
			continue;
		if (sqlite3_complete(env->query))
			status = run_query(env);
		if (status && !env->interactive)
			return status;
		show_prompt(env);
	}
	if (ferror(stdin)) {
		cli_say("standard input cannot be read");
		return CLI_FAILED;
	}
	if (env->interactive)
		putchar('\n');
	return cli_merge(env->interactive ? CLI_OK : status, run_query(env));
}

/* With --live, the only operand is a query. */
static void check(struct argp_state *state, void *to, const struct option_parser *given)
{
	struct env *env = to;

	(void)given;
	if (env->pass.record && env->words.nr == 2)
		cli_usage(state, "--live has no trace: leave %s away", env->words.at[0]);
}

/* --- the command --------------------------------------------------------------------- */

static int open_database(struct env *env)
{
	int code = sqlite3_open_v2(":memory:", &env->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
				   SQLITE_OPEN_MEMORY, NULL);

	env->tables.stop = is_interrupted;
	if (!code)
		code = sql_tables_open(&env->tables, &env->pass, env->db, "main");
	if (!code)
		code = sql_trace_open(&env->tables, env->db, "main");
	if (code) {
		cli_say("sqlite: %s", sqlite3_errmsg(env->db));
		return CLI_FAILED;
	}
	set_limits(env->db);
	sqlite3_progress_handler(env->db, STEPS, look, NULL);
	return CLI_OK;
}

/* Lines of progress would mix with those of a program that reads the output. */
static bool is_piped(void)
{
	struct stat st;

	return fstat(STDOUT_FILENO, &st) || S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode);
}

static int run(int argc, char **argv)
{
	struct env env = { .pass = PASS_NONE, .format = FORMAT_TEXT };
	struct cli_words trace;
	const char *query;
	int status;

	command_parse(&command_sql, argc, argv, &env);
	trace = env.words;
	if (is_piped())
		progress_quiet();
	env.output.format = env.format;
	trace.nr = !env.pass.record && env.words.nr;
	query = env.words.nr > trace.nr ? env.words.at[trace.nr] : NULL;
	env.interactive = !query && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	status = pass_open(&env.pass, &trace);
	if (!status)
		status = open_database(&env);
	if (!status)
		status = query ? run_text(&env, query) : run_input(&env);
	sqlite3_close(env.db);
	sql_tables_free(&env.tables);
	sql_output_free(&env.output);
	free(env.query);
	return pass_close(&env.pass, status);
}

static const struct cli_option options[] = {
	{ "format", 'f', "FORMAT", "output format: text (default), csv or json (one object per line)",
	  TO_FORMAT(struct env, format), "text csv json" },
	{ 0 }
};

const struct command command_sql = {
	.name = "sql",
	.summary = "query a trace with SQL",
	.synopsis = "TRACE [QUERY]\n--live [QUERY]",
	.help =
		"Answer a QUERY about a trace, as \"SELECT op, count(*) FROM fs GROUP BY op\", or the queries"
		" on standard input, each of which ends with a semicolon.\v"
		"Each category is a table with the columns of export, and begin_ns: nanoseconds since 1970"
		" when the event began. The table _trace has a row for each category: its records, and the"
		" events that were lost, missed or cannot be read. Queries are those of SQLite, and only"
		" read. iotracer(8) has examples.",
	.options = options,
	.group = &pass_options, .group_at = offsetof(struct env, pass),
	.operands = { 0, 2, NULL, "one query at a time: quote it for the shell",
		      VALUES_TRACE | VALUES_DIRECTORY },
	.words = offsetof(struct env, words),
	.check = check,
	.run = run,
};
