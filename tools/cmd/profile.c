// SPDX-License-Identifier: GPL-2.0
/* iotracer profile: the access pattern of a file, or of what a trace has, at a glance. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/xalloc.h"
#include "cmd/by.h"
#include "cmd/command.h"
#include "cmd/pass.h"
#include "cmd/picture.h"
#include "cmd/profile_maps.h"
#include "cmd/profile_target.h"
#include "cmd/profile_vm.h"
#include "record/store.h"
#include "trace/categories.h"
#include "trace/page_access.h"
#include "trace/pattern.h"
#include "trace/pattern_picture.h"
#include "trace/pattern_report.h"
#include "trace/profile.h"
#include "trace/reuse.h"
#include "trace/trace.h"

struct env {
	struct cli_words words;
	struct pass pass;
	enum cli_format format;
	struct stats_keys keys;
	int sort;		/* enum pattern_sort */
	__u64 top;
	__u64 window;		/* accesses */
	bool reuse;
	bool map;
	const char *output;	/* file of a picture; NULL: none */
	struct picture picture;
	__u64 memory;		/* bytes, for reuse */
	const char *vm;		/* a virtual machine whose drives are meant, or NULL */
	bool is_trace;
	json_t *document;	/* of --format=json: an array of the categories */
	size_t printed;		/* categories */
};

static void print(struct env *env, const struct pattern_report *r)
{
	if (env->output) {
		pattern_picture_svg(r, &env->picture.svg);
		env->printed++;
		return;
	}
	switch (env->format) {
	case FORMAT_JSON:
		json_add(env->document, pattern_report_json(r));
		break;
	case FORMAT_CSV:
		if (!env->printed)
			pattern_report_csv_header(&env->keys, env->reuse);
		pattern_report_csv(r);
		break;
	default:
		if (env->printed)
			putchar('\n');
		pattern_report_text(r);
		if (r->maps)
			pattern_picture_text(r);
	}
	env->printed++;
}

static void add_all(struct env *env, struct pass_reader *reader, struct patterns *patterns, struct reuse *reuse)
{
	struct page_access_fields fields;
	struct page_access access;
	const void *record;
	__u32 key;

	page_access_fields_open(&fields, reader->event, &env->pass.sources);
	while ((record = pass_next(reader))) {
		env->keys.source = reader->source;
		key = patterns_add(patterns, record, &reader->measure, (uintptr_t)reader->source);
		if (env->reuse && key != PATTERN_LEFT_OUT &&
		    page_access_of(&fields, record, &reader->measure, reader->source, &access))
			reuse_add(reuse, key, &access);
	}
}

static void finish(const struct env *env, struct patterns *patterns, struct reuse *reuse)
{
	__u32 *row_of;

	patterns_finish(patterns, env->sort, env->top);
	if (!env->reuse)
		return;
	row_of = patterns_row_of(patterns);
	reuse_finish(reuse, row_of, patterns->table.names.nr, patterns->nr);
	free(row_of);
}

/* Prints the patterns, with maps if they are wanted. */
static int report(struct env *env, size_t i, struct pattern_report *report, struct patterns *patterns)
{
	struct access_map *maps = NULL;
	int status = CLI_OK;

	if (env->map || env->output)
		status = profile_maps(&env->pass, i, &env->keys, patterns, &maps, &report->nr_maps);
	report->maps = maps;
	if (!status)
		print(env, report);
	free(maps);
	return status;
}

static int profile_category(struct env *env, size_t i)
{
	struct pattern_report r = { .category = env->pass.at[i].category->name };
	struct pass_reader reader;
	struct patterns patterns;
	struct reuse reuse;
	int status = pass_reader_open(&reader, &env->pass, i);

	if (!status) {
		patterns_open(&patterns, &env->keys, reader.event);
		reuse_open(&reuse, env->memory);
		add_all(env, &reader, &patterns, &reuse);
		finish(env, &patterns, &reuse);
	}
	pass_reader_close(&reader);
	if (status)
		return status;
	r.patterns = &patterns;
	r.basis = reader.basis;
	r.reuse = env->reuse ? &reuse : NULL;
	status = report(env, i, &r, &patterns);
	reuse_free(&reuse);
	patterns_free(&patterns);
	return status;
}

static int profile_by_keys(struct env *env, size_t i)
{
	bool has;
	int status = by_open(&env->keys, &env->pass, i, &has);

	if (has) {
		status = profile_category(env, i);
		stats_keys_close(&env->keys);
	}
	return status;
}

