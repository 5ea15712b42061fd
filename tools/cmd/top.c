// SPDX-License-Identifier: GPL-2.0
/* iotracer top: what I/O there is now, by file, process, device ..., on a screen or as tables. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "cmd/command.h"
#include "cmd/top_trace.h"
#include "top/engine.h"
#include "top/limit.h"
#include "top/live.h"
#include "top/report.h"
#include "top/screen.h"
#include "trace/categories.h"

#define INTERVAL_LEAST 1000000	/* ns */
#define LIMIT_LEAST 0.001	/* percent */
#define LOOK_MS 100		/* between two looks for events */

struct env {
	struct pass pass;	/* the first member: options of the pass and its selection get it */
	struct cli_words words;
	int view;		/* enum top_view_number */
	int sort;		/* enum top_sort */
	__u64 top;
	double interval;	/* seconds */
	bool once;
	struct wall_given at;
	__u64 sample;
	double percent;		/* of a processor; 0: not given */
	enum cli_format format;
};

_Static_assert(offsetof(struct env, pass) == 0, "the pass is the first member");

/* --- tables ------------------------------------------------------------------------- */

/* False if nobody reads them any more. */
static bool print(const struct env *env, const struct top *t, size_t printed)
{
	const struct top_report r = {
		.source = t->source, .window = t->shown, .list = &t->list, .top = env->top,
	};

	if (env->format == FORMAT_JSON)
		top_report_json(&r);
	else if (env->format == FORMAT_CSV)
		top_report_csv(&r, !printed);
	else
		top_report_text(&r);
	return cli_flush();
}

/*
 * Live: waits until the interval is over, and reads what happens meanwhile. A signal ends the
 * interval: what there was until then is printed.
 */
static int wait_for(struct top *t)
{
	int status = CLI_OK, ms;

	while (!status && t->source->is_live && !interrupt_came(NULL) && (ms = top_wait_ms(t, LOOK_MS))) {
		poll(NULL, 0, ms);
		status = top_fill(t);
	}
	return status;
}

static int print_all(const struct env *env, struct top *t)
{
	size_t printed = 0;
	int status;

	do {
		status = wait_for(t);
		if (!status)
			status = top_turn(t, true);
		if (printed && env->format == FORMAT_TEXT)
			putchar('\n');
	} while (!status && print(env, t, printed++) && !env->once && !t->source->at_end && !interrupt_came(NULL));
	return status;
}

/* --- sources ------------------------------------------------------------------------ */

static int show(const struct env *env, struct top *t)
{
	bool screen = !env->once && env->format == FORMAT_TEXT && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO);
	int status;

	t->view = &top_views[env->view];
	t->interval = env->interval * 1e9 + 0.5;
	t->list.sort = env->sort;
	top_begin(t);
	status = screen ? top_screen_run(t) : print_all(env, t);
	top_end(t);
	return status;
}

static int show_trace(const struct env *env)
{
	struct top_trace trace = { .pass = env->pass };
	struct top t = { .source = &trace.source };
	int status = top_trace_open(&trace, &env->words);

	if (!status)
		status = trace.source.need(&trace.source, &top_views[env->view]);
	if (!status) {
		t.at = top_trace_at(&trace, &env->at);
		status = show(env, &t);
	}
	return top_trace_close(&trace, status);
}

/* An operation that no category has is a mistake. */
static int check_operations(const struct select *select)
{
	const struct iot_schema_event *events[PASS_CATEGORIES];
	char *why;
	size_t i;

	for (i = 0; i < nr_categories; i++)
		events[i] = category_event(categories[i]);
	why = select_unknown_op(select, events, nr_categories);
	if (why)
		cli_say("--filter=op: %s", why);
	free(why);
	return why ? CLI_USAGE : CLI_OK;
}

static int show_live(struct env *env)
{
	struct top_live live = { .select = &env->pass.selection.select, .sample = env->sample,
				 .percent = env->percent ? env->percent : TOP_LIMIT_PERCENT };
	struct top t = { .source = &live.source };
	int status;
	size_t i;

	for (i = 0; i < env->pass.nr_named && i < TOP_PARTS; i++)
		live.chosen[live.nr_chosen++] = env->pass.named[i];
	if (env->once && !live.sample)
		live.sample = 1;
	status = check_operations(live.select);
	if (!status) {
		/* the kernel may take seconds for it */
		if (progress_is_wanted())
			progress_show("starting to trace");
		status = top_live_open(&live, &top_views[env->view]);
		progress_end();
	}
	if (!status)
		status = show(env, &t);
	top_live_close(&live);
	select_free(&env->pass.selection.select);
	return status;
}

static int run(int argc, char **argv)
{
	struct env env = {
		.pass = PASS_NONE, .format = FORMAT_TEXT, .top = 20, .interval = 1, .at.relative = true,
	};
	int status;

	command_parse(&command_top, argc, argv, &env);
	interrupt_catch();
	status = env.words.nr ? show_trace(&env) : show_live(&env);
	interrupt_end();
	return status;
}

