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

#include "base/say.h"

enum cli_format {
	FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON, FORMAT_FUSE, FORMAT_FIO, FORMAT_BLKTRACE, FORMAT_MSR,
	FORMAT_FOLDED, FORMAT_PERFETTO, FORMAT_CTF, FORMAT_SQLITE,
};

/* Their names, in this order. */
#define CLI_FORMATS "text csv json fuse fio blktrace msr folded perfetto ctf sqlite"

/* Arguments that are no options. */
struct cli_words {
	char **at;
	size_t nr;
};

/*
 * Call it first in main(): from now on messages are lines on stderr that begin with "iotracer: ", and
 * a lack of memory ends the program.
 */
void cli_begin(void);

/* Merges two exit codes: a failure wins, two different failures become CLI_FAILED. */
int cli_merge(int a, int b);

/* argp_parse(), whose messages show the arguments with control characters escaped. */
void cli_parse(const struct argp *argp, int argc, char **argv, unsigned int flags, void *input);

/* argp_error() for one line, with control characters escaped. */
void cli_usage(struct argp_state *state, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

/* Options common to all subcommands (--color), as a child parser that needs no input. */
extern const struct argp_child cli_common[];

/* The arguments FILE... and the option --all. */
struct cli_files {
	struct cli_words named;
	bool all;
};

/* Refuses none at all, both at once, and an empty name. */
void cli_check_files(struct cli_files *files, struct argp_state *state);

/* The escape sequence for an SGR code such as "1;31", or "" without colour. */
const char *cli_sgr(const char *code);

/* Whether output has colour: --color, NO_COLOR and TERM decide, and whether it is a terminal. */
bool cli_has_color(void);

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
