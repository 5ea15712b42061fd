// SPDX-License-Identifier: GPL-2.0
/* iotracer stats: the totals of a trace: counts, bytes, errors, latencies, rates. */
#include <stdio.h>
#include <stdlib.h>

#include "base/cli.h"
#include "base/json.h"
#include "cmd/by.h"
#include "cmd/command.h"
#include "cmd/pass.h"
#include "cmd/picture.h"
#include "trace/amplification.h"
#include "trace/categories.h"
#include "trace/stats.h"
#include "trace/stats_report.h"
#include "trace/stats_series.h"

#define INTERVAL_LEAST 1000000	/* ns */
#define NS_PER_S 1e9

struct env {
	struct cli_words words;
	struct pass pass;
	enum cli_format format;
	struct stats_keys keys;
	int sort;		/* enum stats_sort */
	__u64 top;
	double interval;	/* seconds; 0: none */
	bool errors;
	bool working_set;
	bool amplification;
	const char *output;	/* file of a picture; NULL: none */
	struct picture picture;
	json_t *document;	/* of --format=json: an array of the categories */
	size_t printed;		/* categories */
};

static void print(struct env *env, const struct stats_report *r)
{
	if (env->output) {
		stats_series_svg(r, &env->picture.svg);
		env->printed++;
		return;
	}
	switch (env->format) {
	case FORMAT_JSON:
		json_add(env->document, stats_report_json(r));
		break;
	case FORMAT_CSV:
		if (!env->printed)
			stats_report_csv_header(r->stats, env->working_set);
		stats_report_csv(r);
		break;
	default:
		if (env->printed)
			putchar('\n');
		stats_report_text(r);
	}
	env->printed++;
}

static void report(struct env *env, const struct pass_reader *reader, const struct stats *s)
{
	struct stats_report r = {
		.category = reader->category->name, .stats = s, .basis = reader->basis,
		.with_errors = env->errors, .with_pages = env->working_set,
	};

	pass_times(&env->pass, reader->last, &r.begin, &r.end);
	print(env, &r);
}

static int stats_of(struct env *env, size_t i)
{
	struct stats s = {
		.interval = env->interval * NS_PER_S + 0.5, .sort = env->sort, .top = env->top,
		.origin = pass_origin(&env->pass), .with_pages = env->working_set,
		.with_points = env->interval && env->format != FORMAT_CSV,
		.no_sizes = env->format == FORMAT_TEXT,
	};
	struct pass_reader reader;
	const void *record;
	int status = pass_reader_open(&reader, &env->pass, i);

	if (status)
		return status;
	stats_begin(&s, &env->keys);
	while ((record = pass_next(&reader))) {
		env->keys.source = reader.source;
		stats_add(&s, record, &reader.measure, pass_wall(&env->pass, reader.measure.time));
	}
	pass_reader_close(&reader);
	s.missing = basis_missing(&reader.basis);
	stats_finish(&s);
	report(env, &reader, &s);
	stats_free(&s);
	return CLI_OK;
}

static int stats_by_keys(struct env *env, size_t i)
{
	bool has;
	int status = by_open(&env->keys, &env->pass, i, &has);

	if (has) {
		status = stats_of(env, i);
		stats_keys_close(&env->keys);
	}
	return status;
}

static int stats_of_all(struct env *env)
{
	int status = CLI_OK;
	size_t i;

	for (i = 0; i < env->pass.nr; i++)
		status = cli_merge(status, stats_by_keys(env, i));
	if (!status && !env->printed) {
		cli_say_of(env->pass.trace, "has no category with such keys");
		status = CLI_FAILED;
	}
	return status;
}

static int add_layer(struct env *env, struct amplification *a, const struct category *category, bool *has)
{
	size_t i = pass_find(&env->pass, category);
	struct pass_reader reader;
	const void *record;
	int status;

	*has = i != env->pass.nr;
	if (!*has)
		return CLI_OK;
	status = pass_reader_open(&reader, &env->pass, i);
	while (!status && (record = pass_next(&reader)))
		amplification_add(a, reader.event, record, &reader.measure);
	pass_reader_close(&reader);
	basis_sum(&a->basis, &reader.basis);
	return status;
}

