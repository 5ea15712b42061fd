// SPDX-License-Identifier: GPL-2.0
/* iotracer export: a trace as CSV or JSON, in our columns or IO Tracer's, or as FUSE's log. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "record/store.h"
#include "trace/anonymize.h"
#include "trace/categories.h"
#include "trace/category.h"
#include "trace/check.h"
#include "trace/cpu_merge.h"
#include "trace/fuse.h"
#include "trace/output.h"
#include "trace/paths.h"
#include "trace/record.h"
#include "trace/select.h"
#include "trace/sources.h"
#include "trace/trace.h"
#include "vm/guest_export.h"

#define ROTATE_ROWS 10000000
#define NS_PER_S 1000000000ULL
#define ALL_TIME (~0ULL)
#define LOOK_ROWS 65536		/* rows between two checks whether progress is due */

enum {
	KEY_PER_CATEGORY = 256, KEY_CATEGORY, KEY_ROTATE, KEY_KEY_FILE, KEY_PARTIAL, KEY_COLUMNS,
	KEY_BELOW, KEY_FILTER, KEY_FROM, KEY_TO, KEY_GUEST, KEY_GUEST_IMAGE, KEY_IMAGE_FORMAT,
};

struct env {
	const char *named;	/* the trace, as named on the command line */
	char *trace;		/* the directory of the trace */
	enum cli_format format;
	const char *directory;
	bool per_category;
	bool io_tracer;		/* IO Tracer's columns and directories */
	const struct category *category;
	bool fuse;		/* lines as of IOTraceCollector */
	const char *below;	/* the directory they are of */
	struct fuse_lines lines;
	bool gzip;
	__u64 rotate;
	bool anonymize;
	const char *key_file;
	bool partial;
	struct guest_export guest;
	struct select select;
	struct wall_given from, to;	/* as given; by default all time */
	__u64 begin, end;	/* the same, ns since 1970 */
	struct check check;
	struct anonymizer anonymizer;
	struct paths names;
	struct sources sources;
};

/* Whether progress on the terminal could mix with rows, or with the output of their reader. */
static bool is_pipe_or_terminal(void)
{
	struct stat st;

	return fstat(STDOUT_FILENO, &st) || !S_ISREG(st.st_mode);
}

static void show_progress(const struct cpu_merge *m, const char *category)
{
	if (progress_is_due())
		progress_show("%s: %llu rows, %u %%", category, (unsigned long long)m->events,
			      (unsigned int)(100 * m->reader.at / (m->reader.size + 1)));
}

static bool begin_output(struct env *env, struct output *o,
			 const struct row_printer *p, __u64 time)
{
	if (!output_begin(o, wall_time(&env->check.clock, time)))
		return false;
	if (env->format == FORMAT_CSV && !env->fuse)
		o->used = row_header(p, o->data) - o->data;
	return true;
}

/* Writes the lines that are ready. */
static bool put_lines(struct env *env, struct output *o)
{
	char *row, *end;

	do {
		row = output_row(o);
		end = fuse_next(&env->lines, row);
	} while (end != row && output_put(o, end));
	return end == row;
}

static bool put_record(struct env *env, struct row_printer *p, struct output *o,
		       const void *record)
{
	if (p->nr_added)
		return guest_export_put(&env->guest, p, o, record);
	if (!env->fuse)
		return output_put(o, row_print(p, output_row(o), record));
	fuse_take(&env->lines, record);
	return put_lines(env, o);
}

static __u64 time_of(const struct env *env, const struct wall_given *given)
{
	const struct check *c = &env->check;

	return given->relative ? wall_time(&c->clock, c->metadata.begin.monotonic) + given->ns :
				 given->ns;
}

/* Whether the event began in the given time, and meets the conditions. */
static bool is_wanted(struct env *env, const struct cpu_merge *m, const void *record)
{
	__u64 time;

	if (env->begin || env->end != ALL_TIME) {
		time = wall_time(&env->check.clock, record_time(m->event, record));
		if (time < env->begin || time >= env->end)
			return false;
	}
	return select_wants(&env->select, record);
}

/* False if the output could not be written. */
static bool export_rows(struct env *env, struct cpu_merge *m, struct row_printer *p,
			struct output *o, const struct category *category)
{
	const void *record;

