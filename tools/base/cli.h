/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every subcommand shares: exit codes, messages, colour, memory and the
 * rule that a failure to write output is an error.
 */
#ifndef TOOL_BASE_CLI_H
#define TOOL_BASE_CLI_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

enum cli_exit {
	CLI_OK = 0,
	CLI_FAILED = 1,		/* the operation failed */
	CLI_USAGE = 2,		/* the command line is wrong */
	CLI_NO_MODULE = 3,	/* the module is not loaded */
	CLI_DENIED = 4,		/* permission denied */
};

enum cli_format { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON, FORMAT_FUSE };

/* Prints "iotracer: " and one line on stderr; control characters become \ooo. */
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As above, with the escaped form of @subject (a path) and ": " before the text. */
void cli_say_of(const char *subject, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Merges two exit codes: a failure wins, two different failures become CLI_FAILED. */
int cli_merge(int a, int b);

/* argp_parse(), whose messages show the arguments with control characters escaped. */
void cli_parse(const struct argp *argp, int argc, char **argv, unsigned int flags, void *input);

/* argp_error() for one line, with control characters escaped. */
void cli_usage(struct argp_state *state, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

/* Options common to all subcommands (--color), as a child parser that needs no input. */
extern const struct argp_child cli_common[];

/* Parses the argument of --format; @rows: csv and fuse are choices, too. */
enum cli_format cli_parse_format(struct argp_state *state, const char *arg, bool rows);

/* Parses raw or qcow2, of --image-format, and returns it. */
const char *cli_parse_image_format(struct argp_state *state, const char *arg);

/* Parses the argument of @option: a decimal number from @least to @most. */
__u64 cli_parse_number(struct argp_state *state, const char *option, const char *arg,
		       __u64 least, __u64 most);

/* The arguments FILE... and the option --all (key 'a'). */
struct cli_files {
	char **names;
	size_t nr;
	bool all;
	bool optional;		/* set by the caller: no name means all */
};

/* The default of a subcommand's parser: takes key 'a' and the arguments, and checks them. */
error_t cli_parse_files(struct cli_files *files, int key, struct argp_state *state);

/* The escape sequence for an SGR code such as "1;31", or "" without colour. */
const char *cli_sgr(const char *code);

/* From now on colour is meant for stderr, and is used only if that is a terminal. */
void cli_color_stderr(void);

#define CLI_BOLD	cli_sgr("1")
#define CLI_RED		cli_sgr("1;31")
#define CLI_GREEN	cli_sgr("32")
#define CLI_YELLOW	cli_sgr("33")
#define CLI_PLAIN	cli_sgr("0")

/* Flushes stdout. False if output so far could not be written; errno is set then. */
bool cli_flush(void);

/* As above, and what stdout is a file of is on disk then. Anything else is only flushed. */
bool cli_sync(void);

/* For atexit(): output that was not written makes the exit code CLI_FAILED. */
void cli_close_stdout(void);

/* Call it if stdout has no reader any more and that is no error (a followed log). */
void cli_stdout_gone(void);

#endif /* TOOL_BASE_CLI_H */