static int amplification(struct env *env)
{
	struct amplification a = { .calls = 0 };
	int status = add_layer(env, &a, &category_fs, &a.has_fs);

	status = cli_merge(status, add_layer(env, &a, &category_cache, &a.has_cache));
	status = cli_merge(status, add_layer(env, &a, &category_block, &a.has_block));
	if (status)
		return status;
	if (!a.has_fs && !a.has_cache && !a.has_block) {
		cli_say_of(env->pass.trace, "has no category that --amplification is about: fs, cache or block");
		return CLI_FAILED;
	}
	if (env->format == FORMAT_JSON)
		json_print(amplification_json(&a));
	else if (env->format == FORMAT_CSV)
		amplification_csv(&a);
	else
		amplification_text(&a);
	return CLI_OK;
}

static void take_keys(struct argp_state *state, void *to, const char *arg)
{
	by_take(state, &((struct env *)to)->keys, arg);
}

static int run(int argc, char **argv)
{
	struct env env = { .pass = PASS_NONE, .format = FORMAT_TEXT, .top = 20 };
	json_t *document;
	int status;

	command_parse(&command_stats, argc, argv, &env);
	if (!env.keys.nr)
		free(stats_keys_add(&env.keys, "op"));
	env.document = json_array();
	status = picture_open(&env.picture, env.output);
	if (!status)
		status = pass_open(&env.pass, &env.words);
	if (!status)
		status = env.amplification ? amplification(&env) : stats_of_all(&env);
	status = picture_finish(&env.picture, status, "what was done over time", env.pass.trace);
	if (env.format == FORMAT_JSON && env.printed) {
		document = json_object();
		json_put(document, "trace", json_shown(env.pass.trace));
		json_put(document, "categories", json_incref(env.document));
		json_print(document);
	}
	json_decref(env.document);
	return pass_close(&env.pass, status);
}

static void check(struct argp_state *state, void *to, const struct option_parser *given)
{
	picture_check(state, ((struct env *)to)->output, given);
}

static const struct cli_option options[] = {
	{ "by", 0, "KEY[,KEY]",
	  "make a row for each value of KEY, or of both (default op): " BY_HELP,
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
	{ "working-set", 0, NULL,
	  "also count the different blocks of 4096 bytes that were touched and written, in fs and block",
	  TO_FLAG(struct env, working_set) },
	{ "amplification", 0, NULL,
	  "instead show the bytes that each layer wrote beside those that programs asked for: fs, cache, and block by disk",
	  TO_FLAG(struct env, amplification) },
	{ "output", 'o', "FILE",
	  "write a picture of rates and latencies over time to FILE, which ends in .svg and is replaced, instead of text; - for standard output",
	  TO_TEXT(struct env, output), .values = VALUES_FILE, .with = "interval" },
	{ "format", 'f', "FORMAT", "output format: text (default), csv or json",
	  TO_FORMAT(struct env, format), "text csv json" },
	{ 0 }
};

const struct command command_stats = {
	.name = "stats",
	.summary = "sum up a trace: counts, bytes, latencies, rates",
	.synopsis = "TRACE\n--live",
	.help =
		"For each category of a trace and each kind of operation, or each value of another"
		" key: count, errors, bytes moved, sizes, IOPS, MiB/s, and latencies with exact"
		" percentiles.\v"
		"Rates are over the duration of the trace, or the part of it between --from and --to."
		" Percentiles are by nearest rank, from all values. In a sampled trace, a record counts as"
		" the events that it stands for. What is missing in the whole category is counted below its"
		" table: events that were lost or cannot be read, and calls that were missed. If there are any,"
		" counts and sums are lower bounds, and a table shows how much larger each count can be (AT MOST)"
		" and between which latencies the percentiles are, whichever rows and latencies the missing events"
		" have: 1ms.. is no upper bound. CSV and JSON always have these bounds. In a sampled trace counts"
		" are estimates: their lower bound is what was seen, and nothing bounds the rest. AVG, MIN and"
		" MAX are those of the bytes that one operation moved, and of one latency.",
	.options = options,
	.group = &pass_options, .group_at = offsetof(struct env, pass),
	.operands = PASS_OPERANDS,
	.words = offsetof(struct env, words),
	.check = check,
	.run = run,
};
