// SPDX-License-Identifier: GPL-2.0
/* iotracer format: the schema, as text or as the reference table of the docs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "cmd/command.h"
#include "cmd/format_sql.h"
#include "core/schema.h"
#include "trace/categories.h"
#include "trace/category.h"
#include "trace/row.h"

struct env {
	enum { AS_TEXT, AS_COLUMNS, AS_OPTIONS, AS_MANUAL } how;
	bool sql;		/* statements in @dialect instead */
	enum sql_dialect dialect;
	const char *tree;
};

/* Prints what the module shows in /proc/iotracer/format. */
static void print_text(void)
{
	unsigned int i, j;

	printf("iotracer stream %d schema %016llx\n", IOT_STREAM_VERSION,
	       (unsigned long long)iot_schema_hash());
	for (i = 0; i < iot_schema_events; i++) {
		const struct iot_schema_event *e = &iot_schema[i];

		printf("event %s id %u size %u: %s\n", e->name, e->id, e->size, e->text);
		for (j = 0; j < e->nr_fields; j++) {
			const struct iot_schema_field *f = &e->fields[j];

			printf("field %s offset %u size %u type %s kind %s unit %s: %s\n",
			       f->name, f->offset, f->size, f->type, f->kind,
			       *f->unit ? f->unit : "-", f->text);
		}
	}
}

/* Descriptions of the columns that are not fields of the record. */
#define TIMESTAMP_TEXT	"time as date and time of day, in UTC"
#define SINCE_TEXT	"time since T0"
#define CMDLINE_TEXT	"PROCESS_EXEC: the command line, empty if the process had exited when the event was read"

/* A table of columns: what it lists, and its title. */
struct table {
	const struct iot_schema_event *event;
	const char *name;
	const struct category *category;	/* NULL: the log of a file */
};

typedef void (*put_column)(const struct table *t, const char *column, const char *unit,
			   const char *text);

static void each_column(const struct table *t, put_column put)
{
	unsigned int i;

	if (t->category)
		put(t, "timestamp", "", TIMESTAMP_TEXT);
	else
		put(t, "since_t0_s", "s", SINCE_TEXT);
	for (i = 0; i < t->event->nr_fields; i++) {
		const struct iot_schema_field *f = &t->event->fields[i];
		char *column = row_field_column(f);

		if (row_field_is_shown(f))
			put(t, column, f->unit, f->text);
		free(column);
	}
	if (t->category && t->category->command_op != NO_OP)
		put(t, "cmdline", "", CMDLINE_TEXT);
}

/* Gets the @i-th table: the categories, then the log of a file. */
static bool table_of(struct table *t, size_t i)
{
	if (i > nr_categories)
		return false;
	if (i == nr_categories) {
		*t = (struct table){ .event = &iot_schema[0], .name = "log" };
		return true;
	}
	*t = (struct table){ .event = category_event(categories[i]),
			     .name = categories[i]->name, .category = categories[i] };
	return true;
}

static void put_line(const struct table *t, const char *column, const char *unit,
		     const char *text)
{
	printf("%s\t%s\t%s\t%s\n", t->name, column, *unit ? unit : "-", text);
}

static void print_columns(void)
{
	struct table t;
	size_t i;

	for (i = 0; table_of(&t, i); i++)
		each_column(&t, put_line);
}

/* Bytes of the longest line of the manual page, and of the \& that each line starts with. */
#define ROFF_LINE	78
#define ROFF_BEGIN	2

/* Escapes a character that has a meaning in roff(7). */
static const char *roff_character(char c)
{
	static char plain[2];

	if (c == '\\')
		return "\\e";
	if (c == '-')
		return "\\-";
	plain[0] = c;
	return plain;
}

static size_t roff_length(const char *word, size_t length)
{
	size_t i, n = 0;

	for (i = 0; i < length; i++)
		n += strlen(roff_character(word[i]));
	return n;
}

/* Print a text, with line breaks between words. */
static void put_roff(const char *text)
{
	size_t at = ROFF_BEGIN;

	while (*text) {
		size_t i, length = strcspn(text, " ");
		size_t room = roff_length(text, length);

		if (at > ROFF_BEGIN && at + 1 + room > ROFF_LINE) {
			fputs("\n\\&", stdout);
			at = ROFF_BEGIN;
		} else if (at > ROFF_BEGIN) {
			putchar(' ');
			at++;
		}
		for (i = 0; i < length; i++)
			fputs(roff_character(text[i]), stdout);
		at += room;
		text += length + (text[length] == ' ');
	}
}

