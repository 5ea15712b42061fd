// SPDX-License-Identifier: GPL-2.0
/* iotracer help, and what iotracer itself says: its help, and which command was meant. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "core/nearest.h"

static const char doc[] =
	"Trace reads and writes of files at the VFS and at the block layer, and the file operations"
	" below directories, of processes and services, or of the whole system."
	"\v"
	"Exit status:\n"
	"  0  done\n"
	"  1  the operation failed for at least one file\n"
	"  2  the command line is wrong\n"
	"  3  the module is not loaded (doctor: cannot be loaded)\n"
	"  4  permission denied\n"
	"\n"
	"The environment variable IOTRACER_PROC names a directory to use instead of"
	" /proc/iotracer; NO_COLOR switches colour off. See iotracer(8).";

/* Puts the list of commands before the exit codes. */
static char *help_filter(int key, const char *text, void *input)
{
	char *list, *more;
	size_t i;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC || !text)
		return (char *)text;
	list = xstrdup("Commands (iotracer help COMMAND shows more):\n");
	for (i = 0; i < nr_commands; i++) {
		if (!commands[i]->summary)
			continue;
		more = xasprintf("%s  %-12s%s\n", list, commands[i]->name,
				 commands[i]->summary);
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

/* The command that may have been meant: of which two characters are wrong at most. Else NULL. */
static const char *meant(const char *name)
{
	struct iot_nearest found = IOT_NEAREST_NONE;
	size_t i;

	for (i = 0; i < nr_commands; i++)
		if (commands[i]->summary)
			iot_nearest_see(&found, name, strlen(name), commands[i]->name);
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

int command_run(int argc, char **argv)
{
	const struct command *c = command_find(argv[0]);
	char *name;
	int status;

	if (!c) {
		say_unknown(argv[0]);
		return CLI_USAGE;
	}
	name = xasprintf("iotracer %s", c->name);
	argv[0] = name;
	status = c->run(argc, argv);
	free(name);
	return status;
}

static const struct argp main_argp = {
	NULL, parse, "COMMAND [ARGUMENT...]", doc, cli_common, help_filter, NULL
};

int command_parse_main(int argc, char **argv)
{
	int first = argc;

	cli_parse(&main_argp, argc, argv, ARGP_IN_ORDER, &first);
	return first;
}

/* Does the same as --help of the command, or of iotracer itself. */
static int run(int argc, char **argv)
{
	struct cli_words words = { 0 };
	char *arguments[3] = { NULL, "--help", NULL };

	command_parse(&command_help, argc, argv, &words);
	*strchrnul(argv[0], ' ') = '\0';
	arguments[0] = words.nr ? words.at[0] : argv[0];
	if (words.nr)
		return command_run(2, arguments);
	command_parse_main(2, arguments);
	return CLI_OK;
}

const struct command command_help = {
	.name = "help",
	.summary = "show the help of a command",
	.synopsis = "[COMMAND]",
	.help = "Show the help of iotracer, or of one of its commands.",
	.operands = { 0, 1, NULL, "one command at a time", VALUES_SUBCOMMAND },
	.run = run,
};

