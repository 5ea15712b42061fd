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
	const struct category **taken = xreallocarray(NULL, env->files.nr + 1, sizeof(*taken));
	size_t nr = category_take(&env->files, taken), i;
	int status = CLI_OK;

	for (i = 0; i < nr; i++)
		status = cli_merge(status, control_category(taken[i], env->command));
	if (env->files.nr || env->files.all)
		status = cli_merge(status, target_each(&env->files, control_target, env));
	free(taken);
	return status;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;

	(void)arg;
	return cli_parse_files(&env->files, key, state);
}

static int control(const char *command, const char *doc, int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "all", 'a', NULL, 0, "all traced files", 0 },
		{ 0 }
	};
	const struct argp argp = {
		options, parse, "FILE|CATEGORY...\n--all", doc, cli_common, category_help, NULL
	};
	struct env env = { .command = command };

	cli_parse(&argp, argc, argv, 0, &env);
	return control_all(&env);
}

#define FILE_DOC "\vFILE is a path, the name of a target, or what list shows of processes; CATEGORY is one of {categories};"\
	" a file with such a name is ./fs."

int command_start(int argc, char **argv)
{
	return control("start", "Record the I/O of files, or the events of categories, again." FILE_DOC, argc, argv);
}

int command_stop(int argc, char **argv)
{
	return control("stop", "Stop recording the I/O of files, or the events of categories, until they are"
		       " started again; what was recorded stays." FILE_DOC, argc, argv);
}

int command_reset(int argc, char **argv)
{
	return control("reset", "Drop the recorded events of files, or of categories." FILE_DOC, argc, argv);
}

int command_timereset(int argc, char **argv)
{
	return control("timereset", "Drop the recorded events of files, or of categories, and set T0,"
		       " from which timestamps count, to now." FILE_DOC, argc, argv);
}
