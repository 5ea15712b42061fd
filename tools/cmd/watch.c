// SPDX-License-Identifier: GPL-2.0
/* iotracer watch: what one thing does, a line an event, for people. */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/follow.h"
#include "base/wall.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "cmd/selection.h"
#include "cmd/watch_line.h"
#include "cmd/watch_target.h"
#include "module/control.h"
#include "module/filter.h"
#include "module/proc.h"
#include "module/stream.h"
#include "module/tasks.h"
#include "trace/categories.h"
#include "trace/record.h"
#include "vm/vm.h"
#include "vm/vm_find.h"
#include "vm/vm_object.h"

#define NS		1000000000ULL
#define PATHS_MOST	(64UL * 1024 * 1024)	/* bytes of paths that are kept */
#define EVENTS_MOST	1000000000ULL		/* of --max-events */

struct env {
	struct selection selection;	/* the first member: --filter gets it */
	struct cli_words words;
	struct tasks tasks;
	const char *vm;
	bool all_operations;
	bool inode;
	__u64 max_events;		/* 0: not given */
	__u64 count;			/* end after so many lines; 0: without limit */
	double seconds;			/* end after this time; 0: without limit */
};

_Static_assert(offsetof(struct env, selection) == 0, "the selection is the first member");

struct watch {
	struct env *env;
	const char *subject;		/* what the user named */
	const struct category *category;	/* NULL: a target is watched */
	struct control control;		/* of the category, if we have started it */
	struct watch_target target;
	struct stream stream;
	struct records batch;
	struct watch_line line;
	__u64 own;			/* our pid */
	__u64 begin, looked;		/* CLOCK_MONOTONIC ns: only events that ended after @begin are shown */
	bool begun;			/* the first read was done */
	__u64 gaps, missed;		/* that were said, or were there before */
	__u64 printed;			/* lines of events */
	size_t lines;			/* of the terminal; 0: it is none */
	size_t since_head;		/* lines since the last one that names the columns */
	bool ended;			/* it can have no further event */
};

/* --- the terminal ------------------------------------------------------------------------ */

/* COLUMNS of the environment counts more than what the terminal says, as for ls. */
static void measure_terminal(struct watch *w)
{
	const char *text = getenv("COLUMNS");
	unsigned long columns = text ? strtoul(text, NULL, 10) : 0;
	struct winsize size = { .ws_col = 0 };

	if (!isatty(STDOUT_FILENO))
		return;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row || !size.ws_col)
		size = (struct winsize){ .ws_row = 24, .ws_col = 80 };
	w->lines = size.ws_row;
	w->line.columns = columns && columns < 10000 ? columns : size.ws_col;
}

/* The columns are named once a screen; in a file or a pipe once. */
static void begin_line(struct watch *w)
{
	if (!w->since_head || (w->lines > 2 && w->since_head >= w->lines - 1)) {
		watch_line_head(&w->line);
		w->since_head = 0;
	}
	w->since_head++;
}

static void say(struct watch *w, char *text)
{
	begin_line(w);
	watch_line_say(&w->line, text);
}

/* --- events -------------------------------------------------------------------------------- */

static const struct paths *paths_of(const struct watch *w)
{
	return w->stream.category ? &w->stream.names : NULL;
}

/* Events that were overwritten or lost before they were read, those that a new target began with among them. */
static __u64 gaps_of(const struct watch *w)
{
	return w->stream.gaps + (w->target.is_ours && !w->stream.category ? w->stream.first : 0);
}

static __u64 missed_of(const struct watch *w)
{
	const struct control control = { .category = w->category ? w->category->name : NULL, .fd = -1, .commands = -1 };
	struct target_stats stats;

	if (w->category)
		return control_stat(&control, "missed");
	return target_stats_load(w->target.name, &stats) ? w->missed : target_stats_total(&stats)->missed;
}

/* What happened to a thing that was traced before is not said: only what is lost from now on. */
static void say_lost(struct watch *w)
{
	__u64 gaps = gaps_of(w);

	if (!w->begun && !w->target.is_ours)
		w->gaps = gaps;
	w->begun = true;
	if (gaps > w->gaps)
		say(w, xasprintf("%llu events were lost: overwritten before they could be read",
				 (unsigned long long)(gaps - w->gaps)));
	w->gaps = gaps;
}

