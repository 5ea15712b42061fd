// SPDX-License-Identifier: GPL-2.0
/* iotracer export: a trace as CSV or JSON, in our columns or IO Tracer's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "anonymize.h"
#include "category.h"
#include "cli.h"
#include "command.h"
#include "merge.h"
#include "metadata.h"
#include "names.h"
#include "output.h"
#include "progress.h"
#include "text.h"
#include "trace.h"

#define ROTATE_ROWS 10000000
#define LOOK_ROWS 65536		/* between two looks whether to show progress */

enum { KEY_PER_CATEGORY = 256, KEY_CATEGORY, KEY_ROTATE, KEY_KEY_FILE, KEY_COLUMNS };

struct env {
	const char *trace;
	enum cli_format format;
	const char *directory;
	bool per_category;
	bool io_tracer;		/* its columns and directories */
	const struct category *category;
	bool gzip;
	__u64 rotate;
	bool anonymize;
	const char *key_file;
	struct metadata metadata;
	struct wall_clock clock;
	struct anonymizer anonymizer;
	struct names names;
};

/* What reads our standard output may write to the same terminal, or is it. */
static bool is_pipe_or_terminal(void)
{
	struct stat st;

	return fstat(STDOUT_FILENO, &st) || !S_ISREG(st.st_mode);
}

static void show_progress(const struct merge *m, const char *category)
{
	if (progress_is_due())
		progress_show("%s: %llu rows, %u %%", category, (unsigned long long)m->events,
			      (unsigned int)(100 * m->reader.at / (m->reader.size + 1)));
}

static bool begin_output(struct env *env, struct output *o,
			 const struct record_printer *p, __u64 time)
{
	if (!output_begin(o, wall_time(&env->clock, time)))
		return false;
	if (env->format == FORMAT_CSV)
		o->used = record_header(p, o->data) - o->data;
	return true;
}

/* False when the output could not be written. */
static bool export_rows(struct env *env, struct merge *m, struct record_printer *p,
			struct output *o, const struct category *category)
{
	const void *record;

	while ((record = merge_next(m))) {
		if (output_is_full(o) &&
		    !begin_output(env, o, p, record_time(m->event, record)))
			return false;
		p->note = merge_note(m, record, &p->note_length);
		if (!output_put(o, record_row(p, output_row(o), record)))
			return false;
		if (m->events % LOOK_ROWS == 0)
			show_progress(m, category->name);
	}
	/* No events: the file says what there would have been. */
	return o->fd >= 0 || begin_output(env, o, p, env->metadata.begin.monotonic);
}

static void report(const struct env *env, const struct merge *m, const char *category)
{
	__u64 lost = m->lost;

	progress_end();
	trace_reader_report(&m->reader);
	if (lost)
		cli_say_of(env->trace, "%s: %llu events are missing: they were lost or overwritten before they were read",
			   category, (unsigned long long)lost);
}

static void open_printer(const struct env *env, struct record_printer *p,
			 const struct category *category)
{
	if (env->io_tracer)
		record_printer_open(p, category->columns, category->nr_columns);
	else
		record_printer_open_own(p, category->command_op != NO_OP);
}

static int export_category(struct env *env, const struct category *category)
{
	char *file = cli_printf("%s.iot", category->name);
	struct output output = {
		.directory = env->directory,
		.category = env->io_tracer ? category->io_tracer : category->name,
		.suffix = env->format == FORMAT_JSON ? "json" : "csv",
		.gzip = env->gzip, .rotate = env->directory ? env->rotate : 0,
	};
	struct record_printer printer = {
		.event = category_event(category), .json = env->format == FORMAT_JSON,
		.clock = &env->clock, .paths = &env->names,
		.anonymizer = env->anonymize ? &env->anonymizer : NULL,
	};
	struct merge merge;
	int status = merge_open(&merge, env->trace, file, printer.event);

	if (!status) {
		open_printer(env, &printer, category);
		output_open(&output);
		export_rows(env, &merge, &printer, &output, category);
		if (!output_close(&output))
			status = CLI_FAILED;
		record_printer_close(&printer);
		report(env, &merge, category->name);
	}
	merge_close(&merge);
	free(file);
	return status;
}

/* A table on standard output has the columns of one category. */
static int check_one_category(const struct env *env)
{
	if (env->directory || env->per_category || env->category ||
	    !metadata_category(&env->metadata, 0) || !metadata_category(&env->metadata, 1))
		return CLI_OK;
	cli_say_of(env->trace, "has several categories: say which (--category=%s), or --per-category for all of them, one after another, or where to (-o DIRECTORY)",
		   metadata_category(&env->metadata, 0));
	return CLI_USAGE;
}

static int export_all(struct env *env)
{
	int status = CLI_OK;
	const char *name;
	bool any = false;
	char *shown;
	size_t i;

	for (i = 0; (name = metadata_category(&env->metadata, i)); i++) {
		const struct category *category = category_find(name, strlen(name));

		if (env->category && category != env->category)
			continue;
		any = true;
		if (category) {
			status = cli_merge(status, export_category(env, category));
			continue;
		}
		shown = text_show(name, strlen(name));
		cli_say_of(env->trace, "category %s is not known to this tool", shown);
		free(shown);
		status = cli_merge(status, CLI_FAILED);
	}
	if (any)
		return status;
	cli_say_of(env->trace, "has no category %s: %s says what it has",
		   env->category ? env->category->name : "at all", TRACE_METADATA);
	return CLI_FAILED;
}