	while ((record = cpu_merge_next(m))) {
		if (m->events % LOOK_ROWS == 0)
			show_progress(m, category->name);
		if (!is_wanted(env, m, record))
			continue;
		if (output_is_full(o) &&
		    !begin_output(env, o, p, record_time(m->event, record)))
			return false;
		p->source = sources_find(&env->sources, merge_cpu_of(m));
		p->note = cpu_merge_note(m, record, &p->note_length);
		if (!put_record(env, p, o, record))
			return false;
	}
	/* Without events there is still a file, with the names of the columns (CSV). */
	if (o->fd < 0 && !begin_output(env, o, p, env->check.metadata.begin.monotonic))
		return false;
	if (!env->fuse)
		return true;
	fuse_settle(&env->lines, true);
	return put_lines(env, o);
}

static void open_printer(const struct env *env, struct row_printer *p,
			 const struct category *category)
{
	if (env->guest.wanted && category == &category_fs)
		guest_export_columns(p);
	if (env->io_tracer)
		row_printer_open(p, category->columns, category->nr_columns);
	else
		row_printer_open_own(p, category->command_op != NO_OP);
}

static int export_category(struct env *env, const struct category *category, size_t i)
{
	char *file = xasprintf("%s.iot", category->name);
	struct output output = {
		.directory = env->directory,
		.category = env->io_tracer ? category->io_tracer : category->name,
		.suffix = env->fuse ? "trace" : env->format == FORMAT_JSON ? "json" : "csv",
		.gzip = env->gzip, .rotate = env->directory ? env->rotate : 0,
	};
	struct row_printer printer = {
		.event = category_event(category), .json = env->format == FORMAT_JSON,
		.clock = &env->check.clock, .paths = &env->names,
		.anonymizer = env->anonymize ? &env->anonymizer : NULL,
		.with_sources = env->sources.nr,
	};
	struct check_file checked;
	struct cpu_merge merge;
	int status = cpu_merge_open(&merge, env->trace, file, printer.event);
	char *why = select_event(&env->select, printer.event, &env->names, printer.anonymizer);

	if (why) {
		cli_say("--filter=%s", why);
		status = CLI_USAGE;
		free(why);
	}
	if (!status) {
		check_begin(&env->check, &checked, category->name, i, &merge);
		open_printer(env, &printer, category);
		output_open(&output);
		if (export_rows(env, &merge, &printer, &output, category))
			check_end(&checked, &merge);
		if (!output_close(&output))
			status = CLI_FAILED;
		row_printer_close(&printer);
	}
	cpu_merge_close(&merge);
	free(file);
	return status;
}

/* Checks that rows on standard output are of one category: they have its columns. */
static int check_one_category(const struct env *env)
{
	if (env->directory || env->per_category || env->category ||
	    !metadata_category(&env->check.metadata, 0) || !metadata_category(&env->check.metadata, 1))
		return CLI_OK;
	cli_say_of(env->trace, "has several categories: say which (--category=%s), or --per-category for all of them, one after another, or where to (-o DIRECTORY)",
		   metadata_category(&env->check.metadata, 0));
	return CLI_USAGE;
}

/* An operation of --filter that no category has is a mistake. */
static int check_operations(const struct env *env)
{
	const struct iot_schema_event **events =
		xreallocarray(NULL, nr_categories, sizeof(*events));
	size_t i, nr = 0;
	char *why;

	for (i = 0; i < nr_categories; i++)
		if (!env->category || categories[i] == env->category)
			events[nr++] = category_event(categories[i]);
	why = select_unknown_op(&env->select, events, nr);
	if (why)
		cli_say("--filter=op: %s", why);
	free(events);
	free(why);
	return why ? CLI_USAGE : CLI_OK;
}

