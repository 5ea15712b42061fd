// SPDX-License-Identifier: GPL-2.0
/* iotracer export: a trace as CSV or JSON, in our columns or IO Tracer's, or in formats of others, or a database. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "cmd/export_sqlite.h"
#include "cmd/pass.h"
#include "cmd/selection.h"
#include "cmd/timeline.h"
#include "record/store.h"
#include "trace/anonymize.h"
#include "trace/categories.h"
#include "trace/category.h"
#include "trace/check.h"
#include "trace/cpu_merge.h"
#include "trace/export_formats.h"
#include "trace/exporter.h"
#include "trace/fuse.h"
#include "trace/output.h"
#include "trace/paths.h"
#include "trace/record.h"
#include "trace/sources.h"
#include "trace/trace.h"
#include "vm/guest_export.h"

#define ROTATE_ROWS 10000000
#define LOOK_ROWS 65536		/* rows between two checks whether progress is due */

struct env {
	struct cli_words words;
	const char *named;	/* the trace, as named on the command line */
	char *trace;		/* the directory of the trace */
	enum cli_format format;
	const char *directory;
	bool per_category;
	enum { OWN, IO_TRACER } columns;	/* IO Tracer's have their directories, too */
	const struct category *category;
	const struct export_format *other;	/* of another program; NULL: rows, or lines as below */
	bool fuse;		/* lines as of IOTraceCollector */
	const char *below;	/* the directory they are of */
	struct fuse_lines lines;
	bool gzip;
	__u64 rotate;
	bool anonymize;
	const char *key_file;
	bool partial;
	struct guest_export guest;
	struct timeline timeline;
	struct selection selection;
	struct check check;
	struct anonymizer anonymizer;
	struct paths names;
	struct sources sources;
};