static int profile_all(struct env *env)
{
	int status = CLI_OK;
	size_t i;

	for (i = 0; i < env->pass.nr; i++) {
		const struct category *category = env->pass.at[i].category;

		if (positions_has(category_event(category))) {
			status = cli_merge(status, profile_by_keys(env, i));
		} else if (env->pass.nr_named) {
			cli_say("-c %s: only fs and block have accesses to profile", category->name);
			status = CLI_USAGE;
		}
	}
	if (!status && !env->printed) {
		cli_say_of(env->pass.trace, "has no accesses to profile: record category fs or block");
		status = CLI_FAILED;
	}
	return status;
}

static int profile_trace(struct env *env)
{
	json_t *document;
	int status;

	if (!env->keys.nr)
		free(stats_keys_add(&env->keys, "file"));
	env->document = json_array();
	status = picture_open(&env->picture, env->output);
	if (!status)
		status = pass_open(&env->pass, &env->words);
	if (!status)
		status = profile_all(env);
	status = picture_finish(&env->picture, status, "where accesses are over time", env->pass.trace);
	if (env->format == FORMAT_JSON && env->printed) {
		document = json_object();
		json_put(document, "trace", json_shown(env->pass.trace));
		json_put(document, "categories", json_incref(env->document));
		json_print(document);
	}
	json_decref(env->document);
	return pass_close(&env->pass, status);
}

static bool has_metadata(const char *directory, const char *name)
{
	char *file = xasprintf("%s/%s/" TRACE_METADATA, directory, name);
	bool has = !access(file, F_OK);

	free(file);
	return has;
}

/* Whether a word means a trace: its directory, or else one that is kept and is no file here. */
static bool is_trace(const char *word)
{
	char *root;
	bool kept;

	if (has_metadata(word, "."))
		return true;
	if (strchr(word, '/') || !access(word, F_OK))
		return false;
	root = store_root();
	kept = root && has_metadata(root, word);
	free(root);
	return kept;
}

static void check_vm(struct argp_state *state, const struct env *env, const struct option_parser *given)
{
	const struct pass *pass = &env->pass;

	if (!env->words.nr && !pass->record)
		cli_usage(state, "--vm: say which trace, made with record --vm=%s, or --live", env->vm);
	if (option_given(given, "by") || option_given(given, "sort") || option_given(given, "top"))
		cli_usage(state, "--vm has a row for each drive: it goes without --by, --sort and --top");
	if (env->map || env->output)
		cli_usage(state, "--map and --output are for files: they go without --vm");
	if (option_given(given, "window"))
		cli_usage(state, "--window is for a file that is a target, not for a virtual machine");
	if (pass->nr_named && (pass->nr_named != 1 || pass->named[0] != &category_fs))
		cli_usage(state, "--vm is made from category fs: leave -c away");
}

static void check(struct argp_state *state, void *to, const struct option_parser *given)
{
	struct env *env = to;
	const struct pass *pass = &env->pass;
	bool for_traces = option_given(given, "by") || option_given(given, "sort") ||
			  option_given(given, "top") || env->reuse || env->format == FORMAT_CSV ||
			  selection_is_given(&pass->selection) || pass->nr_named ||
			  pass->partial || pass->record;

	picture_check(state, env->output, given);
	if (env->vm) {
		check_vm(state, env, given);
		return;
	}
	if (!env->words.nr && !pass->record)
		cli_usage(state, "say which file or trace, or --live");
	env->is_trace = for_traces || is_trace(env->words.at[0]);
	if (env->is_trace && option_given(given, "window"))
		cli_usage(state, "--window is for a file that is a target, not for a trace");
}

static int run(int argc, char **argv)
{
	struct env env = {
		.pass = PASS_NONE, .format = FORMAT_TEXT, .top = 20, .window = PROFILE_WINDOW,
		.memory = PAGE_ACCESSES_MEMORY,
	};

	command_parse(&command_profile, argc, argv, &env);
	if (env.vm)
		return profile_vm(&env.pass, &env.words, env.vm, env.format, env.reuse ? env.memory : 0);
	if (env.is_trace)
		return profile_trace(&env);
	return profile_target(env.words.at[0], &(struct profile_wish){
		.format = env.format, .window = env.window, .map = env.map, .output = env.output,
	});
}

