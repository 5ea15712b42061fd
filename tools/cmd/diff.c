// SPDX-License-Identifier: GPL-2.0
/* iotracer diff: what changed between two traces, beyond the noise within each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "cmd/command.h"
#include "cmd/pass.h"
#include "trace/diff.h"

#define NS_PER_S 1e9

struct env {
	struct cli_words words;
	struct pass pass[DIFF_SIDES];	/* the options are those of the first */
	enum cli_format format;
	struct stats_keys keys;
	__u64 intervals;
	__u64 least;		/* percent: smaller changes are not reported */
	__u64 confidence;	/* percent */
	__u64 top;
	bool all;
	struct diff diffs[PASS_CATEGORIES];
	size_t nr;
};

/* --- reading -------------------------------------------------------------------- */

/* The keys of events of that category in the trace. */
static int open_keys(struct env *env, const struct pass *p, const struct category *category)
{
	const char *lacks;

	env->keys.merged = p->sources.nr;
	lacks = stats_keys_open(&env->keys, category_event(category), &p->names);
	if (!lacks)
		return CLI_OK;
	cli_say_of(p->trace, "--by=%s: events of category %s have no %s", lacks, category->name, lacks);
	return CLI_USAGE;
}

/* The time that is cut into intervals. */
static int find_times(const struct env *env, const struct pass *p, __u64 *begin, __u64 *end)
{
	pass_times(p, p->selection.end == SELECTION_ALL_TIME ? 0 : p->selection.end, begin, end);
	if (!*end) {
		cli_say_of(p->trace, "has no end, so it cannot be cut into intervals: say one with --to");
		return CLI_FAILED;
	}
	if (*end <= *begin || *end - *begin < env->intervals) {
		cli_say_of(p->trace, "is too short to be cut into %llu intervals: see --from and --to",
			   (unsigned long long)env->intervals);
		return CLI_FAILED;
	}
	return CLI_OK;
}

static int count(struct env *env, struct diff *d, enum diff_side side, struct pass_reader *reader)
{
	struct pass *p = &env->pass[side];
	__u64 begin, end;
	struct stats s = { .top = 0 };
	const void *record;
	int status = find_times(env, p, &begin, &end);

	if (status)
		return status;
	s.origin = begin;
	s.interval = (end - begin + env->intervals - 1) / env->intervals;
	stats_begin(&s, &env->keys);
	while ((record = pass_next(reader))) {
		env->keys.source = reader->source;
		stats_add(&s, record, &reader->measure, pass_wall(p, reader->measure.time));
	}
	d->seconds[side] = (end - begin) / NS_PER_S;
	diff_take(d, side, &s);
	stats_free(&s);
	return CLI_OK;
}

static int read_side(struct env *env, struct diff *d, enum diff_side side,
		     const struct category *category)
{
	struct pass *p = &env->pass[side];
	struct pass_reader reader;
	int status = open_keys(env, p, category);

	if (status)
		return status;
	status = pass_reader_open(&reader, p, pass_find(p, category));
	if (!status)
		status = count(env, d, side, &reader);
	pass_reader_close(&reader);
	d->basis[side] = reader.basis;
	stats_keys_close(&env->keys);
	return status;
}

/* A category that has no such key is left out, unless it was named. */
static bool has_keys(struct env *env, const struct category *category)
{
	const char *lacks;

	env->keys.merged = env->pass[DIFF_A].sources.nr;
	lacks = stats_keys_open(&env->keys, category_event(category), &env->pass[DIFF_A].names);
	if (!lacks) {
		stats_keys_close(&env->keys);
		return true;
	}
	if (!env->pass[DIFF_A].nr_named)
		cli_say("category %s is left out: its events have no %s", category->name, lacks);
	return env->pass[DIFF_A].nr_named;
}

static int read_category(struct env *env, const struct category *category)
{
	struct diff *d = &env->diffs[env->nr];
	int status;

	if (pass_find(&env->pass[DIFF_B], category) == env->pass[DIFF_B].nr) {
		cli_say("category %s is left out: only A has it", category->name);
		return CLI_OK;
	}
	if (!has_keys(env, category))
		return CLI_OK;
	*d = (struct diff){ .category = category->name, .keys = &env->keys, .intervals = env->intervals };
	env->nr++;
	status = read_side(env, d, DIFF_A, category);
	return status ? status : read_side(env, d, DIFF_B, category);
}

static int read_all(struct env *env)
{
	const struct pass *a = &env->pass[DIFF_A], *b = &env->pass[DIFF_B];
	int status = CLI_OK;
	size_t i;

	for (i = 0; !status && i < a->nr; i++)
		status = read_category(env, a->at[i].category);
	for (i = 0; !status && i < b->nr; i++)
		if (pass_find(a, b->at[i].category) == a->nr)
			cli_say("category %s is left out: only B has it", b->at[i].category->name);
	if (!status && !env->nr) {
		cli_say("A and B have no category with such keys in common");
		status = CLI_FAILED;
	}
	return status;
}

/* --- the report ----------------------------------------------------------------- */