static void put_manual(const struct table *t, const char *column, const char *unit,
		       const char *text)
{
	(void)t;
	printf("%s\t%s\tT{\n\\&", column, unit);
	put_roff(text);
	fputs("\nT}\n", stdout);
}

static void print_io_tracer(const struct category *category)
{
	size_t i;

	printf(".TP\n.BR %s \" (\" %s )\n", category->name, category->io_tracer);
	for (i = 0; i < category->nr_columns; i++)
		printf("%s%s\n", category->columns[i].name,
		       i + 1 < category->nr_columns ? "," : "");
}

static void print_manual(void)
{
	struct table t;
	size_t i;

	for (i = 0; table_of(&t, i); i++) {
		if (t.category)
			printf(".SS \"Category %s\"\n", t.name);
		else
			puts(".SS \"The log of a file\"");
		puts(".TS\nlb lb lb\nlb l lx.\ncolumn\tunit\tmeaning");
		each_column(&t, put_manual);
		puts(".TE");
	}
	puts(".SS \"IO Tracer's columns\"");
	for (i = 0; i < nr_categories; i++)
		print_io_tracer(categories[i]);
}

/* - stands for a letter, an argument or words that the option does not have. */
static void print_options_of(const struct command *c, const struct cli_option *o)
{
	for (; o && o->name; o++) {
		char letter[] = { o->letter ? o->letter : '-', '\0' };
		char *text = c->filter ? c->filter(0, o->help, NULL) : (char *)o->help;

		printf("%s\t%s\t%s\t%s\t%s\t%s\n", c->name, o->name, letter,
		       o->argument ? o->argument : "-", o->words ? o->words : "-", text);
		if (text != o->help)
			free(text);
	}
}

static void print_options(void)
{
	size_t i;

	for (i = 0; i < nr_commands; i++) {
		print_options_of(commands[i], commands[i]->options);
		if (commands[i]->group)
			print_options_of(commands[i], commands[i]->group->options);
	}
}

static void take_sql(struct argp_state *state, void *to, const char *arg)
{
	struct env *env = to;
	int i = option_word(SQL_DIALECTS, arg, strlen(arg));

	if (i < 0)
		cli_usage(state, "--sql=%s: say %s", arg, option_words_listed(SQL_DIALECTS));
	env->sql = true;
	env->dialect = i;
}

static int run(int argc, char **argv)
{
	static void (*const prints[])(void) = {
		[AS_TEXT] = print_text, [AS_COLUMNS] = print_columns,
		[AS_OPTIONS] = print_options, [AS_MANUAL] = print_manual,
	};
	struct env env = { 0 };

	command_parse(&command_format, argc, argv, &env);
	if (env.sql)
		return format_sql(env.dialect, env.tree);
	prints[env.how]();
	return CLI_OK;
}

#define HOW TO_SET(struct env, how)

static const struct cli_option options[] = {
	{ "columns", 'c', NULL, "describe the columns of exports and logs instead: category, column, unit and meaning, separated by tabs",
	  HOW, .least = AS_COLUMNS },
	{ "options", 0, NULL, "describe the options of all commands instead: command, option, letter, argument, words and meaning, separated by tabs",
	  TO_SET(struct env, how), .least = AS_OPTIONS },
	{ "sql", 0, "DATABASE", "print the statements instead that make the tables of a tree of export --partition in DATABASE",
	  OPTION_TAKE, .words = SQL_DIALECTS, .take = take_sql },
	{ "tree", 0, "DIRECTORY", "of the tree in DIRECTORY: only of the categories that it has (default: of all, in the directory in which the database is started)",
	  TO_TEXT(struct env, tree), .values = VALUES_DIRECTORY, .with = "sql" },
	{ "manual", 0, NULL, "print the tables of columns of iotracer-trace(5) as source", HOW, .least = AS_MANUAL },
	{ 0 }
};

const struct command command_format = {
	.name = "format",
	.summary = "describe the fields of a record",
	.help =
		"Describe the fields of the records that this tool decodes. The module describes its own"
		" in /proc/iotracer/format.",
	.options = options,
	.operands = { .excess = "format takes no argument" },
	.run = run,
};