/* What a reader of the rows has to know of the trace. */
static void say_state(const struct env *env)
{
	char *shown = text_show(env->metadata.reason, strlen(env->metadata.reason));

	if (!strcmp(env->metadata.state, "RUNNING"))
		cli_say_of(env->trace, "has no end: its recorder was killed, or is still at work");
	else if (strcmp(env->metadata.state, "COMPLETE"))
		cli_say_of(env->trace, "recording ended with an error: %s", shown);
	if (env->anonymize && env->metadata.anonymized)
		cli_say_of(env->trace, "was recorded with --anonymize: its names stay as they are");
	free(shown);
}

static int prepare(struct env *env)
{
	int status = metadata_load(&env->metadata, env->trace);

	if (!status)
		status = check_one_category(env);
	if (status)
		return status;
	say_state(env);
	if (!wall_clock_init(&env->clock, env->metadata.begin, env->metadata.end))
		cli_say_of(env->trace, "the time of day was set while it was recorded: times are those of the clock at its begin");
	env->anonymize &= !env->metadata.anonymized;
	if (env->anonymize)
		status = anonymizer_init(&env->anonymizer, env->key_file);
	if (!status)
		status = names_load(&env->names, env->trace,
				    env->anonymize ? &env->anonymizer : NULL);
	if (!status && env->names.lost)
		cli_say_of(env->trace, "%llu paths are missing, shown as ?: they were forgotten before they were read",
			   (unsigned long long)env->names.lost);
	return status;
}

static __u64 parse_rows(struct argp_state *state, const char *arg)
{
	char *end;
	__u64 n = strtoull(arg, &end, 10);

	if (*arg < '0' || *arg > '9' || *end)
		cli_usage(state, "--rotate=%s: say a number of rows, or 0", arg);
	return n;
}

static bool parse_columns(struct argp_state *state, const char *arg)
{
	if (strcmp(arg, "own") && strcmp(arg, "io-tracer"))
		cli_usage(state, "--columns=%s: say own or io-tracer", arg);
	return !strcmp(arg, "io-tracer");
}

static void check(const struct env *env, struct argp_state *state)
{
	if (!env->trace)
		cli_usage(state, "say which trace: a directory that iotracer record made");
	if (env->directory && env->per_category)
		cli_usage(state, "--per-category prints on standard output: leave -o away");
	if (env->key_file && !env->anonymize)
		cli_usage(state, "--key-file goes with --anonymize");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;

	switch (key) {
	case 'f':
		env->format = !strcmp(arg, "json") ? FORMAT_JSON : FORMAT_CSV;
		if (env->format == FORMAT_CSV && strcmp(arg, "csv"))
			cli_usage(state, "--format=%s: say csv or json", arg);
		return 0;
	case 'o':
		env->directory = arg;
		return 0;
	case KEY_PER_CATEGORY:
		env->per_category = true;
		return 0;
	case KEY_CATEGORY:
		env->category = category_find(arg, strlen(arg));
		if (!env->category)
			cli_usage(state, "--category=%s: there is no such category", arg);
		return 0;
	case KEY_COLUMNS:
		env->io_tracer = parse_columns(state, arg);
		return 0;
	case 'z':
		env->gzip = true;
		return 0;
	case KEY_ROTATE:
		env->rotate = parse_rows(state, arg);
		return 0;
	case 'a':
		env->anonymize = true;
		return 0;
	case KEY_KEY_FILE:
		env->key_file = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (env->trace)
			cli_usage(state, "%s: one trace at a time", arg);
		env->trace = arg;
		return 0;
	case ARGP_KEY_END:
		check(env, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{ "format", 'f', "FORMAT", 0, "csv (default) or json, one object a line", 0 },
	{ "output", 'o', "DIRECTORY", 0, "instead of standard output write DIRECTORY/fs/fs_<date>_<time>_<ms>.csv and so on, times in UTC", 0 },
	{ "per-category", KEY_PER_CATEGORY, NULL, 0, "write all categories on standard output, one after another", 0 },
	{ "category", KEY_CATEGORY, "NAME", 0, "only this one", 0 },
	{ "columns", KEY_COLUMNS, "WHOSE", 0, "own (default), as iotracer format --columns describes them, or io-tracer: IO Tracer's columns and directories", 0 },
	{ "gzip", 'z', NULL, 0, "compress", 0 },
	{ "rotate", KEY_ROTATE, "ROWS", 0, "begin another file after so many rows (default 10000000, 0: never)", 0 },
	{ "anonymize", 'a', NULL, 0, "hash names: each component of paths (extensions stay), commands, command lines", 0 },
	{ "key-file", KEY_KEY_FILE, "FILE", 0, "with this key, for names that can be compared between traces; else nobody has the key", 0 },
	{ 0 }
};

static const char doc[] =
	"Write the events of a trace as rows, in the order in which they ended.\v"
	"The columns are the fields of the category, the unit in the name: iotracer(8) lists"
	" them. csv: lines end in a line feed; what has a comma or a quote is quoted."
	" json: the same columns. Without -o rows go to standard output: those of one category,"
	" unless --per-category is said.\n"
	"Events and paths that are missing are counted on standard error. A trace"
	" that was cut off is read up to its last whole frame.";

int command_export(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "TRACE", doc, cli_common, NULL, NULL
	};
	struct env env = { .format = FORMAT_CSV, .rotate = ROTATE_ROWS };
	int status;

	cli_parse(&argp, argc, argv, 0, &env);
	if (!env.directory && is_pipe_or_terminal())
		progress_quiet();
	status = prepare(&env);
	if (!status)
		status = export_all(&env);
	anonymizer_forget(&env.anonymizer);
	names_free(&env.names);
	metadata_free(&env.metadata);
	return status;
}
