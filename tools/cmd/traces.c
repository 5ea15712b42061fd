// SPDX-License-Identifier: GPL-2.0
/* iotracer traces: the traces that are kept: list, show, verify, merge and remove them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "machine/snapshot_check.h"
#include "record/receipt.h"
#include "record/store.h"
#include "record/trace_merge.h"
#include "record/waiting.h"
#include "trace/categories.h"
#include "trace/category.h"
#include "trace/check.h"
#include "trace/sources.h"

#define OFFSET_MAX 1e9	/* seconds */
#define LOOK_RECORDS 65536	/* records between two looks whether progress is due */

struct env {
	struct cli_words words;	/* the action, then names */
	char **names;
	size_t nr;
	enum cli_format format;
	json_t *document;
	bool further;		/* something was printed before */
	struct trace_merge_options merge;
};

/* A trace, as it is shown. */
struct shown {
	char *name;		/* escaped */
	const char *path;
	struct metadata metadata;
	const char *state;
	unsigned long long bytes;
	__u64 events, gone;	/* gone: lost or missed */
};

/*
 * A recorder that was killed left the state RUNNING. So check first whether a recorder is
 * running: if it ends after that check, it has written its state.
 */
static int load(struct shown *t, const char *name, const char *path)
{
	bool recorded = check_is_recorded(path);
	struct metadata_file f;
	int status;
	size_t i;

	*t = (struct shown){ .path = path, .bytes = store_bytes(path) };
	status = metadata_load(&t->metadata, path);
	t->name = text_show(name, strlen(name));
	t->state = status || t->metadata.damaged ? "DAMAGED" : t->metadata.state;
	if (!strcmp(t->state, "RUNNING") && !recorded)
		t->state = "INTERRUPTED";
	for (i = 0; !status && metadata_category(&t->metadata, i); i++) {
		if (!metadata_category_file(&t->metadata, i, &f))
			continue;
		t->events += f.events;
		t->gone += f.lost + f.missed;
	}
	return status;
}

static void unload(struct shown *t)
{
	metadata_free(&t->metadata);
	free(t->name);
}

static const char *text_of(const struct shown *t, const char *key)
{
	const char *text = json_string_value(json_object_get(t->metadata.document, key));

	return text ? text : "";
}

static const char *began(const struct shown *t)
{
	const json_t *begin = json_object_get(t->metadata.document, "begin");
	const char *text = json_string_value(json_object_get(begin, "time"));

	return text ? text : "-";
}

static char *duration(const struct shown *t)
{
	const json_t *seconds = json_object_get(t->metadata.document, "duration_s");

	return seconds ? xasprintf("%.1f s", json_real_value(seconds)) : xstrdup("-");
}

static char *categories_of(const struct shown *t)
{
	char *all = xstrdup(""), *more;
	const char *name;
	size_t i;

	for (i = 0; (name = metadata_category(&t->metadata, i)); i++) {
		more = xasprintf("%s%s%s", all, i ? "," : "", name);
		free(all);
		all = more;
	}
	more = text_show(all, strlen(all));
	free(all);
	return more;
}

static const char *color(const char *state)
{
	if (!strcmp(state, "COMPLETE"))
		return CLI_GREEN;
	return strcmp(state, "RUNNING") ? CLI_RED : CLI_YELLOW;
}

/* The contents of metadata.json, and what only the directory shows. */
static json_t *json_of(const struct shown *t)
{
	json_t *object = json_object();

	json_put(object, "name", json_string(t->name));
	json_put(object, "path", json_shown(t->path));
	json_put(object, "bytes_on_disk", json_integer(t->bytes));
	if (t->metadata.document)
		json_object_update(object, t->metadata.document);
	json_put(object, "state", json_string(t->state));
	return object;
}

static void print_row(const struct shown *t, int width)
{
	char *seconds = duration(t), *categories = categories_of(t);
	const char *label = text_of(t, "label");
	char *label_shown = text_show(label, strlen(label));

	printf("%s%-*s%s  %s%-11s%s  %-20s %10s %12llu %9llu %9.1f  %-10s %s\n", CLI_BOLD, width,
	       t->name, CLI_PLAIN, color(t->state), t->state, CLI_PLAIN, began(t), seconds,
	       (unsigned long long)t->events, (unsigned long long)t->gone,
	       (double)t->bytes / (1024 * 1024), categories, label_shown);
	free(label_shown);
	free(categories);
	free(seconds);
}

