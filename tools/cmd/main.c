// SPDX-License-Identifier: GPL-2.0
/* iotracer: finds the subcommand and runs it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "core/nearest.h"
#include "core/schema.h"

static int command_help(int argc, char **argv);

static const struct {
	const char *name;
	const char *summary;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "add", "start to trace files, directories, processes and services", command_add },
	{ "remove", "trace files, directories, processes and services no longer", command_remove },
	{ "list", "list what is traced", command_list },
	{ "status", "show what was recorded, overwritten and lost", command_status },
	{ "start", "go on recording", command_start },
	{ "stop", "record nothing until started again", command_stop },
	{ "reset", "drop the recorded events", command_reset },
	{ "timereset", "drop the recorded events and set T0 to now", command_timereset },
	{ "filter", "show or set which events a category records", command_filter },
	{ "log", "print the recorded events, as text, CSV or JSON", command_log },
	{ "profile", "sum up the access pattern of a file", command_profile },
	{ "record", "record what the whole system does into a trace", command_record },
	{ "export", "write a trace as CSV or JSON", command_export },
	{ "traces", "list, show, verify, merge and remove the traces that are kept", command_traces },
	{ "snapshot", "write down the state of files, processes or the machine", command_snapshot },
	{ "vm", "list and show the virtual machines of QEMU, and the files of their drives", command_vm },
	{ "map", "find where a guest's data lies in the files of its image", command_map },
	{ "join", "say where the time of a guest's block requests went, on its host", command_join },
	{ "format", "describe the fields of a record", command_format },
	{ "doctor", "report what will work with this kernel, and what to do", command_doctor },
	{ "help", "show how a command is used", command_help },
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const char doc[] =
	"Trace the reads and writes of files, at the VFS and at the block layer, what happens below"
	" directories, and what processes, services or the whole system do to files."
	"\v"
	"Exit status:\n"
	"  0  done\n"
	"  1  the operation failed, for one file at least\n"
	"  2  the command line is wrong\n"
	"  3  the module is not loaded (doctor: cannot be loaded)\n"
	"  4  permission denied\n"
	"\n"
	"The environment variable IOTRACER_PROC names another directory than"
	" /proc/iotracer, NO_COLOR switches colour off. See iotracer(8).";

/* Puts the list of commands before the exit codes. */
static char *help_filter(int key, const char *text, void *input)
{
	char *list, *more;
	size_t i;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC || !text)
		return (char *)text;
	list = xstrdup("Commands (iotracer help COMMAND shows more):\n");
	for (i = 0; i < NR_COMMANDS; i++) {
		more = xasprintf("%s  %-11s%s\n", list, commands[i].name,
				 commands[i].summary);
		free(list);
		list = more;
	}
	more = xasprintf("%s\n%s", list, text);
	free(list);
	return more;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	int *first = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_ARG:
		*first = state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		cli_usage(state, "say what to do: a command is missing");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void print_version(FILE *out, struct argp_state *state)
{
	(void)state;
	fprintf(out, "iotracer %s (stream version %d, schema %016llx)\n",
		IOTRACER_VERSION, IOT_STREAM_VERSION,
		(unsigned long long)iot_schema_hash());
}

static size_t find_command(const char *name)
{
	size_t i;

	for (i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(name, commands[i].name))
			break;
	return i;
}

/* The command that may have been meant: of which two characters are wrong at most. Else NULL. */
static const char *meant(const char *name)
{
	struct iot_nearest found = IOT_NEAREST_NONE;
	size_t i;

	for (i = 0; i < NR_COMMANDS; i++)
		iot_nearest_see(&found, name, strlen(name), commands[i].name);
	return found.distance <= 2 && found.distance < strlen(found.name) ? found.name : NULL;
}

static void say_unknown(const char *name)
{
	const char *other = meant(name);

	if (other)
		cli_say_of(name, "no such command; did you mean %s? (iotracer --help lists all)", other);
	else
		cli_say_of(name, "no such command (iotracer --help lists them)");
}

static int run(int argc, char **argv)
{
	size_t i = find_command(argv[0]);
	char *name;
	int status;

	if (i == NR_COMMANDS) {
		say_unknown(argv[0]);
		return CLI_USAGE;
	}
	name = xasprintf("iotracer %s", commands[i].name);
	argv[0] = name;
	status = commands[i].run(argc, argv);
	free(name);
	return status;
}

static const struct argp main_argp = {
	NULL, parse, "COMMAND [ARGUMENT...]", doc, cli_common, help_filter, NULL
};

static error_t parse_help(int key, char *arg, struct argp_state *state)
{
	char **command = state->input;

	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	if (*command)
		cli_usage(state, "%s: one command at a time", arg);
	*command = arg;
	return 0;
}

/* Does the same as --help of the command, or of iotracer itself. */
static int command_help(int argc, char **argv)
{
	static const struct argp argp = {
		NULL, parse_help, "[COMMAND]", "Show how iotracer, or one of its commands, is used.",
		cli_common, NULL, NULL
	};
	char *command = NULL;
	char *arguments[3];

	cli_parse(&argp, argc, argv, 0, &command);
	*strchrnul(argv[0], ' ') = '\0';
	arguments[0] = command ? command : argv[0];
	arguments[1] = "--help";
	arguments[2] = NULL;
	if (command)
		return run(2, arguments);
	cli_parse(&main_argp, 2, arguments, ARGP_IN_ORDER, &argc);
	return CLI_OK;
}

/* Options before the command belong to the command, and are moved after it. */
static void move_command_up(int argc, char **argv)
{
	char *command;
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (find_command(argv[i]) < NR_COMMANDS)
			break;
	if (i == argc || argc < 2 || *argv[1] != '-' || !strcmp(argv[i], "--"))
		return;
	command = argv[i];
	memmove(argv + 2, argv + 1, (i - 1) * sizeof(*argv));
	argv[1] = command;
}

int main(int argc, char **argv)
{
	int first = argc;

	atexit(cli_close_stdout);
	argp_err_exit_status = CLI_USAGE;
	argp_program_version_hook = print_version;
	move_command_up(argc, argv);
	cli_parse(&main_argp, argc, argv, ARGP_IN_ORDER, &first);
	return run(argc - first, argv + first);
}