/* --- options ------------------------------------------------------------------------ */

static void take_at(struct argp_state *state, void *to, const char *arg)
{
	struct env *env = to;

	if (!wall_parse(arg, &env->at))
		cli_usage(state, "--at=%s: say a time in UTC as 2026-11-21T10:43:22.5, or seconds since the beginning of the trace as +1.5",
			  arg);
}

static void take_limit(struct argp_state *state, void *to, const char *arg)
{
	struct env *env = to;
	char *end;

	env->percent = strtod(arg, &end);
	if (end == arg || *end || !(env->percent >= LIMIT_LEAST && env->percent <= 100))
		cli_usage(state, "--cpu-limit=%s: say percent of a processor, from %g to 100", arg, LIMIT_LEAST);
}

static void check(struct argp_state *state, void *to, const struct option_parser *given)
{
	struct env *env = to;

	if (option_given(given, "at") && !env->words.nr)
		cli_usage(state, "--at goes with a trace");
	if (option_given(given, "partial") && !env->words.nr)
		cli_usage(state, "--partial goes with a trace");
	if (env->sample && env->words.nr)
		cli_usage(state, "--sample goes without a trace");
	if (env->percent && env->words.nr)
		cli_usage(state, "--cpu-limit goes without a trace");
	if (env->percent && (env->sample || env->once))
		cli_usage(state, "--cpu-limit goes without --%s", env->sample ? "sample" : "once");
}

static const struct cli_option options[] = {
	{ "by", 0, "WHAT", "show files (default), or what else there is a view of",
	  TO_WORD(struct env, view), TOP_VIEW_WORDS },
	{ "sort", 0, "COLUMN", "sort by a column, or by the bytes of both directions (default)",
	  TO_WORD(struct env, sort), TOP_SORT_WORDS },
	{ "top", 0, "N", "tables: print the first N rows (default 20; 0: all)",
	  TO_NUMBER(struct env, top), .least = 0, .most = 1000000000 },
	{ "interval", 0, "TIME", "show intervals of TIME, in seconds (default 1), or with m, h or d after it",
	  TO_SECONDS(struct env, interval), .least = INTERVAL_LEAST },
	{ "once", 0, NULL, "print a table of one interval, and end", TO_FLAG(struct env, once) },
	{ "at", 0, "TIME",
	  "begin at this time of the trace: in UTC, as 2026-11-21T10:43:22.5, or seconds from its start, as +1.5 (default +0)",
	  OPTION_TAKE, .take = take_at },
	{ "categories", 'c', "NAME,...",
	  "read only these categories (default: fs, block and cache, and net for connections; of a trace, all); may be repeated",
	  OPTION_TAKE, .take = pass_take_categories, .values = VALUES_CATEGORY | VALUES_LIST },
	{ "filter", 0, "KEY=VALUE",
	  "select events that meet this and all other conditions, as for stats",
	  OPTION_TAKE, .take = selection_take_filter, .values = VALUES_SELECT },
	{ "sample", 0, "N",
	  "record one event in N (default: all, and fewer while --cpu-limit is exceeded)",
	  TO_NUMBER(struct env, sample), .least = 1, .most = 4294967295ULL },
	{ "cpu-limit", 0, "PERCENT",
	  "record one event in 2, 4, 8 ... while this program takes more than this of a processor (default 3)",
	  OPTION_TAKE, .take = take_limit },
	{ "partial", 0, NULL,
	  "exit with 0 even if the trace is damaged, truncated or has no end; what is missing is still reported",
	  TO_FLAG(struct env, pass.partial) },
	{ "format", 'f', "FORMAT", "print tables as text, csv or json; without it and on a terminal, show a screen",
	  TO_FORMAT(struct env, format), "text csv json" },
	{ "json", 0, NULL, "same as --format=json", TO_SET(struct env, format), .least = FORMAT_JSON },
	{ 0 }
};

const struct command command_top = {
	.name = "top",
	.summary = "show what I/O there is now, by file, process, device and so on",
	.synopsis = "[TRACE]",
	.help =
		"Show the files, processes, devices and so on with the most I/O, again after each interval: their"
		" operations, bytes, latencies, misses of the page cache, and share of the time in devices. On a terminal,"
		" it is a screen, whose keys ? explains; else tables are printed.\v"
		"No file is written: the module's events are read and summed up. Categories that nobody traces are"
		" started, and stopped in the end; those that are traced already are read as they are set, and run"
		" on. Of a TRACE, each interval has the events that began in it.",
	.options = options,
	.operands = { 0, 1, NULL, "one trace at a time", VALUES_TRACE | VALUES_DIRECTORY },
	.words = offsetof(struct env, words),
	.check = check,
	.run = run,
};
