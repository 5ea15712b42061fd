// SPDX-License-Identifier: GPL-2.0
/* iotracer start, stop, reset, timereset: commands to the control file of a target or category. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "module/control.h"
#include "module/proc.h"
#include "module/target.h"
#include "trace/categories.h"
#include "trace/category.h"

struct env {
	struct cli_files files;
	const char *command;
};

static int control_target(const struct target *target, const char *file, void *data)
{
	const struct env *env = data;
	int fd = proc_open(target->name, "control", O_WRONLY);
	int err;

	if (fd < 0)
		return proc_explain(file, target->name, "control", fd);
	err = proc_command(fd, env->command);
	close(fd);
	return err ? proc_explain(file, target->name, "control", err) : CLI_OK;
}

/* A category has no timereset: its reset sets T0, too. */
static int control_category(const struct category *category, const char *command)
{
	return control_command_once(category->name, strcmp(command, "timereset") ? command : "reset");
}

static int control_all(struct env *env)
{
	const struct category **taken = xreallocarray(NULL, env->files.named.nr + 1, sizeof(*taken));
	size_t nr = category_take(&env->files, taken), i;
	int status = CLI_OK;

	for (i = 0; i < nr; i++)
		status = cli_merge(status, control_category(taken[i], env->command));
	if (env->files.named.nr || env->files.all)
		status = cli_merge(status, target_each(&env->files, control_target, env));
	free(taken);
	return status;
}

static void check(struct argp_state *state, void *to, const struct option_parser *given)
{
	struct env *env = to;

	(void)given;
	cli_check_files(&env->files, state);
}

static const struct cli_option options[] = {
	{ "all", 'a', NULL, "apply the command to all targets, but to no category", TO_FLAG(struct env, files.all) },
	{ 0 }
};

/* The four differ in their name only, which is what is written to the module. */
#define CONTROL_COMMAND(word, shown_summary, shown_help)					\
	static int run_##word(int argc, char **argv)						\
	{											\
		struct env env = { .command = #word };					\
												\
		command_parse(&command_##word, argc, argv, &env);				\
		return control_all(&env);							\
	}											\
												\
	const struct command command_##word = {						\
		.name = #word,								\
		.summary = shown_summary,							\
		.synopsis = "FILE|CATEGORY...\n--all",						\
		.help = shown_help "\vFILE is a path, the name of a target, or the text that"	\
			" list shows for processes; CATEGORY is one of {categories}. For a file"	\
			" with such a name, write ./fs.",							\
		.options = options,								\
		.operands = { .most = ANY_NUMBER,						\
			      .values = VALUES_CATEGORY | VALUES_TARGET | VALUES_FILE },	\
		.words = offsetof(struct env, files.named),					\
		.check = check,									\
		.filter = category_help,							\
		.run = run_##word,								\
	}

CONTROL_COMMAND(start, "resume recording",
		"Resume recording the I/O of targets, or the events of categories.");
CONTROL_COMMAND(stop, "stop recording until started again",
		"Stop recording the I/O of targets, or the events of categories, until they are"
		" started again. Events that were recorded are kept.");
CONTROL_COMMAND(reset, "drop the recorded events",
		"Drop the recorded events of targets or categories.");
CONTROL_COMMAND(timereset, "drop the recorded events and set T0 to the current time",
		"Drop the recorded events of targets or categories, and set T0, the time from which"
		" timestamps count, to the current time.");
