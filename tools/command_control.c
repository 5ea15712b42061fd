// SPDX-License-Identifier: GPL-2.0
/* iotracer start, stop, reset, timereset: commands to a target's control file. */
#include <fcntl.h>
#include <unistd.h>

#include "cli.h"
#include "command.h"
#include "proc.h"
#include "target.h"

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
		options, parse, "FILE...\n--all", doc, cli_common, NULL, NULL
	};
	struct env env = { .command = command };

	cli_parse(&argp, argc, argv, 0, &env);
	return target_each(&env.files, control_target, &env);
}

#define FILE_DOC "\vFILE is a path or the name of a target."

int command_start(int argc, char **argv)
{
	return control("start", "Go on recording the I/O of files." FILE_DOC, argc, argv);
}

int command_stop(int argc, char **argv)
{
	return control("stop", "Record no more of the I/O of files until started again;"
		       " what was recorded stays." FILE_DOC, argc, argv);
}

int command_reset(int argc, char **argv)
{
	return control("reset", "Drop the recorded events of files." FILE_DOC, argc, argv);
}

int command_timereset(int argc, char **argv)
{
	return control("timereset", "Drop the recorded events of files and set T0,"
		       " from which timestamps count, to now." FILE_DOC, argc, argv);
}