static bool is_wanted(struct watch *w, const void *record)
{
	const struct iot_schema_event *event = w->line.event;
	const struct iot_schema_field *pid = w->line.pid;

	return record_time(event, record) + record_latency(event, record) >= w->begin &&
	       (!pid || record_scalar(record, pid->offset, pid->size) != w->own) &&
	       select_wants(&w->env->selection.select, record);
}

static bool is_enough(const struct watch *w)
{
	return w->env->count && w->printed >= w->env->count;
}

/* On a terminal that is slower than the events a signal ends the watch at once. */
static void print_batch(struct watch *w)
{
	const bool was = follow_interrupted();
	const struct wall_pair now = wall_now();
	size_t i;

	stream_sort_by_begin(&w->stream, &w->batch);
	for (i = 0; i < w->batch.nr && !is_enough(w) && !ferror(stdout); i++) {
		const void *record = records_at(&w->stream, &w->batch, i);

		if (w->lines && !was && follow_interrupted())
			break;
		if (!is_wanted(w, record))
			continue;
		begin_line(w);
		watch_line_print(&w->line, &now, record);
		w->printed++;
	}
	w->batch.nr = 0;
}

static int prepare_conditions(struct watch *w)
{
	char *why = select_event(&w->env->selection.select, w->stream.event, paths_of(w), NULL);

	if (why)
		cli_say("--filter=%s", why);
	free(why);
	return why ? CLI_USAGE : CLI_OK;
}

/* Bounds the memory of a watch of days. */
static void forget_paths(struct watch *w)
{
	if (w->stream.names.used <= PATHS_MOST)
		return;
	/* an error comes again when the next events are read */
	stream_list_paths(&w->stream);
	prepare_conditions(w);
}

/* What is looked at once a second. */
static void look(struct watch *w)
{
	const __u64 now = wall_now().monotonic;
	__u64 missed;
	char *text;

	if (now < w->looked + NS)
		return;
	w->looked = now;
	missed = missed_of(w);
	if (missed > w->missed)
		say(w, xasprintf("%llu events were missed: the kernel could not follow the calls",
				 (unsigned long long)(missed - w->missed)));
	w->missed = missed;
	if (!w->category) {
		text = watch_target_changed(&w->target, &w->ended);
		if (text)
			say(w, text);
	}
	forget_paths(w);
}

/* Returns 0 or a negative errno from reading. */
static int watch(struct watch *w)
{
	const __u64 end = w->env->seconds ? wall_now().monotonic + (__u64)(w->env->seconds * 1e9) : ~0ULL;
	bool ending, full;
	int err;

	do {
		ending = follow_interrupted() || w->ended || wall_now().monotonic >= end;
		measure_terminal(w);
		err = stream_read(&w->stream, &w->batch, FOLLOW_BATCH);
		full = w->batch.nr >= FOLLOW_BATCH;
		say_lost(w);
		print_batch(w);
		if (!err && !ending)
			look(w);
	} while (!err && !ending && !is_enough(w) && (full ? follow_flush() : follow_wait()));
	return err;
}

/* --- begin and end ------------------------------------------------------------------------ */

static void introduce(const struct watch *w)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (w->category)
		cli_say("watching category %s%s: ^C ends", w->category->name,
			w->control.fd < 0 ? ", which is traced already" : "");
	else
		cli_say("watching %s (%s)%s: ^C ends", w->subject, w->target.name,
			w->target.is_ours ? "" : ", which is traced already");
}

static int explain(struct watch *w, int err)
{
	if (!err) {
		if (w->ended && follow_flush())
			cli_say_of(w->subject, "the process has ended");
		return CLI_OK;
	}
	if (err == -EIO) {
		if (!w->category)
			watch_target_forget(&w->target);
		if (follow_flush())
			cli_say_of(w->subject, w->category ? "the module was unloaded" : "target was removed");
		return CLI_OK;
	}
	return stream_explain(&w->stream, err);
}