static void take_keys(struct argp_state *state, void *to, const char *arg)
{
	by_take(state, &((struct env *)to)->keys, arg);
}

static const struct cli_option options[] = {
	{ "by", 0, "KEY[,KEY]",
	  "for traces: make rows for each value of KEY, or of both (default file): " BY_HELP,
	  OPTION_TAKE, .take = take_keys, .words = STATS_KEY_WORDS, .values = VALUES_LIST },
	{ "sort", 0, "HOW", "for traces: sort keys by bytes (default), count, or name",
	  TO_WORD(struct env, sort), PATTERN_SORT_WORDS },
	{ "top", 0, "N",
	  "for traces: show the first N keys, and the others as one (default 20; 0: show all)",
	  TO_NUMBER(struct env, top), .least = 0, .most = 1000000000 },
	{ "vm", 0, "NAME|PID",
	  "for a trace that record --vm made, or with --live: make rows for each drive of this virtual machine, at the guest's own offsets",
	  TO_TEXT(struct env, vm), .values = VALUES_MACHINE },
	{ "reuse", 0, NULL,
	  "for traces: also show how many other blocks of 4 KiB are accessed before a block is accessed again",
	  TO_FLAG(struct env, reuse) },
	{ "map", 0, NULL,
	  "also show where accesses are over time, in a trace those of each key: rows are ranges of offsets, columns are time",
	  TO_FLAG(struct env, map) },
	{ "memory", 0, "SIZE",
	  "use this much memory for --reuse; if it is not enough, blocks are sampled (default 256 MiB)",
	  TO_SIZE(struct env, memory), .with = "reuse" },
	{ "window", 0, "N",
	  "for targets: search N accesses before and after each access for its predecessor (default 16)",
	  TO_NUMBER(struct env, window), .least = 1, .most = 1000000 },
	PICTURE_OPTION(struct env, output),
	{ "format", 'f', "FORMAT", "output format: text (default), json or, for traces, csv",
	  TO_FORMAT(struct env, format), "text csv json" },
	{ 0 }
};

const struct command command_profile = {
	.name = "profile",
	.summary = "summarise the access patterns of a file or a trace",
	.synopsis = "FILE\nTRACE\n--live\n--vm=NAME|PID TRACE",
	.help =
		"Summarise the recorded accesses of a file, at the VFS and at the block"
		" layer, or those of a trace by file or another key: how sequential they are, their"
		" sizes, their alignment.\v"
		"FILE is a path or the name of a target. An access is sequential if it"
		" starts where the previous one of the same level and kind (read or write)"
		" ended. The first access of a kind has no predecessor and counts as neither"
		" sequential nor random. Within the window, an access is sequential if any of"
		" the N accesses before or after it ended where it starts, as with several"
		" concurrent streams; the first short accesses of a process, which probe the"
		" file, do not count as random there. Shares are given by accesses and by bytes."
		" Failed and empty calls are counted separately. Percentiles are by nearest rank."
		" The latency of an asynchronous request ends at its completion, except for"
		" those that \"to submission only\" counts.\n"
		"In a TRACE, the previous access is that of the same kind and thread to the same file"
		" (fs), or of the same kind to the same device (block). An access is SEQUENTIAL if it"
		" starts where that one ended; the SAME if it starts where that one started; STRIDED if it"
		" is as far from that one as that one was from its own predecessor; else RANDOM. It is"
		" aligned if both its start and its end are.\n"
		"With --vm, an access is a part of a call of QEMU on an image of the drive, at the offset on the"
		" guest's disk that the maps in the trace have for it, and its predecessor is that of the same kind"
		" to the same drive. Latencies are those of calls; a flush is an fsync or fdatasync of an image."
		" Drives have the names that log --vm shows.\n"
		"With --reuse, the distance of an access is the number of different blocks that its key"
		" accessed since its last access to this block, that one included: the size of the smallest LRU"
		" cache, for this key alone, in which it is a hit, as cache-sim has it. Percentiles are exact."
		" NO REUSE is the share of accesses to whose block none follows: one for each block. Accesses"
		" are those to files and disks. If they do not fit the memory, blocks are sampled, and figures"
		" are estimates.",
	.options = options,
	.group = &pass_options, .group_at = offsetof(struct env, pass),
	.operands = { 0, 1, NULL, "one file or trace at a time",
		      VALUES_TARGET | VALUES_TRACE | VALUES_FILE },
	.check = check,
	.words = offsetof(struct env, words),
	.run = run,
};
