/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages to a person, and what a function returns that has reported an error. Who runs the code
 * says where messages go: the tool prints them (cli_begin()), the library hands them to its caller.
 * Without either they are dropped.
 */
#ifndef TOOL_BASE_SAY_H
#define TOOL_BASE_SAY_H

#include <stdarg.h>

/* Exit codes of the tool. "Returns an exit code" in any comment means one of these. */
enum cli_exit {
	CLI_OK = 0,
	CLI_FAILED = 1,		/* the operation failed */
	CLI_USAGE = 2,		/* the command line is wrong */
	CLI_NO_MODULE = 3,	/* the module is not loaded */
	CLI_DENIED = 4,		/* permission denied */
};

/* Reports a message of one line; control characters become \ooo. */
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As above, with the escaped form of @subject (a path) and ": " before the text. */
void cli_say_of(const char *subject, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Takes a message, without a newline; @line is valid during the call only. */
struct say_sink {
	void (*take)(void *data, const char *line);
	void *data;
};

/* The messages of all threads go to @sink, which stays in use. Call it before there are threads. */
void say_to_all(const struct say_sink *sink);

/*
 * The messages of this thread go to @sink until the next call; NULL: to where those of all threads go.
 * Returns the sink before it.
 */
const struct say_sink *say_to(const struct say_sink *sink);

/* The text of a message, with control characters escaped. The caller frees it. */
char *say_text(const char *format, va_list args);

#endif /* TOOL_BASE_SAY_H */
