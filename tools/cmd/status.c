// SPDX-License-Identifier: GPL-2.0
/* iotracer status: what targets and categories record, keep and lose. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "module/control.h"
#include "module/proc.h"
#include "module/target.h"
#include "trace/categories.h"
#include "trace/category.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

struct env {
	struct cli_files files;
	enum cli_format format;
	json_t *document;
	bool stopped;		/* also show what is stopped */
	bool further;		/* something was printed before */
};

static void print_counts(const struct target_stats *stats)
{
	size_t i;

	printf("  %-12s%12s%12s%12s%12s%12s\n", "level", "seen", "stored",
	       "overwritten", "lost", "missed");
	for (i = 0; i < stats->nr_counts; i++) {
		const struct target_count *c = &stats->counts[i];

		printf("  %-12s%12llu%12llu%12llu%s%12llu%12llu%s\n", c->level, c->seen,
		       c->stored, c->overwritten, c->lost || c->missed ? CLI_RED : "",
		       c->lost, c->missed, c->lost || c->missed ? CLI_PLAIN : "");
	}
}

static void print_line(const char *label, const char *text, const char *state)
{
	char *shown = target_show(text);

	printf("  %-12s%s%s\n", label, shown, state);
	free(shown);
}

static void print_text(const struct target *target, const struct target_state *state,
		       const struct target_stats *stats)
{
	char *name = text_show(target->name, strlen(target->name));
	size_t i;

	printf("%s%s%s  %s%s%s\n", CLI_BOLD, name, CLI_PLAIN,
	       state->running ? CLI_GREEN : CLI_YELLOW,
	       state->running ? "running" : "stopped", CLI_PLAIN);
	free(name);
	for (i = 0; i < target->nr_paths; i++)
		print_line("path", target->paths[i], target->deleted[i] ? " (deleted)" : "");
	if (target->tasks)
		print_line("tasks", target->tasks, target_remarks(target));
	printf("  %-12s%llu.%09u s\n", "T0", state->t0_sec, state->t0_nsec);
	printf("  %-12s%llu of at most %llu%s\n", "events", state->events, state->max_events,
	       target_has_fs_events(target->name) ? " a CPU" : "");
	if (stats->all_operations)
		printf("  %-12s%s\n", "operations", "all");
	printf("  %-12s%llu bytes\n", "memory", stats->memory);
	print_counts(stats);
}

static json_t *json_counts(const struct target_stats *stats)
{
	json_t *levels = json_object();
	size_t i;

	for (i = 0; i < stats->nr_counts; i++) {
		const struct target_count *c = &stats->counts[i];
		json_t *level = json_object();

		json_put(level, "seen", json_integer(c->seen));
		json_put(level, "stored", json_integer(c->stored));
		json_put(level, "overwritten", json_integer(c->overwritten));
		json_put(level, "lost", json_integer(c->lost));
		json_put(level, "missed", json_integer(c->missed));
		json_put(levels, c->level, level);
	}
	return levels;
}

/* null where the stats do not say which file it is. */
static void json_identity(json_t *object, const struct target_stats *stats)
{
	const struct target_file *file = &stats->files[0];
	char device[32];

	snprintf(device, sizeof(device), "%u:%u", file->major, file->minor);
	json_put(object, "device", stats->nr_files ? json_string(device) : json_null());
	json_put(object, "inode", stats->nr_files ? json_integer(file->inode) : json_null());
}

static json_t *json_target(const struct target *target, const struct target_state *state,
			   const struct target_stats *stats)
{
	json_t *object = target_json(target);
	bool directory = !target->tasks && target_has_fs_events(target->name);

	json_put(object, "directory", json_boolean(directory));
	json_identity(object, stats);
	json_put(object, "running", json_boolean(state->running));
	json_put(object, "t0_ns",
		 json_integer(state->t0_sec * 1000000000 + state->t0_nsec));
	json_put(object, "max_events", json_integer(state->max_events));
	json_put(object, "events", json_integer(state->events));
	json_put(object, "memory_bytes", json_integer(stats->memory));
	json_put(object, "all_operations", json_boolean(directory || stats->all_operations));
	json_put(object, "levels", json_counts(stats));
	return object;
}

static int status_target(const struct target *target, const char *file, void *data)
{
	struct env *env = data;
	struct target_state state;
	struct target_stats stats;
	int err = target_state_load(target->name, &state);
	const char *which = err ? "control" : "stats";

	if (!err)
		err = target_stats_load(target->name, &stats);
	/* With --all, a target that is removed meanwhile does not count. */
	if (env->files.all && (err == -ENOENT || err == -EIO))
		return CLI_OK;
	if (err)
		return proc_explain(file, target->name, which, err);
	if (env->files.all && !env->stopped && !state.running)
		return CLI_OK;
	if (env->format == FORMAT_JSON) {
		json_add(env->document, json_target(target, &state, &stats));
		return CLI_OK;
	}
	if (env->further)
		putchar('\n');
	env->further = true;
	print_text(target, &state, &stats);
	return CLI_OK;
}