static int run_watch(struct watch *w)
{
	int status;

	watch_line_open(&w->line, w->stream.event, paths_of(w));
	status = prepare_conditions(w);
	if (!status) {
		w->missed = missed_of(w);
		introduce(w);
		status = explain(w, watch(w));
		follow_flush();
	}
	watch_line_close(&w->line);
	return status;
}

/* --- a category ----------------------------------------------------------------------------- */

/* What the module can leave out costs nothing. */
static char *filter_of(const struct select *s, const struct category *category)
{
	struct filters filters = { .nr = 0 };
	char *conditions, *command;
	size_t i;

	for (i = 0; i < s->nr; i++)
		if (select_is_known_to_module(s, i))
			filters_add(&filters, select_given(s, i));
	conditions = filters_of(&filters, category);
	command = xasprintf("filter %s", conditions ? conditions : "none");
	free(conditions);
	filters_free(&filters);
	return command;
}

static int configure(struct watch *w)
{
	char *filter = filter_of(&w->env->selection.select, w->category);
	const char *const commands[] = { filter, "sample 1", "mode overwrite", "reset" };
	int status = CLI_OK;
	size_t i;

	for (i = 0; !status && i < sizeof(commands) / sizeof(commands[0]); i++)
		status = control_command(&w->control, commands[i]);
	free(filter);
	return status;
}

/* One that nobody traces is started for as long as we read it; another is only read. */
static int watch_category(struct watch *w)
{
	bool own = !control_started(w->category->name);
	int status = own ? control_take(&w->control, w->category->name) : CLI_OK;

	if (!status && own)
		status = configure(w);
	if (!status) {
		status = stream_open(&w->stream, w->category, NULL, w->subject);
		if (!status && own)
			status = control_command(&w->control, "start while-read");
		if (!status)
			status = run_watch(w);
		stream_close(&w->stream);
	}
	if (own)
		control_release(&w->control);
	return status;
}

/* --- a target ------------------------------------------------------------------------------- */

static int watch_opened(struct watch *w)
{
	int status = stream_open(&w->stream, NULL, w->target.name, w->subject);

	if (!status)
		status = run_watch(w);
	stream_close(&w->stream);
	return status;
}

/* @text: processes; NULL: a file. */
static int watch_target(struct watch *w, const char *text)
{
	static const char *const options[2][2] = { { "", "-a " }, { "-i ", "-i -a " } };
	const struct env *env = w->env;
	char *max_events = env->max_events ? xasprintf("%llu", (unsigned long long)env->max_events) : NULL;
	int status;

	status = watch_target_open(&w->target, text ? NULL : w->subject, text, max_events,
				   text ? "" : options[env->inode][env->all_operations]);
	w->target.subject = w->subject;
	if (!status)
		status = watch_opened(w);
	watch_target_close(&w->target);
	free(max_events);
	return status;
}

static int watch_vm(struct watch *w)
{
	json_t *machine = vm_named(w->env->vm);
	int status;
	char *text;

	if (!machine)
		return CLI_FAILED;
	text = xasprintf("pid=%d", vm_pid(machine));
	w->subject = w->env->vm;
	status = watch_target(w, text);
	free(text);
	json_decref(machine);
	return status;
}

static int watch_tasks(struct watch *w)
{
	int status = tasks_resolve(&w->env->tasks, NULL);

	if (status)
		return status;
	w->subject = w->env->tasks.at[0].text;
	return watch_target(w, w->subject);
}

/* --- the command ---------------------------------------------------------------------------- */

static int check_operations(const struct select *select)
{
	const struct iot_schema_event *events[64];
	char *why;
	size_t i;

	for (i = 0; i < nr_categories && i < 63; i++)
		events[i] = category_event(categories[i]);
	events[i++] = iot_schema_find(IOT_EVENT_ID_IO);
	why = select_unknown_op(select, events, i);
	if (why)
		cli_say("--filter=op: %s", why);
	free(why);
	return why ? CLI_USAGE : CLI_OK;
}