static int width_of(const struct store_names *names)
{
	size_t i, width = strlen("NAME");

	for (i = 0; i < names->nr; i++) {
		char *name = text_show(names->at[i], strlen(names->at[i]));

		if (strlen(name) > width)
			width = strlen(name);
		free(name);
	}
	return width;
}

static int list_one(struct env *env, const char *name, const char *path, int width)
{
	struct shown t;
	int status = load(&t, name, path);

	if (env->format == FORMAT_JSON)
		json_add(env->document, json_of(&t));
	else
		print_row(&t, width);
	unload(&t);
	return status;
}

static int list(struct env *env)
{
	const char *prefix = env->nr ? env->names[0] : "";
	char *root = store_root();
	struct store_names names;
	int status, width;
	size_t i;

	if (!root)
		return CLI_FAILED;
	status = store_list(&names, root, prefix);
	width = width_of(&names);
	if (names.nr && env->format != FORMAT_JSON)
		printf("%-*s  %-11s  %-20s %10s %12s %9s %9s  %-10s %s\n", width, "NAME", "STATE",
		       "BEGAN", "DURATION", "EVENTS", "GONE", "MiB", "CATEGORIES", "LABEL");
	for (i = 0; i < names.nr; i++) {
		char *path = xasprintf("%s/%s", root, names.at[i]);

		status = cli_merge(status, list_one(env, names.at[i], path, width));
		free(path);
	}
	store_names_free(&names);
	free(root);
	return status;
}

static void print_line(const char *name, const char *value)
{
	char *shown = text_guard(value, strlen(value), "");

	if (*value)
		printf("  %-12s%s\n", name, shown);
	free(shown);
}

/* An array of words on a line, or an object as key=value words. */
static void print_words(const struct shown *t, const char *name)
{
	json_t *all = json_object_get(t->metadata.document, name), *value;
	char *line = xstrdup(""), *more;
	const char *key;
	size_t i;

	json_array_foreach(all, i, value) {
		more = xasprintf("%s%s%s", line, i ? " " : "", json_string_value(value));
		free(line);
		line = more;
	}
	json_object_foreach(all, key, value) {
		more = xasprintf("%s%s%s=%s", line, *line ? " " : "", key,
				 json_string_value(value));
		free(line);
		line = more;
	}
	print_line(name, line);
	free(line);
}

static void print_categories(const struct shown *t)
{
	const json_t *all = json_object_get(t->metadata.document, "categories");
	struct metadata_file f;
	const char *name, *filter;
	char *line;
	size_t i;

	for (i = 0; (name = metadata_category(&t->metadata, i)); i++) {
		filter = json_string_value(json_object_get(json_array_get(all, i), "filter"));
		if (metadata_category_file(&t->metadata, i, &f))
			line = xasprintf("%llu events, %llu lost, %llu missed; filter %s",
					 (unsigned long long)f.events, (unsigned long long)f.lost,
					 (unsigned long long)f.missed, filter ? filter : "none");
		else
			line = xasprintf("filter %s", filter ? filter : "none");
		print_line(name, line);
		free(line);
	}
}

/* The calls of a category that waited when recording ended. */
static void print_waiting_of(const char *category, const json_t *waiting)
{
	const json_t *one;
	char *line, *call;
	long long more;
	size_t i;

	json_array_foreach(json_object_get(waiting, "listed"), i, one) {
		call = waiting_line(one);
		line = xasprintf("%s: %s", category, call);
		print_line("waiting", line);
		free(line);
		free(call);
	}
	more = json_integer_value(json_object_get(waiting, "calls")) - (long long)i;
	if (more <= 0)
		return;
	line = xasprintf("%s: %lld more", category, more);
	print_line("waiting", line);
	free(line);
}

