// SPDX-License-Identifier: GPL-2.0
/* iotracer format: the schema, as text or as the reference table of the docs. */
#include <stdio.h>

#include "cli.h"
#include "command.h"
#include "schema.h"

struct env {
	bool markdown;
};

/* As the module does in /proc/iotracer/format. */
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

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;

	switch (key) {
	case 'm':
		env->markdown = true;
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
		{ "markdown", 'm', NULL, 0, "as a table for documentation", 0 },
		{ 0 }
	};
	static const struct argp argp = {
		options, parse, NULL,
		"Describe the fields of the records that this tool decodes; the module's"
		" own description is /proc/iotracer/format.", cli_common, NULL, NULL
	};
	struct env env = { 0 };

	cli_parse(&argp, argc, argv, 0, &env);
	if (env.markdown)
		print_markdown();
	else
		print_text();
	return CLI_OK;
}