static void check(struct argp_state *state, void *to, const struct option_parser *given)
{
	const struct env *env = to;

	(void)given;
	if (env->words.nr + env->tasks.nr + !!env->vm != 1)
		cli_usage(state, "say one thing to watch: FILE, CATEGORY, --pid, --comm, --cgroup, --unit, --container or --vm");
	if (env->words.nr && !*env->words.at[0])
		cli_usage(state, "the name of the file is empty");
	if (!env->words.nr && (env->all_operations || env->inode))
		cli_usage(state, "--all-operations and --inode go with FILE: of processes, all operations on files are recorded");
}

static int run(int argc, char **argv)
{
	struct env env = { .selection = SELECTION_NONE };
	struct watch w = { .env = &env, .own = getpid(), .control = { .fd = -1, .commands = -1 } };
	int status;

	command_parse(&command_watch, argc, argv, &env);
	setlocale(LC_CTYPE, "");
	follow_prepare();
	w.begin = wall_now().monotonic;
	w.subject = env.words.nr ? env.words.at[0] : NULL;
	w.category = w.subject ? category_find(w.subject, strlen(w.subject)) : NULL;
	status = check_operations(&env.selection.select);
	if (!status && env.vm)
		status = watch_vm(&w);
	else if (!status && w.category)
		status = watch_category(&w);
	else if (!status)
		status = w.subject ? watch_target(&w, NULL) : watch_tasks(&w);
	records_free(&w.batch);
	select_free(&env.selection.select);
	tasks_free(&env.tasks);
	return status;
}

static const struct cli_option options[] = {
	{ "filter", 0, "KEY=VALUE",
	  "select events that meet this and all other conditions, as for stats",
	  OPTION_TAKE, .take = selection_take_filter, .values = VALUES_SELECT },
	{ "count", 0, "N", "end after N events", TO_NUMBER(struct env, count), .least = 1, .most = ~0ULL },
	{ "time", 0, "SECONDS", "end after SECONDS (or minutes, hours, days: suffix m, h, d)",
	  TO_SECONDS(struct env, seconds), .least = 1 },
	{ "all-operations", 'a', NULL,
	  "for a file or device, show flushes, truncations, discards and the like in addition to reads and writes",
	  TO_FLAG(struct env, all_operations) },
	{ "inode", 'i', NULL, "keep watching the same file when another file takes over its path",
	  TO_FLAG(struct env, inode) },
	{ "max-events", 'n', "N",
	  "keep the last N events until they are shown; for a directory or processes, N per CPU (default: as for add)",
	  TO_NUMBER(struct env, max_events), .least = 1, .most = EVENTS_MOST },
	{ "vm", 0, "NAME|PID", "watch the QEMU process of this virtual machine",
	  TO_TEXT(struct env, vm), .values = VALUES_MACHINE },
	{ 0 }
};

const struct command command_watch = {
	.name = "watch",
	.summary = "show what one file, process, service or category does, as it happens",
	.synopsis =
		"FILE|CATEGORY\n--vm=NAME|PID\n--pid=PID|--comm=NAME|--cgroup=PATH|--unit=NAME|--container=NAME|ID",
	.help =
		"Show what happens to a file, a directory or a device, or what a process, a service, a virtual machine"
		" or a category does: a line an event, from now on.\v"
		"FILE is a path or the name of a target; CATEGORY is one of {categories}. For a file with such a name,"
		" write ./fs. What is not traced yet is traced while it is watched, and no longer; what is traced already"
		" is shown as it was added, and stays.\n"
		"OFFSET is a byte of the file, or with s a 512-byte sector of the device. TAKES is the time from begin"
		" to end; slow events are yellow from 10 ms, red from 100 ms. Errors have the names of errno(3), and are"
		" red. TIME is when the event began, in local time.\n"
		"Lost events are said between the others. If the terminal is slower than the events, the oldest are"
		" overwritten: use --filter or --max-events.\n"
		"The watch ends with exit status 0 on Ctrl-C, when its output has no reader any more, when the process"
		" has ended, and when the target is removed.",
	.options = options,
	.group = &tasks_options, .group_at = offsetof(struct env, tasks),
	.operands = { 0, 1, NULL, "one thing at a time",
		      VALUES_CATEGORY | VALUES_TARGET | VALUES_FILE },
	.words = offsetof(struct env, words),
	.check = check,
	.filter = category_help,
	.run = run,
};