static void print_category(const struct control *c, bool running)
{
	static const char *const shown[] = { "filter", "sample", "mode" };
	static const char *const counts[] = { "seen", "stored", "overwritten", "lost", "missed" };
	__u64 t0;
	size_t i;

	printf("%s%s%s  %s%s%s\n", CLI_BOLD, c->category, CLI_PLAIN,
	       running ? CLI_GREEN : CLI_YELLOW, running ? "running" : "stopped", CLI_PLAIN);
	for (i = 0; i < ARRAY_SIZE(shown); i++) {
		char *value = control_value(c, shown[i]);

		printf("  %-12s%s\n", shown[i], value);
		free(value);
	}
	t0 = control_stat(c, "t0_ns");
	printf("  %-12s%llu.%09llu s\n", "T0", t0 / 1000000000, t0 % 1000000000);
	printf("  %-12s%llu events a CPU\n", "size", control_stat(c, "size"));
	printf("  %-12s%llu bytes\n", "memory", control_stat(c, "memory_bytes"));
	for (i = 0; i < ARRAY_SIZE(counts); i++)
		printf("  %-12s%llu\n", counts[i], control_stat(c, counts[i]));
}

static json_t *json_of_category(const struct control *c, bool running)
{
	static const char *const numbers[] = {
		"t0_ns", "cpus", "size", "memory_bytes", "seen", "stored", "overwritten", "lost", "missed",
	};
	json_t *object = json_object();
	char *filter = control_value(c, "filter");
	size_t i;

	json_put(object, "category", json_string(c->category));
	json_put(object, "running", json_boolean(running));
	json_put(object, "filter", json_shown(filter));
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		json_put(object, numbers[i], json_integer(control_stat(c, numbers[i])));
	free(filter);
	return object;
}

/* Returns 0 or a negative errno. @stopped: also show a category that is stopped. */
static int status_category(struct env *env, const char *category, bool stopped)
{
	struct control c = { .category = category, .fd = -1, .commands = -1 };
	char *text;
	int err = proc_read(category, "control", &text);
	bool running;

	if (err)
		return err;
	running = !strncmp(text, "start\n", 6);
	free(text);
	if (!running && !stopped)
		return 0;
	if (env->format == FORMAT_JSON) {
		json_add(env->document, json_of_category(&c, running));
		return 0;
	}
	if (env->further)
		putchar('\n');
	env->further = true;
	print_category(&c, running);
	return 0;
}

/* Shows the categories that this module has, and skips one that may not be read. */
static void status_categories(struct env *env)
{
	size_t i;

	for (i = 0; i < nr_categories; i++)
		status_category(env, categories[i]->name, env->stopped);
}

static int status_all(struct env *env)
{
	const struct category **named = xreallocarray(NULL, env->files.named.nr + 1, sizeof(*named));
	size_t nr = category_take(&env->files, named), i;
	int status = CLI_OK;

	for (i = 0; i < nr; i++) {
		int err = status_category(env, named[i]->name, true);

		if (err)
			status = cli_merge(status, control_explain(named[i]->name, "control", err));
	}
	if (env->files.named.nr || env->files.all)
		status = cli_merge(status, target_each(&env->files, status_target, env));
	if (env->files.all)
		status_categories(env);
	free(named);
	return status;
}

static void check(struct argp_state *state, void *to, const struct option_parser *given)
{
	struct env *env = to;

	(void)given;
	env->stopped = env->files.all;
	if (!env->files.named.nr)
		env->files.all = true;
	cli_check_files(&env->files, state);
}

static int run(int argc, char **argv)
{
	struct env env = { 0 };
	int status;

	command_parse(&command_status, argc, argv, &env);
	env.document = json_array();
	status = status_all(&env);
	if (!status && env.files.all && !env.stopped && !env.further && env.format == FORMAT_TEXT)
		puts("nothing is traced now (iotracer status --all shows what is stopped, too)");
	if (env.format == FORMAT_JSON && status != CLI_NO_MODULE && status != CLI_DENIED)
		json_print(json_incref(env.document));
	json_decref(env.document);
	return status;
}

static const struct cli_option options[] = {
	{ "all", 'a', NULL, "show all files and categories, including stopped ones",
	  TO_FLAG(struct env, files.all) },
	{ "format", 'f', "FORMAT", "output format: text (default) or json",
	  TO_FORMAT(struct env, format), "text json" },
	{ 0 }
};

const struct command command_status = {
	.name = "status",
	.summary = "show how many events were recorded, overwritten and lost",
	.synopsis = "[FILE|CATEGORY...]\n--all",
	.help =
		"Show for files and categories whether they are being recorded, how many events they hold,"
		" and how many events were seen, stored, overwritten by newer ones, lost (no free slot) and"
		" missed (a hook could not follow the call). Without arguments, show those that are being"
		" recorded.\v"
		"FILE is a path, the name of a target, or the text that list shows for processes; CATEGORY is"
		" one of {categories}. For a file with such a name, write ./fs.",
	.options = options,
	.operands = { .most = ANY_NUMBER, .values = VALUES_CATEGORY | VALUES_TARGET | VALUES_FILE },
	.words = offsetof(struct env, files.named),
	.check = check,
	.filter = category_help,
	.run = run,
};