static void print_waiting(const struct shown *t)
{
	const json_t *all = json_object_get(t->metadata.document, "categories");
	const char *name;
	size_t i;

	for (i = 0; (name = metadata_category(&t->metadata, i)); i++)
		print_waiting_of(name, json_object_get(json_array_get(all, i), WAITING_KEY));
}

static void print_snapshots(const struct shown *t)
{
	const json_t *all = json_object_get(t->metadata.document, "snapshots");
	char *line;

	if (!json_object_get(all, "fs"))
		return;
	line = xasprintf("%lld of files, %lld of processes, %lld of the machine",
			 (long long)json_integer_value(json_object_get(all, "fs")),
			 (long long)json_integer_value(json_object_get(all, "process")),
			 (long long)json_integer_value(json_object_get(all, "system")));
	print_line("snapshots", line);
	free(line);
}

/* "disk0: top.qcow2 (qcow2), base.img (raw)", the first layer first. */
static void print_drive(const json_t *drive)
{
	const char *name = json_string_value(json_object_get(drive, "name"));
	const json_t *layer;
	char *line = xasprintf("%s:", name ? name : "-"), *more;
	size_t i;

	json_array_foreach(json_object_get(drive, "layers"), i, layer) {
		const char *file = json_string_value(json_object_get(layer, "file"));
		const char *format = json_string_value(json_object_get(layer, "format"));

		more = xasprintf("%s%s %s (%s)", line, i ? "," : "", file ? file : "?", format ? format : "?");
		free(line);
		line = more;
	}
	more = xasprintf("%s%s%s", line, i ? "" : " empty",
			 json_is_true(json_object_get(drive, "unplugged")) ? ", unplugged" : "");
	print_line("drive", more);
	free(more);
	free(line);
}

/* The machine of record --vm, and its drives as they were when recording began. */
static void print_machine(const struct shown *t)
{
	const json_t *machine = json_object_get(t->metadata.document, "vm"), *drive;
	const char *name = json_string_value(json_object_get(machine, "name"));
	const char *asked = json_string_value(json_object_get(machine, "asked"));
	char *line;
	size_t i;

	if (!json_is_object(machine))
		return;
	line = xasprintf("%s, PID %lld%s", name ? name : "-",
			 (long long)json_integer_value(json_object_get(machine, "pid")),
			 asked && !strcmp(asked, "no answer") ? ", whose monitor did not answer" : "");
	print_line("machine", line);
	free(line);
	json_array_foreach(json_object_get(machine, "drives"), i, drive) {
		print_drive(drive);
	}
}

/* The traces that a merged trace was made of. */
static void print_sources(const struct shown *t)
{
	const json_t *all = json_object_get(t->metadata.document, SOURCES_KEY), *one;
	const char *trace, *host, *state;
	char *line;
	size_t i;

	json_array_foreach(all, i, one) {
		trace = json_string_value(json_object_get(one, "trace"));
		host = json_string_value(json_object_get(one, "host"));
		state = json_string_value(json_object_get(one, "state"));
		line = xasprintf("%s: %s, host %s, offset %+.9g s", trace ? trace : "?",
				 state ? state : "?", host ? host : "?",
				 json_real_value(json_object_get(one, "offset_s")));
		print_line("source", line);
		free(line);
	}
}

static void print_compared(const json_t *one)
{
	const char *category = json_string_value(json_object_get(one, "category"));
	const char *what = json_string_value(json_object_get(one, "what"));
	const char *of = json_string_value(json_object_get(one, "of"));
	const char *source = json_string_value(json_object_get(one, "source"));
	const char *verdict = json_string_value(json_object_get(one, "verdict"));
	long long edge = json_integer_value(json_object_get(one, "edge"));
	char *edges = edge ? xasprintf(" (and up to %lld)", edge) : xstrdup("");
	char *line = xasprintf("%-8s%s: %s%s%s: %lld%s, %s %lld", verdict ? verdict : "?",
			       category ? category : "?", of && *of ? of : "", of && *of ? " " : "",
			       what ? what : "?",
			       (long long)json_integer_value(json_object_get(one, "trace")), edges,
			       source ? source : "?",
			       (long long)json_integer_value(json_object_get(one, "kernel")));

	print_line("", line);
	free(line);
	free(edges);
}