static int export_all(struct env *env)
{
	int status = check_operations(env);
	const char *name;
	bool any = false;
	char *shown;
	size_t i;

	if (status)
		return status;
	for (i = 0; (name = metadata_category(&env->check.metadata, i)); i++) {
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

/* Returns the exit code for a trace that could be read. */
static int judge(const struct env *env)
{
	if (!env->check.damaged || env->partial)
		return CLI_OK;
	cli_say_of(env->trace, "is incomplete, so the exit status is 1 (with --partial: 0)");
	return CLI_FAILED;
}

static int prepare(struct env *env)
{
	int status = check_open(&env->check, env->trace);
	const struct anonymizer *anonymizer;

	env->check.is_recorded = store_is_recorded(env->trace);
	if (!status)
		status = check_one_category(env);
	if (status)
		return status;
	check_state(&env->check);
	env->begin = time_of(env, &env->from);
	env->end = time_of(env, &env->to);
	if (env->anonymize && env->check.metadata.anonymized) {
		cli_say_of(env->trace, "was recorded with --anonymize: its names stay as they are");
		env->anonymize = false;
	}
	if (env->anonymize)
		status = anonymizer_init(&env->anonymizer, env->key_file);
	if (status)
		return status;
	anonymizer = env->anonymize ? &env->anonymizer : NULL;
	sources_load(&env->sources, &env->check.metadata, anonymizer);
	return check_names(&env->check, &env->names, anonymizer);
}

/* The directory as the trace's paths show it, which may be hashed. */
static void prepare_lines(struct env *env)
{
	size_t length = strlen(env->below);
	char *hashed = NULL;

	if (env->anonymize) {
		hashed = xreallocarray(NULL, ANONYMOUS_PATH(length) + 1, 1);
		length = anonymize_path(&env->anonymizer, hashed, env->below, length);
	}
	fuse_add_directory(&env->lines, text_show(hashed ? hashed : env->below, length));
	env->lines.clock = &env->check.clock;
	env->lines.paths = &env->names;
	free(hashed);
}

static int export_lines(struct env *env)
{
	int status;

	prepare_lines(env);
	status = export_all(env);
	fuse_report(&env->lines, env->trace);
	if (!env->lines.inside && strcmp(env->below, "/"))
		cli_say_of(env->trace, "no event is below %s: paths in a trace begin at the root of the machine, or of the container", env->below);
	fuse_free(&env->lines);
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

static void parse_format(struct argp_state *state, struct env *env, const char *arg)
{
	env->fuse = !strcmp(arg, "fuse");
	env->format = !strcmp(arg, "json") ? FORMAT_JSON : FORMAT_CSV;
	if (!env->fuse && env->format == FORMAT_CSV && strcmp(arg, "csv"))
		cli_usage(state, "--format=%s: say csv, json or fuse", arg);
}

static bool parse_columns(struct argp_state *state, const char *arg)
{
	if (strcmp(arg, "own") && strcmp(arg, "io-tracer"))
		cli_usage(state, "--columns=%s: say own or io-tracer", arg);
	return !strcmp(arg, "io-tracer");
}

static void add_filter(struct argp_state *state, struct env *env, char *words)
{
	char *word, *why;

	while ((word = strsep(&words, " "))) {
		why = select_add(&env->select, word);
		if (why)
			cli_usage(state, "--filter=%s: %s", word, why);
	}
}

static void take_time(struct argp_state *state, const char *option, const char *arg,
		      struct wall_given *given)
{
	if (!wall_parse(arg, given))
		cli_usage(state, "%s=%s: say a time in UTC as 2026-11-21T10:43:22.5, or seconds since the beginning of the trace as +1.5",
			  option, arg);
}

static void check_fuse(struct env *env, struct argp_state *state)
{
	if (env->select.nr || env->from.ns || env->from.relative || env->to.ns != ALL_TIME)
		cli_usage(state, "--format=fuse goes with --below, not with --filter, --from or --to");
	if (env->io_tracer)
		cli_usage(state, "--format=fuse has no columns: leave --columns away");
	if (env->category && env->category != &category_fs)
		cli_usage(state, "--format=fuse is for category fs");
	env->category = &category_fs;
	if (!env->below)
		env->below = "/";
}

static void check_guest(struct env *env, struct argp_state *state)
{
	if (env->io_tracer || env->fuse)
		cli_usage(state, "--guest has columns of its own: leave --columns=io-tracer and --format=fuse away");
	if (env->anonymize)
		cli_usage(state, "--guest goes without --anonymize");
	if (env->category && env->category != &category_fs)
		cli_usage(state, "--guest is for category fs");
	env->category = &category_fs;
	if (env->guest.image_format && !env->guest.nr_names)
		cli_usage(state, "--image-format goes with --guest-image");
}

static void check(struct env *env, struct argp_state *state)
{
	if (!env->named)
		cli_usage(state, "say which trace: a directory that iotracer record made");
	if (env->directory && env->per_category)
		cli_usage(state, "--per-category prints on standard output: leave out -o");
	if (env->key_file && !env->anonymize)
		cli_usage(state, "--key-file goes with --anonymize");
	if (env->below && !env->fuse)
		cli_usage(state, "--below goes with --format=fuse");
	if (env->fuse)
		check_fuse(env, state);
	if (env->guest.wanted)
		check_guest(env, state);
	else if (env->guest.image_format)
		cli_usage(state, "--image-format goes with --guest-image");
}

static error_t parse_guest(int key, char *arg, struct argp_state *state, struct env *env)
{
	switch (key) {
	case KEY_GUEST:
		env->guest.wanted = true;
		return 0;
	case KEY_GUEST_IMAGE:
		if (!*arg)
			cli_usage(state, "the name of an image is empty");
		guest_export_add(&env->guest, arg);
		return 0;
	case KEY_IMAGE_FORMAT:
		env->guest.image_format = cli_parse_image_format(state, arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Which events are wanted. */
static error_t parse_selection(int key, char *arg, struct argp_state *state, struct env *env)
{
	switch (key) {
	case KEY_CATEGORY:
		env->category = category_find(arg, strlen(arg));
		if (!env->category)
			cli_usage(state, "--category=%s: there is no such category", arg);
		return 0;
	case KEY_BELOW:
		if (*arg != '/')
			cli_usage(state, "--below=%s: say a path that begins with /", arg);
		env->below = arg;
		return 0;
	case KEY_FROM:
		take_time(state, "--from", arg, &env->from);
		return 0;
	case KEY_TO:
		take_time(state, "--to", arg, &env->to);
		return 0;
	case KEY_FILTER:
		add_filter(state, env, arg);
		return 0;
	default:
		return parse_guest(key, arg, state, env);
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;

	switch (key) {
	case 'f':
		parse_format(state, env, arg);
		return 0;
	case 'o':
		env->directory = arg;
		return 0;
	case KEY_PER_CATEGORY:
		env->per_category = true;
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
		if (env->named)
			cli_usage(state, "%s: one trace at a time", arg);
		env->named = arg;
		return 0;
	case ARGP_KEY_END:
		check(env, state);
		return 0;
	default:
		return parse_selection(key, arg, state, env);
	}
}

static const struct argp_option options[] = {
	{ "format", 'f', "FORMAT", 0, "csv (default), json (one object a line), or fuse: category fs as lines of IOTraceCollector, a tracer by FUSE", 0 },
	{ "below", KEY_BELOW, "DIRECTORY", 0, "with --format=fuse: only what is below DIRECTORY, with paths relative to it", 0 },
	{ "filter", KEY_FILTER, "KEY=VALUE", 0, "only events for which this holds, and all other conditions: the keys of record's --filter but tree and rejected, and path=PATH or PATTERN", 0 },
	{ "from", KEY_FROM, "TIME", 0, "only events that began at this time or later: in UTC, as 2026-11-21T10:43:22.5, or seconds since the beginning of the trace, as +1.5", 0 },
	{ "to", KEY_TO, "TIME", 0, "only events that began before this time", 0 },
	{ "output", 'o', "DIRECTORY", 0, "write files DIRECTORY/fs/fs_<date>_<time>_<ms>.csv and so on (times in UTC) instead of standard output", 0 },
	{ "per-category", KEY_PER_CATEGORY, NULL, 0, "write all categories on standard output, one after another", 0 },
	{ "category", KEY_CATEGORY, "NAME", 0, "only this one", 0 },
	{ "columns", KEY_COLUMNS, "WHOSE", 0, "own (default), as iotracer format --columns describes them, or io-tracer: IO Tracer's columns and directories", 0 },
	{ "gzip", 'z', NULL, 0, "compress", 0 },
	{ "rotate", KEY_ROTATE, "ROWS", 0, "begin another file after ROWS rows (default 10000000, 0: never)", 0 },
	{ "anonymize", 'a', NULL, 0, "hash names: each component of paths (extensions stay), commands, command lines", 0 },
	{ "key-file", KEY_KEY_FILE, "FILE", 0, "use the key in FILE, so that names can be compared between traces (default: a random key that is not kept)", 0 },
	{ "guest", KEY_GUEST, NULL, 0, "category fs: a row for each part of an event, with what it is in the terms of the guest whose disk image it is of, by the maps in the trace of a virtual machine", 0 },
	{ "guest-image", KEY_GUEST_IMAGE, "IMAGE", 0, "the same for IMAGE and its backing files, by what they say now; may be given again", 0 },
	{ "image-format", KEY_IMAGE_FORMAT, "FORMAT", 0, "of each IMAGE: raw or qcow2 (default: by its first bytes, which a guest can write to a raw disk)", 0 },
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
	struct env env = { .format = FORMAT_CSV, .rotate = ROTATE_ROWS, .to.ns = ALL_TIME };
	int status;

	cli_parse(&argp, argc, argv, 0, &env);
	if (!env.directory && is_pipe_or_terminal())
		progress_quiet();
	env.trace = store_find(env.named);
	status = env.trace ? prepare(&env) : CLI_FAILED;
	if (!status && env.guest.wanted)
		status = guest_export_open(&env.guest, &env.check);
	if (!status)
		status = env.fuse ? export_lines(&env) : export_all(&env);
	if (!status)
		guest_export_report(&env.guest);
	if (!status)
		status = judge(&env);
	anonymizer_forget(&env.anonymizer);
	guest_export_close(&env.guest);
	select_free(&env.select);
	sources_free(&env.sources);
	paths_free(&env.names);
	check_close(&env.check);
	free(env.trace);
	return status;
}
