// SPDX-License-Identifier: GPL-2.0
/* iotracer: finds the subcommand and runs it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "cmd/command.h"
#include "core/schema.h"

static const struct command *const all[] = {
#define COMMAND(name) &command_##name,
#include "cmd/commands.def"
#undef COMMAND
};

static void print_version(FILE *out, struct argp_state *state)
{
	(void)state;
	fprintf(out, "iotracer %s (stream version %d, schema %016llx)\n",
		IOTRACER_VERSION, IOT_STREAM_VERSION,
		(unsigned long long)iot_schema_hash());
}

/* Options before the command belong to the command, and are moved after it. */
static void move_command_up(int argc, char **argv)
{
	char *command;
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (command_find(argv[i]))
			break;
	if (i == argc || argc < 2 || *argv[1] != '-' || !strcmp(argv[i], "--"))
		return;
	command = argv[i];
	memmove(argv + 2, argv + 1, (i - 1) * sizeof(*argv));
	argv[1] = command;
}

int main(int argc, char **argv)
{
	int first;

	cli_begin();
	commands = all;
	nr_commands = sizeof(all) / sizeof(all[0]);
	atexit(cli_close_stdout);
	argp_err_exit_status = CLI_USAGE;
	argp_program_version_hook = print_version;
	move_command_up(argc, argv);
	first = command_parse_main(argc, argv);
	return command_run(argc - first, argv + first);
}
