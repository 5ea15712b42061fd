// SPDX-License-Identifier: GPL-2.0
/* iotracer format: the schema, as text or as the reference table of the docs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "cmd/command.h"
#include "core/schema.h"
#include "trace/categories.h"
#include "trace/category.h"
#include "trace/row.h"

enum { KEY_MANUAL = 256 };

struct env {
	enum { AS_TEXT, AS_MARKDOWN, AS_COLUMNS, AS_MANUAL } how;
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

static void put_cell(const char *text)
{
	for (; *text; text++) {
		if (*text == '|')
			putchar('\\');
		putchar(*text);
	}
}

static void print_row(const struct iot_schema_field *f)
{
	printf("| `%s` | ", f->name);
	if (f->type[0] == 'c')
		printf("char[%u]", f->size);
	else
		fputs(f->type, stdout);
	printf(" | %u | %s | ", f->offset, f->kind);
	put_cell(f->unit);
	fputs(*f->unit ? " | " : "| ", stdout);
	put_cell(f->text);
	puts(" |");
}

static void print_markdown(void)
{
	unsigned int i, j;

	for (i = 0; i < iot_schema_events; i++) {
		const struct iot_schema_event *e = &iot_schema[i];

		printf("%s### `%s` (event %u, %u bytes)\n\n", i ? "\n" : "", e->name,
		       e->id, e->size);
		put_cell(e->text);
		puts("\n\n| field | type | offset | kind | unit | meaning |");
		puts("|---|---|---|---|---|---|");
		for (j = 0; j < e->nr_fields; j++)
			print_row(&e->fields[j]);
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

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;

	switch (key) {
	case 'm':
		env->how = AS_MARKDOWN;
		return 0;
	case 'c':
		env->how = AS_COLUMNS;
		return 0;
	case KEY_MANUAL:
		env->how = AS_MANUAL;
		return 0;
	case ARGP_KEY_ARG:
		cli_usage(state, "%s: format takes no argument", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int command_format(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "columns", 'c', NULL, 0, "describe the columns of exports and logs instead: category, column, unit, meaning, separated by tabs", 0 },
		{ "markdown", 'm', NULL, 0, "as a table for documentation", 0 },
		{ "manual", KEY_MANUAL, NULL, 0, "the columns, as a section of iotracer-trace(5)", 0 },
		{ 0 }
	};
	static const struct argp argp = {
		options, parse, NULL,
		"Describe the fields of the records that this tool decodes; the module's"
		" own description is /proc/iotracer/format.", cli_common, NULL, NULL
	};
	static void (*const prints[])(void) = {
		[AS_TEXT] = print_text, [AS_MARKDOWN] = print_markdown,
		[AS_COLUMNS] = print_columns, [AS_MANUAL] = print_manual,
	};
	struct env env = { 0 };

	cli_parse(&argp, argc, argv, 0, &env);
	prints[env.how]();
	return CLI_OK;
}
