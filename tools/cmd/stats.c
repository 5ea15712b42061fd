// SPDX-License-Identifier: GPL-2.0
/* iotracer stats: the totals of a trace: counts, bytes, errors, latencies, rates. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "cmd/selection.h"
#include "record/store.h"
#include "trace/categories.h"
#include "trace/check.h"
#include "trace/cpu_merge.h"
#include "trace/measure.h"
#include "trace/paths.h"
#include "trace/sources.h"
#include "trace/stats.h"
#include "trace/stats_report.h"

#define LOOK_ROWS 65536		/* records between two checks whether progress is due */
#define INTERVAL_LEAST 1000000	/* ns */
#define NS_PER_S 1e9
#define CATEGORIES 64

struct env {
	struct cli_words words;
	char *trace;		/* the directory of the trace */
	enum cli_format format;
	const struct category *categories[CATEGORIES];
	size_t nr_categories;	/* 0: all of the trace */
	struct stats_keys keys;
	int sort;		/* enum stats_sort */
	__u64 top;
	double interval;	/* seconds; 0: none */
	bool errors;
	bool partial;
	struct selection selection;
	struct check check;
	struct paths names;
	struct sources sources;
	json_t *document;	/* of --format=json: an array of the categories */
	size_t printed;		/* categories */
};

static __u64 wall_of(const struct env *env, __u64 monotonic)
{
	return wall_time(&env->check.clock, monotonic);
}

/* Returns when the last event ended, counted or not, ns since 1970. */
static __u64 count(struct env *env, struct cpu_merge *merge, struct stats *s)
{
	struct measurer measurer;
	struct measure m;
	const void *record;
	__u64 last = 0;

	measurer_open(&measurer, merge->event);
	while ((record = cpu_merge_next(merge))) {
		if (merge->events % LOOK_ROWS == 0 && progress_is_due())
			progress_show("%llu events, %u %%", (unsigned long long)merge->events,
				      (unsigned int)(100 * merge->reader.at / (merge->reader.size + 1)));
		measure(&measurer, record, &m);
		last = m.time + m.latency;
		if (!selection_wants(&env->selection, &env->check.clock, m.time, record))
			continue;
		env->keys.source = sources_find(&env->sources, merge_cpu_of(merge));
		stats_add(s, record, &m, wall_of(env, m.time));
	}
	progress_end();
	return wall_of(env, last);
}

static void print(struct env *env, const struct stats_report *r)
{
	switch (env->format) {
	case FORMAT_JSON:
		json_add(env->document, stats_report_json(r));
		break;
	case FORMAT_CSV:
		if (!env->printed)
			stats_report_csv_header(r->stats);
		stats_report_csv(r);
		break;
	default:
		if (env->printed)
			putchar('\n');
		stats_report_text(r);
	}
	env->printed++;
}

/* The time that rates are of: that of the trace, cut by --from and --to. @last: the end if it has none. */
static void set_times(const struct env *env, struct stats_report *r, __u64 last)
{
	const struct metadata *m = &env->check.metadata;

	r->begin = wall_of(env, m->begin.monotonic);
	r->end = m->end.monotonic ? wall_of(env, m->end.monotonic) : last;
	if (env->selection.begin > r->begin)
		r->begin = env->selection.begin;
	if (env->selection.end < r->end)
		r->end = env->selection.end;
}

static void report(struct env *env, const struct check_file *checked, const struct cpu_merge *merge,
		   const struct stats *s, __u64 last)
{
	struct stats_report r = {
		.category = checked->category, .stats = s, .lost = merge->lost,
		.with_errors = env->errors,
	};

	if (checked->known) {
		r.missed = checked->expected.missed;
		if (checked->expected.events > merge->events)
			r.unreadable = checked->expected.events - merge->events;
	}
	set_times(env, &r, last);
	print(env, &r);
}

