/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The subcommands: a table, of which iotracer's own parsing and help, the manual and the
 * completion of shells are made.
 */
#ifndef TOOL_CMD_COMMAND_H
#define TOOL_CMD_COMMAND_H

#include <argp.h>
#include <stddef.h>

#include "base/cli.h"
#include "base/option.h"

#define ANY_NUMBER (~(size_t)0)

/* The arguments that are no options. */
struct operands {
	size_t least, most;
	const char *missing;	/* "say which file": if there are fewer than @least */
	const char *excess;	/* "one file at a time": behind the first that is too many */
	unsigned int values;	/* what a shell offers: enum option_values */
};

/* The first argument of a command that does several things. */
struct action {
	const char *name;
	struct operands operands;	/* those that follow it */
};

struct command {
	const char *name;
	const char *summary;		/* in iotracer --help; NULL: it is for programs, not listed */
	const char *synopsis;		/* behind the name and the options; a line for each way */
	const char *help;		/* what it does; \v; what else is to be known */
	const struct cli_option *options;	/* NULL: none but --help and --color */
	const struct option_group *group;
	size_t group_at;		/* of its environment in that of the command */
	const struct action *actions;	/* ends with a name of NULL; or NULL */
	const char *actions_missing;	/* "say list or show" */
	struct operands operands;	/* if there are no actions */
	size_t words;			/* of a struct cli_words in the environment */
	unsigned int flags;		/* ARGP_IN_ORDER: the operands are another command */
	/* What the tables cannot say; may be NULL. Reports with cli_usage(). */
	void (*check)(struct argp_state *state, void *env, const struct option_parser *given);
	/* Replaces {words} of help texts, as a help filter of argp; may be NULL. */
	char *(*filter)(int key, const char *text, void *input);
	/*
	 * argv[0] is "iotracer <name>", for messages. Calls command_parse(). Returns an exit code
	 * of cli.h.
	 */
	int (*run)(int argc, char **argv);
};

#define COMMAND(name) extern const struct command command_##name;
#include "cmd/commands.def"
#undef COMMAND

/* All commands: main() sets the table, as some commands use it, and it names all of them. */
extern const struct command *const *commands;
extern size_t nr_commands;

/* NULL if there is none. */
const struct command *command_find(const char *name);

/*
 * Parses what stands before the command, and returns the index of that. Does not return if there is
 * none, or if it requests help.
 */
int command_parse_main(int argc, char **argv);

/* Runs the command argv[0]. Returns its exit code, or CLI_USAGE after a message if there is none. */
int command_run(int argc, char **argv);

/* Does not return if the command line is wrong, or asks for help. */
void command_parse(const struct command *c, int argc, char **argv, void *env);

/* The action that was given; of a command that has actions. */
const struct action *command_action(const struct command *c, const struct cli_words *words);

#endif /* TOOL_CMD_COMMAND_H */
