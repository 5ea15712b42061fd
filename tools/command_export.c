// SPDX-License-Identifier: GPL-2.0
/* iotracer export: a trace as CSV or JSON, in our columns or IO Tracer's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
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
#define NS_PER_S 1000000000ULL
#define LOOK_ROWS 65536		/* between two checks whether progress is due */

enum { KEY_PER_CATEGORY = 256, KEY_CATEGORY, KEY_ROTATE, KEY_KEY_FILE, KEY_PARTIAL, KEY_COLUMNS };

struct env {
	const char *trace;
	enum cli_format format;
	const char *directory;
	bool per_category;
	bool io_tracer;		/* IO Tracer's columns and directories */
	const struct category *category;
	bool gzip;
	__u64 rotate;
	bool anonymize;
	const char *key_file;
	bool partial;
	bool damaged;		/* the trace is not whole, which was reported */
	struct metadata metadata;
	struct wall_clock clock;
	struct anonymizer anonymizer;
	struct names names;
};

/* Then the reader of our standard output is the terminal, or may write to the same one. */
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

/* False if the output could not be written. */
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
	/* Without events there is still a file, with the names of the columns (CSV). */
	return o->fd >= 0 || begin_output(env, o, p, env->metadata.begin.monotonic);
}

/* "2026-11-21T12:28:32.330205607Z", or @otherwise if @time is 0. */
static char *show_time(const struct env *env, __u64 time, const char *otherwise)
{
	__u64 wall = wall_time(&env->clock, time);
	time_t seconds = wall / NS_PER_S;
	char text[32];
	struct tm tm;

	if (!time)
		return cli_strdup(otherwise);
	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	return cli_printf("%s.%09lluZ", text, (unsigned long long)(wall % NS_PER_S));
}

struct told {
	struct env *env;
	const char *category;
};

static void tell_hole(void *data, const struct merge_hole *hole)
{
	const struct told *told = data;
	char *after = show_time(told->env, hole->after, "the beginning");
	char *before = show_time(told->env, hole->before, "the end");

	told->env->damaged = true;
	progress_end();
	cli_say_of(told->env->trace, "%s: events are missing from the file: cpu %u, seq %llu to %llu, ended between %s and %s",
		   told->category, hole->cpu, (unsigned long long)hole->first,
		   (unsigned long long)hole->last, after, before);
	free(after);
	free(before);
}

/* The trace has to have the events that metadata.json lists for each CPU. */
static void expect(struct merge *m, const struct metadata_file *f)
{
	unsigned int cpu;
	__u64 first, behind;
	size_t i;

	for (i = 0; metadata_cpu(f, i, &cpu, &first, &behind); i++)
		merge_expect(m, cpu, first, behind);
}

static void say_lost(const struct env *env, const char *category, __u64 lost, __u64 all)
{
	char *share = text_share(lost, all);

	cli_say_of(env->trace, "%s: %llu events (%s) are missing: they were lost or overwritten before they were read",
		   category, (unsigned long long)lost, share);
	free(share);
}

/* @file: the counts of metadata.json, NULL if it has none. */
static void report(struct env *env, struct merge *m, const char *category,
		   const struct metadata_file *file)
{
	progress_end();
	if (file)
		trace_reader_check(&m->reader, file->frames, file->bytes);
	if (file && m->events != file->events) {
		env->damaged = true;
		cli_say_of(env->trace, "%s: %llu of %llu events can be read", category,
			   (unsigned long long)m->events, (unsigned long long)file->events);
	}
	env->damaged |= m->reader.damaged;
	if (m->lost)
		say_lost(env, category, m->lost, m->events + m->lost);
	if (file && file->missed)
		cli_say_of(env->trace, "%s: %llu calls are missing: the kernel's hooks missed them",
			   category, (unsigned long long)file->missed);
}

static void open_printer(const struct env *env, struct record_printer *p,
			 const struct category *category)
{
	if (env->io_tracer)
		record_printer_open(p, category->columns, category->nr_columns);
	else
		record_printer_open_own(p, category->command_op != NO_OP);
}