static int stats_of(struct env *env, const struct category *category, size_t i)
{
	char *file = xasprintf("%s.iot", category->name);
	struct stats s = {
		.interval = env->interval * NS_PER_S + 0.5, .sort = env->sort, .top = env->top,
		.origin = wall_of(env, env->check.metadata.begin.monotonic),
	};
	struct check_file checked;
	struct cpu_merge merge;
	int status = cpu_merge_open(&merge, env->trace, file, category_event(category));
	__u64 last;

	if (!status)
		status = selection_event(&env->selection, merge.event, &env->names, NULL);
	if (!status) {
		check_begin(&env->check, &checked, category->name, i, &merge);
		stats_begin(&s, &env->keys);
		last = count(env, &merge, &s);
		check_end(&checked, &merge);
		stats_finish(&s);
		report(env, &checked, &merge, &s, last);
		stats_free(&s);
	}
	cpu_merge_close(&merge);
	free(file);
	return status;
}

/* A key that a category does not have is a mistake if the category was named. */
static int stats_by_keys(struct env *env, const struct category *category, size_t i)
{
	const char *lacks = stats_keys_open(&env->keys, category_event(category), &env->names);
	int status;

	if (lacks && env->nr_categories) {
		cli_say("--by=%s: events of category %s have no %s", lacks, category->name, lacks);
		return CLI_USAGE;
	}
	if (lacks) {
		cli_say("category %s is left out: its events have no %s", category->name, lacks);
		return CLI_OK;
	}
	status = stats_of(env, category, i);
	stats_keys_close(&env->keys);
	return status;
}

static bool is_named(const struct env *env, const char *name)
{
	size_t i;

	for (i = 0; i < env->nr_categories; i++)
		if (!strcmp(env->categories[i]->name, name))
			return true;
	return !env->nr_categories;
}

static int unknown_category(const struct env *env, const char *name)
{
	char *shown = text_show(name, strlen(name));

	cli_say_of(env->trace, "category %s is not known to this tool", shown);
	free(shown);
	return CLI_FAILED;
}

/* Whether the trace has each category that was named. */
static int check_categories(const struct env *env)
{
	const char *name;
	size_t i, j;

	for (i = 0; i < env->nr_categories; i++) {
		for (j = 0; (name = metadata_category(&env->check.metadata, j)); j++)
			if (!strcmp(name, env->categories[i]->name))
				break;
		if (!name) {
			cli_say_of(env->trace, "has no category %s: %s says what it has",
				   env->categories[i]->name, TRACE_METADATA);
			return CLI_FAILED;
		}
	}
	return CLI_OK;
}

static int stats_of_all(struct env *env)
{
	int status = env->nr_categories ?
		selection_open(&env->selection, &env->check, env->categories, env->nr_categories) :
		selection_open(&env->selection, &env->check, categories, nr_categories);
	const char *name;
	size_t i;

	if (!status)
		status = check_categories(env);
	if (status)
		return status;
	for (i = 0; (name = metadata_category(&env->check.metadata, i)); i++) {
		const struct category *category = category_find(name, strlen(name));

		if (!is_named(env, name))
			continue;
		status = cli_merge(status, category ? stats_by_keys(env, category, i) :
						      unknown_category(env, name));
	}
	if (!status && !env->printed) {
		cli_say_of(env->trace, "has no category with such keys");
		status = CLI_FAILED;
	}
	return status;
}

static int prepare(struct env *env)
{
	int status = check_open(&env->check, env->trace);

	env->check.is_recorded = check_is_recorded(env->trace);
	env->check.shows_counts = true;
	if (status)
		return status;
	check_state(&env->check);
	sources_load(&env->sources, &env->check.metadata, NULL);
	env->keys.merged = env->sources.nr;
	return check_names(&env->check, &env->names, NULL);
}

static void take_categories(struct argp_state *state, void *to, const char *arg)
{
	struct env *env = to;
	char *words = (char *)arg, *word;

	while ((word = strsep(&words, ","))) {
		const struct category *category = category_find(word, strlen(word));

		if (!category)
			cli_usage(state, "--categories: there is no category \"%s\" (there are: %s)",
				  word, category_names());
		if (env->nr_categories && is_named(env, word))
			cli_usage(state, "--categories: %s twice", word);
		env->categories[env->nr_categories++] = category;
	}
}