/* The chance of an error is divided among all comparisons of all categories. */
static void judge(struct env *env)
{
	size_t comparisons = 0, i;

	for (i = 0; i < env->nr; i++)
		comparisons += diff_compare(&env->diffs[i]);
	for (i = 0; i < env->nr; i++)
		diff_judge(&env->diffs[i], (100 - env->confidence) / 100.0 / (comparisons ? comparisons : 1),
			   env->least / 100.0);
}

static void put_json(const struct env *env)
{
	json_t *document = json_object(), *categories = json_array();
	size_t i;

	for (i = 0; i < env->nr; i++)
		json_add(categories, diff_json(&env->diffs[i], env->all, env->top));
	json_put(document, "a", json_shown(env->pass[DIFF_A].trace));
	json_put(document, "b", json_shown(env->pass[DIFF_B].trace));
	json_put(document, "intervals", json_integer(env->intervals));
	json_put(document, "confidence_percent", json_integer(env->confidence));
	json_put(document, "least_change_percent", json_integer(env->least));
	json_put(document, "categories", categories);
	json_print(document);
}

static void print(const struct env *env)
{
	size_t i;

	if (env->format == FORMAT_JSON) {
		put_json(env);
		return;
	}
	if (env->format == FORMAT_CSV)
		diff_csv_header(&env->diffs[0]);
	for (i = 0; i < env->nr; i++) {
		if (env->format == FORMAT_CSV) {
			diff_csv(&env->diffs[i], env->all, env->top);
			continue;
		}
		if (i)
			putchar('\n');
		diff_text(&env->diffs[i], env->all, env->top);
	}
}

/* --- the command ---------------------------------------------------------------- */

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

/* The same options for the second trace. */
static void copy_options(struct env *env)
{
	struct pass *a = &env->pass[DIFF_A], *b = &env->pass[DIFF_B];

	*b = *a;
	b->selection.select = (struct select){ .nr = 0 };
	select_copy(&b->selection.select, &a->selection.select);
}

static int open_side(struct env *env, enum diff_side side)
{
	const struct cli_words word = { .at = env->words.at + side, .nr = 1 };

	return pass_open(&env->pass[side], &word);
}

static void check(struct argp_state *state, void *to, const struct option_parser *given)
{
	const struct env *env = to;

	(void)given;
	if (env->pass[DIFF_A].record)
		cli_usage(state, "--live is for one trace: record both, and compare them then");
}

static int run(int argc, char **argv)
{
	struct env env = {
		.pass = { PASS_NONE, PASS_NONE }, .format = FORMAT_TEXT, .top = 20, .intervals = 20,
		.confidence = 99, .least = 5,
	};
	int status;
	size_t i;

	command_parse(&command_diff, argc, argv, &env);
	if (!env.keys.nr)
		free(stats_keys_add(&env.keys, "op"));
	copy_options(&env);
	status = open_side(&env, DIFF_A);
	if (!status)
		status = open_side(&env, DIFF_B);
	if (!status)
		status = read_all(&env);
	if (!status) {
		judge(&env);
		print(&env);
	}
	for (i = 0; i < env.nr; i++)
		diff_free(&env.diffs[i]);
	return cli_merge(pass_close(&env.pass[DIFF_A], status), pass_close(&env.pass[DIFF_B], status));
}

static const struct cli_option options[] = {
	{ "by", 0, "KEY[,KEY]", "compare each value of KEY, or of both: op (default), or any key of stats",
	  OPTION_TAKE, .take = take_keys, .words = STATS_KEY_WORDS, .values = VALUES_LIST },
	{ "intervals", 0, "N", "cut each trace into N intervals, whose spread is the noise (default 20)",
	  TO_NUMBER(struct env, intervals), .least = 10, .most = 1000 },
	{ "confidence", 0, "PERCENT",
	  "report what is no accident with this confidence, of all that is reported together (default 99)",
	  TO_NUMBER(struct env, confidence), .least = 50, .most = 99 },
	{ "change", 0, "PERCENT", "report changes of at least PERCENT (default 5)",
	  TO_NUMBER(struct env, least), .least = 0, .most = 1000000 },
	{ "all", 'a', NULL, "also show what did not change", TO_FLAG(struct env, all) },
	{ "top", 0, "N", "show the N keys that changed most (default 20; 0: show all)",
	  TO_NUMBER(struct env, top), .least = 0, .most = 1000000000 },
	{ "format", 'f', "FORMAT", "output format: text (default), csv or json",
	  TO_FORMAT(struct env, format), "text csv json" },
	{ 0 }
};

const struct command command_diff = {
	.name = "diff",
	.summary = "compare two traces: what changed, beyond the noise",
	.synopsis = "A B",
	.help =
		"For each kind of operation, or each value of another key: events and bytes a second,"
		" and the average and P99 latency in trace A and in trace B, if they changed by more than"
		" their spread over the intervals of each trace explains.\v"
		"The largest changes come first; keys that only one trace has are last. +- is the"
		" standard deviation over the intervals. Both traces have to be of the same work, and"
		" each long enough to show its usual ups and downs.",
	.options = options,
	.group = &pass_options, .group_at = offsetof(struct env, pass),
	.operands = { 2, 2, "say which two traces: A and B", "two traces at a time",
		      VALUES_TRACE | VALUES_DIRECTORY },
	.words = offsetof(struct env, words),
	.check = check,
	.run = run,
};