static void print_not_compared(const json_t *one)
{
	const char *category = json_string_value(json_object_get(one, "category"));
	const char *source = json_string_value(json_object_get(one, "source"));
	const char *reason = json_string_value(json_object_get(one, "reason"));
	char *line = xasprintf("%-8s%s: %s%s%s", "-", category ? category : "?",
			       source && *source ? source : "", source && *source ? ": " : "",
			       reason ? reason : "?");

	print_line("", line);
	free(line);
}

/* The sums of the trace beside those of the kernel. */
static void print_receipt(const struct shown *t)
{
	static const char *const verdicts[] = { "equal", "own", "part", "lossy", "differs" };
	const json_t *receipt = json_object_get(t->metadata.document, RECEIPT_KEY), *one;
	char *line, *more;
	size_t i, n;

	if (!json_is_object(receipt))
		return;
	line = xasprintf("lost %lld, missed %lld; beside the kernel's counts",
			 (long long)json_integer_value(json_object_get(receipt, "lost")),
			 (long long)json_integer_value(json_object_get(receipt, "missed")));
	for (i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++) {
		n = receipt_count(receipt, verdicts[i]);
		if (!n && i)
			continue;
		more = xasprintf("%s%s %zu %s", line, i ? "," : ":", n, verdicts[i]);
		free(line);
		line = more;
	}
	print_line("receipt", line);
	free(line);
	json_array_foreach(json_object_get(receipt, "compared"), i, one) {
		print_compared(one);
	}
	json_array_foreach(json_object_get(receipt, "not_compared"), i, one) {
		print_not_compared(one);
	}
}

static void print_text(const struct shown *t)
{
	char *seconds = duration(t);
	char *size = xasprintf("%llu bytes", t->bytes);

	printf("%s%s%s\n", CLI_BOLD, t->name, CLI_PLAIN);
	print_line("path", t->path);
	printf("  %-12s%s%s%s\n", "state", color(t->state), t->state, CLI_PLAIN);
	print_line("reason", t->metadata.reason ? t->metadata.reason : "");
	print_line("label", text_of(t, "label"));
	print_words(t, "tags");
	print_words(t, "command");
	print_line("began", began(t));
	print_line("duration", seconds);
	print_line("size", size);
	print_line("host", text_of(t, "host"));
	print_line("kernel", text_of(t, "kernel"));
	print_machine(t);
	print_categories(t);
	print_waiting(t);
	print_receipt(t);
	print_snapshots(t);
	print_sources(t);
	free(size);
	free(seconds);
}

static int show(struct env *env, const char *name, const char *path)
{
	struct shown t;
	int status = load(&t, name, path);

	if (env->format == FORMAT_JSON) {
		json_add(env->document, json_of(&t));
	} else {
		if (env->further)
			putchar('\n');
		print_text(&t);
	}
	env->further = true;
	unload(&t);
	return status;
}

static int print_path(struct env *env, const char *name, const char *path)
{
	(void)env;
	(void)name;
	/* not escaped, for use in $(...) */
	puts(path);
	return CLI_OK;
}

static int remove_trace(struct env *env, const char *name, const char *path)
{
	(void)env;
	if (check_is_recorded(path)) {
		cli_say_of(name, "is being recorded: end iotracer record first");
		return CLI_FAILED;
	}
	return store_remove(path);
}

/* Reads all events of a category. @receipt: sums them up again, if it is not NULL. */
static int verify_category(struct check *c, const char *name, size_t i, struct receipt *receipt)
{
	const struct category *category = category_find(name, strlen(name));
	char *file = category ? xasprintf("%s.iot", name) : NULL;
	struct check_file checked;
	struct cpu_merge merge;
	const void *record;
	int status;

	if (!category) {
		cli_say_of(c->trace, "category %s is not known to this tool", name);
		return CLI_FAILED;
	}
	status = cpu_merge_open(&merge, c->trace, file, category_event(category));
	if (!status) {
		check_begin(c, &checked, name, i, &merge);
		while ((record = cpu_merge_next(&merge))) {
			if (receipt)
				receipt_sum(receipt, i, record, 1);
			if (merge.events % LOOK_RECORDS == 0)
				progress_of(name, merge.events, "events", merge.reader.at, merge.reader.size);
		}
		progress_end();
		check_end(&checked, &merge);
		printf("  %-12s%llu events can be read\n", name, (unsigned long long)merge.events);
	}
	cpu_merge_close(&merge);
	free(file);
	return status;
}