static void take_keys(struct argp_state *state, void *to, const char *arg)
{
	struct env *env = to;
	char *words = (char *)arg, *word, *why;

	while ((word = strsep(&words, ","))) {
		why = stats_keys_add(&env->keys, word);
		if (why)
			cli_usage(state, "--by=%s: %s", word, why);
	}
}

static int run(int argc, char **argv)
{
	struct env env = { .format = FORMAT_TEXT, .top = 20, .selection = SELECTION_NONE };
	json_t *document;
	int status;

	command_parse(&command_stats, argc, argv, &env);
	if (!env.keys.nr)
		free(stats_keys_add(&env.keys, "op"));
	env.trace = store_find(env.words.at[0]);
	status = env.trace ? prepare(&env) : CLI_FAILED;
	env.document = json_array();
	if (!status)
		status = stats_of_all(&env);
	if (env.format == FORMAT_JSON && env.printed) {
		document = json_object();
		json_put(document, "trace", json_shown(env.trace));
		json_put(document, "categories", json_incref(env.document));
		json_print(document);
	}
	if (!status)
		status = check_judge(&env.check, env.partial);
	json_decref(env.document);
	select_free(&env.selection.select);
	sources_free(&env.sources);
	paths_free(&env.names);
	check_close(&env.check);
	free(env.trace);
	return status;
}

static const struct cli_option options[] = {
	{ "categories", 'c', "NAME,...", "sum up only these categories (default: all of the trace); may be repeated",
	  OPTION_TAKE, .take = take_categories, .values = VALUES_CATEGORY | VALUES_LIST },
	{ "by", 0, "KEY[,KEY]",
	  "make a row for each value of KEY, or of both: op (default), device, file, directory, directory:DEPTH (its first DEPTH components), extension, process, command, cgroup, connection, or of a merged trace host or trace",
	  OPTION_TAKE, .take = take_keys, .words = STATS_KEY_WORDS, .values = VALUES_LIST },
	{ "sort", 0, "HOW",
	  "sort rows by bytes (default), count, latency (the total), or name",
	  TO_WORD(struct env, sort), STATS_SORT_WORDS },
	{ "top", 0, "N",
	  "show the first N rows, and the others as one (default 20; 0: show all)",
	  TO_NUMBER(struct env, top), .least = 0, .most = 1000000000 },
	{ "interval", 0, "TIME",
	  "make a time series: rows for each TIME from the start of the trace, in seconds, or with m, h or d after it",
	  TO_SECONDS(struct env, interval), .least = INTERVAL_LEAST },
	{ "errors", 0, NULL, "also show the errors by name (text; JSON always has them)",
	  TO_FLAG(struct env, errors) },
	{ "format", 'f', "FORMAT", "output format: text (default), csv or json",
	  TO_FORMAT(struct env, format), "text csv json" },
	{ "partial", 0, NULL,
	  "exit with 0 even if the trace is damaged, truncated or has no end; what is missing is still reported",
	  TO_FLAG(struct env, partial) },
	{ 0 }
};

const struct command command_stats = {
	.name = "stats",
	.summary = "sum up a trace: counts, bytes, latencies, rates",
	.synopsis = "TRACE",
	.help =
		"For each category of a trace and each kind of operation, or each value of another"
		" key: count, errors, bytes moved, sizes, IOPS, MiB/s, and latencies with exact"
		" percentiles.\v"
		"Rates are over the duration of the trace, or the part of it between --from and --to."
		" Percentiles are by nearest rank, from all values. In a sampled trace, a record counts as"
		" the events that it stands for. What is missing in the whole category is counted below its"
		" table: events that were lost or cannot be read, and calls that were missed. AVG, MIN and"
		" MAX are those of the bytes that one operation moved, and of one latency.",
	.options = options,
	.group = &selection_options, .group_at = offsetof(struct env, selection),
	.operands = { 1, 1, "say which trace: a directory that iotracer record made",
		      "one trace at a time", VALUES_TRACE | VALUES_DIRECTORY },
	.words = offsetof(struct env, words),
	.run = run,
};