static int export_category(struct env *env, const struct category *category, size_t i)
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
	struct told told = { env, category->name };
	struct metadata_file expected;
	bool known = metadata_category_file(&env->metadata, i, &expected);
	struct merge merge;
	int status = merge_open(&merge, env->trace, file, printer.event);

	merge.hole = tell_hole;
	merge.hole_data = &told;
	if (!status) {
		if (known)
			expect(&merge, &expected);
		open_printer(env, &printer, category);
		output_open(&output);
		if (export_rows(env, &merge, &printer, &output, category))
			report(env, &merge, category->name, known ? &expected : NULL);
		if (!output_close(&output))
			status = CLI_FAILED;
		record_printer_close(&printer);
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
			status = cli_merge(status, export_category(env, category, i));
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

/* A LOSSY trace ended well: its losses are reported for each category. */
static bool ended_well(const struct metadata *m)
{
	return !strcmp(m->state, "COMPLETE") || !strcmp(m->state, "LOSSY");
}

/* Reports what the user of the rows has to know about the trace. */
static void say_state(struct env *env)
{
	char *shown = text_show(env->metadata.reason, strlen(env->metadata.reason));

	if (!strcmp(env->metadata.state, "RUNNING"))
		cli_say_of(env->trace, "has no end: its recorder was killed, or is still at work");
	else if (!ended_well(&env->metadata))
		cli_say_of(env->trace, "recording ended with an error: %s", shown);
	env->damaged |= !ended_well(&env->metadata) || env->metadata.damaged;
	if (!env->metadata.damaged && !metadata_check_schema(&env->metadata, env->trace))
		env->damaged = true;
	if (env->anonymize && env->metadata.anonymized)
		cli_say_of(env->trace, "was recorded with --anonymize: its names stay as they are");
	free(shown);
}

/* The exit code for a trace that could be read. */
static int judge(const struct env *env)
{
	if (!env->damaged || env->partial)
		return CLI_OK;
	cli_say_of(env->trace, "is not whole, so this is a failure (--partial: it is none)");
	return CLI_FAILED;
}

static int load_names(struct env *env)
{
	struct metadata_file expected;
	bool known = metadata_paths_file(&env->metadata, &expected);
	int status = names_load(&env->names, env->trace, known ? &expected : NULL,
				env->anonymize ? &env->anonymizer : NULL);

	env->damaged |= env->names.damaged;
	if (!status && env->names.lost)
		cli_say_of(env->trace, "%llu paths are missing, shown as ?: they were forgotten before they were read",
			   (unsigned long long)env->names.lost);
	return status;
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
	return status ? status : load_names(env);
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
	case KEY_PARTIAL:
		env->partial = true;
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
	{ "format", 'f', "FORMAT", 0, "csv (default) or json (one object a line)", 0 },
	{ "output", 'o', "DIRECTORY", 0, "write files DIRECTORY/fs/fs_<date>_<time>_<ms>.csv and so on (times in UTC) instead of standard output", 0 },
	{ "per-category", KEY_PER_CATEGORY, NULL, 0, "write all categories on standard output, one after another", 0 },
	{ "category", KEY_CATEGORY, "NAME", 0, "only this one", 0 },
	{ "columns", KEY_COLUMNS, "WHOSE", 0, "own (default), as iotracer format --columns describes them, or io-tracer: IO Tracer's columns and directories", 0 },
	{ "gzip", 'z', NULL, 0, "compress", 0 },
	{ "rotate", KEY_ROTATE, "ROWS", 0, "begin another file after ROWS rows (default 10000000, 0: never)", 0 },
	{ "anonymize", 'a', NULL, 0, "hash names: each component of paths (extensions stay), commands, command lines", 0 },
	{ "key-file", KEY_KEY_FILE, "FILE", 0, "use the key in FILE, so that names can be compared between traces (default: a random key that is not kept)", 0 },
	{ "partial", KEY_PARTIAL, NULL, 0, "exit with 0 even if the trace is damaged, cut off or has no end; what is missing is still reported", 0 },
	{ 0 }
};

static const char doc[] =
	"Write the events of a trace as rows, in the order in which they ended.\v"
	"The columns are the fields of the category, the unit in the name: iotracer-trace(5) lists"
	" them. csv: lines end in a line feed; what has a comma or a quote is quoted."
	" json: the same columns. Without -o rows go to standard output: those of one category,"
	" unless --per-category is given.\n"
	"Events and paths that are missing are reported on standard error. Of a trace that"
	" is damaged or cut off everything is read that is whole, what is missing is"
	" reported by CPU, seq and time, and the exit status is 1.";

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
	if (!status)
		status = judge(&env);
	anonymizer_forget(&env.anonymizer);
	names_free(&env.names);
	metadata_free(&env.metadata);
	return status;
}