static void show_progress(const struct cpu_merge *m, const char *category)
{
	progress_of(category, m->events, "rows", m->reader.at, m->reader.size);
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

/* False if the output could not be written. */
static bool export_rows(struct env *env, struct cpu_merge *m, struct row_printer *p,
			struct output *o, const struct category *category)
{
	const void *record;

	while ((record = cpu_merge_next(m))) {
		if (m->events % LOOK_ROWS == 0)
			show_progress(m, category->name);
		if (!selection_wants(&env->selection, &env->check.clock,
				     record_time(m->event, record), record))
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
	if (env->columns == IO_TRACER)
		row_printer_open(p, category->columns, category->nr_columns);
	else
		row_printer_open_own(p, category->command_op != NO_OP);
}

/* As rows, or as the lines of IOTraceCollector. False if the output could not be written. */
static bool export_own(struct env *env, struct cpu_merge *merge, const struct category *category)
{
	struct output output = {
		.directory = env->directory,
		.category = env->columns == IO_TRACER ? category->io_tracer : category->name,
		.suffix = env->fuse ? "trace" : env->format == FORMAT_JSON ? "json" : "csv",
		.gzip = env->gzip, .rotate = env->directory ? env->rotate : 0,
	};
	struct row_printer printer = {
		.event = category_event(category), .json = env->format == FORMAT_JSON,
		.clock = &env->check.clock, .paths = &env->names,
		.anonymizer = env->anonymize ? &env->anonymizer : NULL,
		.with_sources = env->sources.nr,
	};
	bool good;

	open_printer(env, &printer, category);
	output_open(&output);
	good = export_rows(env, merge, &printer, &output, category);
	row_printer_close(&printer);
	return output_close(&output) && good;
}

/* The records that are wanted, to the format of another program. */
static bool convert_rows(struct env *env, struct cpu_merge *m, struct exporter *x,
			 const struct category *category)
{
	const void *record;

	while ((record = cpu_merge_next(m))) {
		if (m->events % LOOK_ROWS == 0)
			show_progress(m, category->name);
		if (!selection_wants(&env->selection, &env->check.clock,
				     record_time(m->event, record), record))
			continue;
		x->source = sources_find(&env->sources, merge_cpu_of(m));
		if (!exporter_take(x, record))
			return false;
	}
	return exporter_finish(x);
}

/* As above. */
static bool export_other(struct env *env, struct cpu_merge *merge, const struct category *category)
{
	struct output output = {
		.directory = env->directory, .category = category->name,
		.suffix = env->other->suffix, .gzip = env->gzip,
	};
	struct exporter exporter = {
		.format = env->other, .trace = env->trace, .event = category->event_id,
		.host = json_string_value(json_object_get(env->check.metadata.document, "host")) ?: "",
		.clock = &env->check.clock,
		.begin = wall_time(&env->check.clock, env->check.metadata.begin.monotonic),
		.paths = &env->names, .anonymizer = env->anonymize ? &env->anonymizer : NULL,
		.output = &output,
	};
	bool good;

	output_open(&output);
	exporter_open(&exporter);
	good = convert_rows(env, merge, &exporter, category);
	progress_end();
	if (!output_close(&output))
		good = false;
	if (good)
		exporter_report(&exporter);
	exporter_close(&exporter);
	return good;
}

/* As above, to the time line. */
static bool export_events(struct env *env, struct cpu_merge *m, const struct category *category,
			  const struct check_file *checked)
{
	const void *record;

	if (!timeline_begin(&env->timeline, category))
		return false;
	while ((record = cpu_merge_next(m))) {
		if (m->events % LOOK_ROWS == 0)
			show_progress(m, category->name);
		if (!timeline_put(&env->timeline, m, record,
				  selection_wants(&env->selection, &env->check.clock,
						  record_time(m->event, record), record)))
			return false;
	}
	return timeline_end(&env->timeline, checked, m);
}

static int export_category(struct env *env, const struct category *category, size_t i)
{
	const struct iot_schema_event *event = category_event(category);
	char *file = xasprintf("%s.iot", category->name);
	struct selection_skips skips = { &env->selection, &env->check.clock };
	struct check_file checked;
	struct cpu_merge merge;
	int status = cpu_merge_open(&merge, env->trace, file, event);
	bool good;

	if (!status)
		status = selection_event(&env->selection, event, &env->names,
					 env->anonymize ? &env->anonymizer : NULL);
	if (!status) {
		check_begin(&env->check, &checked, category->name, i, &merge);
		/* A time line shows gaps, which are between all records. */
		merge.wants = timeline_is(env->format) ? NULL : selection_may_want;
		merge.wants_data = &skips;
		good = timeline_is(env->format) ? export_events(env, &merge, category, &checked) :
		       env->other ? export_other(env, &merge, category) :
				    export_own(env, &merge, category);
		progress_end();
		if (good)
			check_end(&checked, &merge);
		else
			status = CLI_FAILED;
	}
	cpu_merge_close(&merge);
	free(file);
	return status;
}

/* Checks that rows on standard output are of one category: they have its columns. */
static int check_one_category(const struct env *env)
{
	if (env->directory || env->per_category || env->category || timeline_is(env->format) ||
	    !metadata_category(&env->check.metadata, 0) || !metadata_category(&env->check.metadata, 1))
		return CLI_OK;
	cli_say_of(env->trace, "has several categories: say which (--category=%s), or --per-category for all of them, one after another, or where to (-o DIRECTORY)",
		   metadata_category(&env->check.metadata, 0));
	return CLI_USAGE;
}

static int export_all(struct env *env)
{
	int status = env->category ?
		selection_open(&env->selection, &env->check, &env->category, 1) :
		selection_open(&env->selection, &env->check, categories, nr_categories);
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

/* Whether the format can be made of the category. */
static bool goes_with(const struct export_format *other, const struct category *category)
{
	size_t i;

	for (i = 0; i < EXPORT_CATEGORIES; i++)
		if (other->events[i] == category->event_id)
			return true;
	return false;
}

/* The category that the format is made of, if none was named: the first one that the trace has. */
static int choose_category(struct env *env)
{
	const char *name;
	size_t i, j;

	for (i = 0; i < EXPORT_CATEGORIES; i++)
		for (j = 0; (name = metadata_category(&env->check.metadata, j)); j++) {
			const struct category *category = category_find(name, strlen(name));

			if (!env->category && category && category->event_id == env->other->events[i])
				env->category = category;
		}
	if (env->category)
		return CLI_OK;
	cli_say_of(env->trace, "has no category that --format=%s can be made of: record it with -c %s",
		   env->other->name, iot_schema_find(env->other->events[0])->name);
	return CLI_FAILED;
}

static int prepare(struct env *env)
{
	int status = check_open(&env->check, env->trace);
	const struct anonymizer *anonymizer;

	env->check.is_recorded = check_is_recorded(env->trace);
	if (!status && env->other && !timeline_is(env->format) && !env->category)
		status = choose_category(env);
	if (!status)
		status = check_one_category(env);
	if (status)
		return status;
	check_state(&env->check);
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

static int export_timeline(struct env *env)
{
	int status;

	env->timeline = (struct timeline){
		.format = env->format, .directory = env->directory, .gzip = env->gzip, .check = &env->check,
		.paths = &env->names, .sources = &env->sources,
		.anonymizer = env->anonymize ? &env->anonymizer : NULL,
	};
	status = timeline_open(&env->timeline);
	if (status)
		return status;
	status = export_all(env);
	return timeline_close(&env->timeline) ? status : CLI_FAILED;
}

static void take_rows(struct argp_state *state, void *to, const char *arg)
{
	struct env *env = to;
	char *end;

	env->rotate = strtoull(arg, &end, 10);
	if (*arg < '0' || *arg > '9' || *end)
		cli_usage(state, "--rotate=%s: say a number of rows, or 0", arg);
}

static void take_category(struct argp_state *state, void *to, const char *arg)
{
	struct env *env = to;

	env->category = category_find(arg, strlen(arg));
	if (!env->category)
		cli_usage(state, "--category=%s: there is no such category", arg);
}

static void take_below(struct argp_state *state, void *to, const char *arg)
{
	struct env *env = to;

	if (*arg != '/')
		cli_usage(state, "--below=%s: say a path that begins with /", arg);
	env->below = arg;
}

static void take_guest_image(struct argp_state *state, void *to, const char *arg)
{
	struct env *env = to;

	if (!*arg)
		cli_usage(state, "the name of an image is empty");
	guest_export_add(&env->guest, arg);
}

static void check_fuse(struct env *env, struct argp_state *state)
{
	if (selection_is_given(&env->selection))
		cli_usage(state, "--format=fuse goes with --below, not with --filter, --from or --to");
	if (env->columns == IO_TRACER)
		cli_usage(state, "--format=fuse has no columns: leave --columns away");
	if (env->category && env->category != &category_fs)
		cli_usage(state, "--format=fuse is for category fs");
	env->category = &category_fs;
	if (!env->below)
		env->below = "/";
}

static void check_sqlite(struct env *env, struct argp_state *state)
{
	if (!env->directory)
		cli_usage(state, "--format=sqlite writes a file: name it with -o FILE");
	if (env->columns == IO_TRACER || env->guest.wanted || env->gzip)
		cli_usage(state, "--format=sqlite goes without --columns=io-tracer, --guest and --gzip");
}

static void check_guest(struct env *env, struct argp_state *state)
{
	if (env->columns == IO_TRACER || env->fuse)
		cli_usage(state, "--guest has columns of its own: leave --columns=io-tracer and --format=fuse away");
	if (env->anonymize)
		cli_usage(state, "--guest goes without --anonymize");
	if (env->category && env->category != &category_fs)
		cli_usage(state, "--guest is for category fs");
	env->category = &category_fs;
	if (env->guest.image_format && !env->guest.nr_names)
		cli_usage(state, "--image-format goes with --guest-image");
}

/* Refuses what makes no sense with the format of another program. */
static void check_other(struct env *env, struct argp_state *state, const struct option_parser *given)
{
	static const char *const never[] = { "columns", "rotate", "per-category", "guest", "guest-image" };
	const char *format = env->other->name;
	size_t i;

	for (i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		if (option_given(given, never[i]))
			cli_usage(state, "--format=%s goes without --%s", format, never[i]);
	if (env->gzip && env->other->no_gzip)
		cli_usage(state, "--format=%s goes without --gzip: %s", format, env->other->no_gzip);
	if (env->other->in_directory && !env->directory)
		cli_usage(state, "--format=%s makes several files: say where (-o DIRECTORY)", format);
	if (env->category && !timeline_is(env->format) && !goes_with(env->other, env->category))
		cli_usage(state, "--format=%s is not for category %s", format, env->category->name);
}

static void check(struct argp_state *state, void *to, const struct option_parser *given)
{
	struct env *env = to;

	env->other = export_format_find(env->format);
	if (env->other)
		check_other(env, state, given);
	env->named = env->words.at[0];
	env->fuse = env->format == FORMAT_FUSE;
	if (env->directory && env->per_category)
		cli_usage(state, "--per-category prints on standard output: leave out -o");
	if (env->fuse)
		check_fuse(env, state);
	if (env->format == FORMAT_SQLITE)
		check_sqlite(env, state);
	if (env->guest.wanted)
		check_guest(env, state);
	else if (env->guest.image_format)
		cli_usage(state, "--image-format goes with --guest-image");
}

static int export_database(struct env *env)
{
	struct pass pass = {
		.selection = env->selection, .partial = env->partial, .named = { env->category },
		.nr_named = env->category ? 1 : 0, .anonymize = env->anonymize, .key_file = env->key_file,
	};
	int status = pass_open(&pass, &env->words);

	if (!status)
		status = export_sqlite(&pass, env->directory);
	status = pass_close(&pass, status);
	interrupt_end();
	return status;
}

static int run(int argc, char **argv)
{
	struct env env = { .format = FORMAT_CSV, .rotate = ROTATE_ROWS,
			   .selection = SELECTION_NONE };
	int status;

	command_parse(&command_export, argc, argv, &env);
	if (env.format == FORMAT_SQLITE)
		return export_database(&env);
	if (!env.directory)
		progress_beside_output();
	env.trace = store_find(env.named);
	status = env.trace ? prepare(&env) : CLI_FAILED;
	if (!status && env.guest.wanted)
		status = guest_export_open(&env.guest, &env.check);
	if (!status)
		status = env.fuse ? export_lines(&env) :
			 timeline_is(env.format) ? export_timeline(&env) : export_all(&env);
	if (!status)
		guest_export_report(&env.guest);
	if (!status)
		status = check_judge(&env.check, env.partial);
	anonymizer_forget(&env.anonymizer);
	guest_export_close(&env.guest);
	select_free(&env.selection.select);
	sources_free(&env.sources);
	paths_free(&env.names);
	check_close(&env.check);
	free(env.trace);
	return status;
}

static const struct cli_option options[] = {
	{ "format", 'f', "FORMAT",
	  "output format: csv (default), json (one object per line), or one of another program: fuse (IOTraceCollector; fs), fio (fs, block), blktrace (block), msr (MSR Cambridge's CSV; block), folded (flame graphs; block, fs), or with all categories: perfetto (ui.perfetto.dev), ctf (Common Trace Format: babeltrace2, Trace Compass), or sqlite, a database",
	  TO_FORMAT(struct env, format), "csv json fuse fio blktrace msr folded perfetto ctf sqlite" },
	{ "below", 0, "DIRECTORY",
	  "with --format=fuse: write only operations below DIRECTORY, with paths relative to it",
	  OPTION_TAKE, .take = take_below, .values = VALUES_DIRECTORY, .with = "format=fuse" },
	{ "output", 'o', "DIRECTORY",
	  "write to files DIRECTORY/fs/fs_<date>_<time>_<ms>.csv and so on (times in UTC) instead of standard output; with --format=sqlite, to a new file of that name",
	  TO_TEXT(struct env, directory), .values = VALUES_DIRECTORY },
	{ "per-category", 0, NULL,
	  "write all categories to standard output, one after another",
	  TO_FLAG(struct env, per_category) },
	{ "category", 0, "NAME", "write only category NAME",
	  OPTION_TAKE, .take = take_category, .values = VALUES_CATEGORY },
	{ "columns", 0, "WHOSE",
	  "columns and names of directories: own (default, see iotracer format --columns), or io-tracer, those of IO Tracer",
	  TO_WORD(struct env, columns), "own io-tracer" },
	{ "gzip", 'z', NULL, "compress the output with gzip", TO_FLAG(struct env, gzip) },
	{ "rotate", 0, "ROWS", "start a new file after ROWS rows (default 10000000; 0: never)",
	  OPTION_TAKE, .take = take_rows },
	{ "anonymize", 'a', NULL,
	  "replace names by hashes: each component of paths (file extensions stay), commands and command lines",
	  TO_FLAG(struct env, anonymize) },
	{ "key-file", 0, "FILE",
	  "hash with the key in FILE, so that names can be compared between traces (default: a random key that is not kept)",
	  TO_TEXT(struct env, key_file), .values = VALUES_FILE, .with = "anonymize" },
	{ "guest", 0, NULL,
	  "fs: write a row for each part of an event on a disk image, with its location on the guest's disk, from the maps in the trace",
	  TO_FLAG(struct env, guest.wanted) },
	{ "guest-image", 0, "IMAGE",
	  "like --guest, for IMAGE and its backing files as they are now; may be repeated",
	  OPTION_TAKE, .take = take_guest_image, .values = VALUES_FILE },
	{ "image-format", 0, "FORMAT",
	  "format of each IMAGE: raw or qcow2 (default: detected from its first bytes, which the guest of a raw image can write)",
	  TO_TEXT(struct env, guest.image_format), "raw qcow2" },
	{ "partial", 0, NULL,
	  "exit with 0 even if the trace is damaged, truncated or has no end; what is missing is still reported",
	  TO_FLAG(struct env, partial) },
	{ 0 }
};

const struct command command_export = {
	.name = "export",
	.summary = "write a trace as CSV, JSON, or in the format of another program",
	.synopsis = "TRACE",
	.help =
		"Write the events of a trace as rows, in the order in which they ended.\v"
		"The columns are the fields of the category, with the unit in the name; iotracer-trace(5)"
		" lists them. csv: lines end in a line feed; values with a comma or a quote are quoted."
		" json: the same columns. Without -o, the rows of one category are written to standard"
		" output, or with --per-category those of all. perfetto and ctf: all categories in one"
		" output, or that of --category. Formats of other programs are described in"
		" iotracer(8).\n"
		"Missing events and paths are reported on standard error. If a trace is damaged or"
		" truncated, all intact parts are read, missing events are reported by CPU, seq and time,"
		" and the exit status is 1.",
	.options = options,
	.group = &selection_options, .group_at = offsetof(struct env, selection),
	.operands = { 1, 1, "say which trace: a directory that iotracer record made",
		      "one trace at a time", VALUES_TRACE | VALUES_DIRECTORY },
	.words = offsetof(struct env, words),
	.check = check,
	.run = run,
};