/* What the receipt says has to be the sums of the events, if all events are there. */
static void verify_receipt(struct check *c, const struct receipt *receipt)
{
	if (c->damaged)
		return;
	if (receipt_verify(receipt, c->metadata.document, c->trace))
		c->damaged = true;
	else
		printf("  %-12s%s\n", "receipt", "its sums are those of the events");
}

static int verify(struct env *env, const char *name, const char *path)
{
	struct check c = { .is_recorded = check_is_recorded(path) };
	struct receipt receipt = { 0 };
	bool has_receipt = false;
	struct paths names = { 0 };
	char *shown = text_show(name, strlen(name));
	const char *category;
	int status = check_open(&c, path);
	size_t i;

	(void)env;
	if (!status) {
		printf("%s\n", shown);
		check_state(&c);
		status = check_names(&c, &names, NULL);
		has_receipt = receipt_again(&receipt, c.metadata.document);
	}
	for (i = 0; !status && (category = metadata_category(&c.metadata, i)); i++)
		status = verify_category(&c, category, i, has_receipt ? &receipt : NULL);
	if (!status && has_receipt)
		verify_receipt(&c, &receipt);
	if (!status) {
		snapshot_check(&c);
		printf("  %-12s%s\n", "verdict", c.damaged ? "not whole" : "whole");
	}
	paths_free(&names);
	receipt_free(&receipt);
	check_close(&c);
	free(shown);
	return status || c.damaged ? CLI_FAILED : CLI_OK;
}

static int merge(struct env *env)
{
	int status;

	env->merge.names = env->names;
	env->merge.nr = env->nr;
	interrupt_catch();
	status = trace_merge_make(&env->merge);
	interrupt_end();
	return status;
}

enum { LIST, SHOW, PATH, VERIFY, MERGE, REMOVE };

#define TRACES(least, missing) { least, ANY_NUMBER, missing, NULL, VALUES_TRACE | VALUES_DIRECTORY }

static const struct action actions[] = {
	[LIST] = { "list", { 0, 1, NULL, "one beginning of names at a time", VALUES_TRACE } },
	[SHOW] = { "show", TRACES(1, "say which traces") },
	[PATH] = { "path", TRACES(1, "say which traces") },
	[VERIFY] = { "verify", TRACES(1, "say which traces") },
	[MERGE] = { "merge", TRACES(2, "say which traces, at least 2") },
	[REMOVE] = { "remove", TRACES(1, "say which traces") },
	{ 0 }
};

/* For one trace. Of the others, all traces are one operation. */
static int (*const runs[])(struct env *env, const char *name, const char *path) = {
	[SHOW] = show, [PATH] = print_path, [VERIFY] = verify, [REMOVE] = remove_trace,
};

static size_t action_of(const struct env *env)
{
	return command_action(&command_traces, &env->words) - actions;
}

/* TRACE=SECONDS: a name may have a = as well. */
static void take_offset(struct argp_state *state, void *to, const char *arg)
{
	struct trace_merge_options *o = &((struct env *)to)->merge;
	char *value = strrchr(arg, '='), *end = NULL;
	double seconds = value ? strtod(value + 1, &end) : 0;

	if (!value || value == arg || end == value + 1 || *end || !(seconds >= -OFFSET_MAX && seconds <= OFFSET_MAX))
		cli_usage(state, "--offset=%s: say TRACE=SECONDS, of 1000000000 seconds at most", arg);
	*value = '\0';
	o->offsets = xreallocarray(o->offsets, o->nr_offsets + 1, sizeof(*o->offsets));
	o->offsets[o->nr_offsets++] = (struct trace_merge_offset){
		arg, seconds * 1e9 + (seconds < 0 ? -0.5 : 0.5),
	};
}

