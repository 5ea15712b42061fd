// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/xalloc.h"

static enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color_mode = COLOR_AUTO;
static int colored_fd = STDOUT_FILENO;
static bool stdout_gone;
static int stdout_error;	/* the first errno of a write to stdout that failed */

bool cli_flush(void)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout) && !stdout_error)
		return true;
	if (!stdout_error)
		stdout_error = errno;
	errno = stdout_error;
	return false;
}

bool cli_sync(void)
{
	if (!cli_flush())
		return false;
	/* EINVAL, EROFS: stdout is a pipe, a terminal or the like */
	if (fdatasync(STDOUT_FILENO) && errno != EINVAL && errno != EROFS)
		stdout_error = errno;
	return !stdout_error;
}

/* For say_to(): a line is not mixed with output before it, nor with a line of progress. */
static void print_line(void *data, const char *line)
{
	(void)data;
	cli_flush();
	progress_end();
	fprintf(stderr, "iotracer: %s\n", line);
}

static void out_of_memory(void)
{
	fputs("iotracer: out of memory\n", stderr);
	exit(CLI_FAILED);
}

void cli_begin(void)
{
	static const struct say_sink printer = { print_line, NULL };

	xalloc_on_failure(out_of_memory);
	say_to_all(&printer);
}

int cli_merge(int a, int b)
{
	if (a == CLI_OK || a == b)
		return b;
	return b == CLI_OK ? a : CLI_FAILED;
}

void cli_usage(struct argp_state *state, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = say_text(format, args);
	va_end(args);
	argp_error(state, "%s", text);
	exit(CLI_USAGE);
}

static ssize_t write_guarded(void *to, const char *bytes, size_t size)
{
	char *shown = text_guard(bytes, size, "\n");

	fputs(shown, to);
	free(shown);
	return size;
}

/* getopt(3) prints unknown options unescaped, so stderr is replaced while it runs. */
void cli_parse(const struct argp *argp, int argc, char **argv, unsigned int flags, void *input)
{
	static const cookie_io_functions_t functions = { .write = write_guarded };
	FILE *real = stderr;
	FILE *guard = xchecked(fopencookie(real, "w", functions));

	setvbuf(guard, NULL, _IOLBF, 0);
	stderr = guard;
	argp_parse(argp, argc, argv, flags, NULL, input);
	stderr = real;
	fclose(guard);
}

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
	if (key == 'h')
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
	if (key != 'C')
		return ARGP_ERR_UNKNOWN;
	if (!arg || !strcmp(arg, "always"))
		color_mode = COLOR_ALWAYS;
	else if (!strcmp(arg, "never"))
		color_mode = COLOR_NEVER;
	else if (!strcmp(arg, "auto"))
		color_mode = COLOR_AUTO;
	else
		cli_usage(state, "--color=%s: say auto, always or never", arg);
	return 0;
}

static const struct argp_option common_options[] = {
	{ "color", 'C', "WHEN", OPTION_ARG_OPTIONAL | OPTION_NO_USAGE,
	  "colour: auto (on a terminal unless NO_COLOR is set), always or never", 90 },
	{ NULL, 'h', NULL, OPTION_NO_USAGE, "the same as --help", -1 },
	{ 0 }
};

static const struct argp common_argp = { common_options, parse_common, 0, 0, 0, 0, 0 };

const struct argp_child cli_common[] = {
	{ &common_argp, 0, 0, 0 },
	{ 0 }
};

void cli_check_files(struct cli_files *files, struct argp_state *state)
{
	size_t i;

	if (files->named.nr && files->all)
		cli_usage(state, "say either which files or --all");
	if (!files->named.nr && !files->all)
		cli_usage(state, "say which file");
	for (i = 0; i < files->named.nr; i++)
		if (!*files->named.at[i])
			cli_usage(state, "the name of a file is empty");
}

bool cli_has_color(void)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (color_mode != COLOR_AUTO)
		return color_mode == COLOR_ALWAYS;
	if (no_color && *no_color)
		return false;
	return isatty(colored_fd) && term && strcmp(term, "dumb");
}

void cli_color_stderr(void)
{
	colored_fd = STDERR_FILENO;
}

const char *cli_sgr(const char *code)
{
	/* The codes of cli.h. Constant strings, so that one printf can use several. */
	static const struct { const char *code, *sequence; } known[] = {
		{ "0", "\033[0m" }, { "1", "\033[1m" }, { "1;31", "\033[1;31m" },
		{ "32", "\033[32m" }, { "33", "\033[33m" },
	};
	size_t i;

	if (!cli_has_color())
		return "";
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(code, known[i].code))
			return known[i].sequence;
	return "";
}

void cli_stdout_gone(void)
{
	stdout_gone = true;
}

void cli_close_stdout(void)
{
	bool failed = !cli_flush();

	errno = 0;
	if (fclose(stdout) && errno != EBADF) {
		failed = true;
		if (!stdout_error)
			stdout_error = errno;
	}
	if (!failed || stdout_gone)
		return;
	fprintf(stderr, "iotracer: the output could not be written%s%s\n",
		stdout_error ? ": " : "", stdout_error ? strerror(stdout_error) : "");
	_exit(CLI_FAILED);
}
