/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every subcommand shares: exit codes, messages, colour, memory and the
 * promise that output which could not be written is an error.
 */
#ifndef TOOL_CLI_H
#define TOOL_CLI_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

enum cli_exit {
	CLI_OK = 0,
	CLI_FAILED = 1,		/* the operation failed */
	CLI_USAGE = 2,		/* the command line is wrong */
	CLI_NO_MODULE = 3,	/* the module is not loaded */
	CLI_DENIED = 4,		/* permission denied */
};

enum cli_format { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON };

/* One line on stderr, "iotracer: " in front; control characters become \ooo. */
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same with the shown form of @subject (a path) and ": " in front. */
void cli_say_of(const char *subject, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The exit code of two parts: a failure wins, two different ones are CLI_FAILED. */
int cli_merge(int a, int b);

/* argp_parse(), whose messages show what was given without control characters. */
void cli_parse(const struct argp *argp, int argc, char **argv, unsigned int flags, void *input);

/* argp_error(), likewise; one line. */
void cli_usage(struct argp_state *state, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

/* Options common to all subcommands (--color): a child parser, no input. */
extern const struct argp_child cli_common[];

/* An argument of --format; @csv says whether csv is among the choices. */
enum cli_format cli_parse_format(struct argp_state *state, const char *arg, bool csv);

/* The arguments FILE... and the option --all (key 'a'). */
struct cli_files {
	char **names;
	size_t nr;
	bool all;
	bool optional;		/* set by the caller: none means all */
};

/* A parser to fall back to: takes 'a' and the arguments, checks them. */
error_t cli_parse_files(struct cli_files *files, int key, struct argp_state *state);

/* The escape sequence for an SGR code such as "1;31", or "" without colour. */
const char *cli_sgr(const char *code);

/* What is coloured from now on goes to stderr: whether that is a terminal counts. */
void cli_color_stderr(void);

#define CLI_BOLD	cli_sgr("1")
#define CLI_RED		cli_sgr("1;31")
#define CLI_GREEN	cli_sgr("32")
#define CLI_YELLOW	cli_sgr("33")
#define CLI_PLAIN	cli_sgr("0")

/* False when output so far was not written; errno then says why. */
bool cli_flush(void);

/* For atexit(): output that was not written makes the exit code CLI_FAILED. */
void cli_close_stdout(void);

/* Nobody reads stdout any more, and that is no error (a followed log). */
void cli_stdout_gone(void);

/* Memory or a clean end with a message: none of these returns NULL. */
void *cli_grow(void *old, size_t count, size_t size);
void *cli_aligned(size_t alignment, size_t size);
char *cli_strdup(const char *s);
char *cli_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* TOOL_CLI_H */