static size_t times_named(char *const *names, size_t nr, const char *name)
{
	size_t i, times = 0;

	for (i = 0; i < nr; i++)
		times += !strcmp(names[i], name);
	return times;
}

/* Each offset is that of one trace, and no trace has two. */
static void check_offsets(const struct env *env, struct argp_state *state)
{
	const struct trace_merge_options *o = &env->merge;
	size_t i, j;

	for (i = 0; i < o->nr_offsets; i++) {
		const char *trace = o->offsets[i].trace;

		if (!times_named(env->names, env->nr, trace))
			cli_usage(state, "--offset: %s is none of the traces, as they are named here",
				  trace);
		for (j = 0; j < i; j++)
			if (!strcmp(o->offsets[j].trace, trace))
				cli_usage(state, "--offset: %s has two", trace);
	}
}

static void check(struct argp_state *state, void *to, const struct option_parser *given)
{
	struct env *env = to;
	size_t action = action_of(env), i;

	(void)given;
	env->names = env->words.at + 1;
	env->nr = env->words.nr - 1;
	for (i = 0; i < env->nr; i++)
		if (!*env->names[i])
			cli_usage(state, "the name of a trace is empty");
	if (env->format == FORMAT_JSON && action != LIST && action != SHOW)
		cli_usage(state, "only list and show have another format");
	if (env->merge.directory && !*env->merge.directory)
		cli_usage(state, "the name of a directory is empty");
	check_offsets(env, state);
}

static int run_each(struct env *env)
{
	size_t action = action_of(env), i;
	int status = CLI_OK;

	if (action == LIST)
		return list(env);
	if (action == MERGE)
		return merge(env);
	for (i = 0; i < env->nr; i++) {
		char *path = store_find(env->names[i]);
		int one = path ? runs[action](env, env->names[i], path) : CLI_FAILED;

		status = cli_merge(status, one);
		free(path);
	}
	return status;
}

static int run(int argc, char **argv)
{
	struct env env = { 0 };
	int status;

	command_parse(&command_traces, argc, argv, &env);
	env.document = json_array();
	status = run_each(&env);
	if (env.format == FORMAT_JSON)
		json_print(env.document);
	else
		json_decref(env.document);
	free(env.merge.offsets);
	return status;
}

static const struct cli_option options[] = {
	{ "format", 'f', "FORMAT", "list, show: output format, text (default) or json",
	  TO_FORMAT(struct env, format), "text json" },
	{ "json", 0, NULL, "same as --format=json",
	  TO_SET(struct env, format), .least = FORMAT_JSON },
	{ "output", 'o', "DIRECTORY",
	  "merge: create DIRECTORY, which must not exist, for the trace (default: <date>-<time> in the store)",
	  TO_TEXT(struct env, merge.directory), .values = VALUES_DIRECTORY, .action = "merge" },
	{ "offset", 0, "TRACE=SECONDS",
	  "merge: add SECONDS, which may be negative, to the times of TRACE; may be repeated",
	  OPTION_TAKE, .take = take_offset, .action = "merge" },
	{ "partial", 0, NULL,
	  "merge: exit with 0 even if a trace is damaged, truncated or has no end; what is missing is still reported",
	  TO_FLAG(struct env, merge.partial), .action = "merge" },
	{ 0 }
};

const struct command command_traces = {
	.name = "traces",
	.summary = "list, show, verify, merge and remove traces",
	.synopsis =
		"list [PREFIX]\nshow TRACE...\npath TRACE...\nverify TRACE...\nmerge TRACE TRACE...\nremove TRACE...",
	.help =
		"List the traces in the store, show their metadata, print their directories, verify that"
		" every event can be read, merge several into one, or remove them.\v"
		"TRACE is a directory, or the name of a trace that list shows. The store is"
		" /var/lib/iotracer, or ~/.local/share/iotracer for a user other than root;"
		" the environment variable IOTRACER_TRACES names another directory.",
	.options = options,
	.actions = actions,
	.actions_missing = "say list, show, path, verify, merge or remove",
	.words = offsetof(struct env, words),
	.check = check,
	.run = run,
};
