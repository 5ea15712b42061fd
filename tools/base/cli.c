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

/* The formatted text, with control characters escaped. */
static char *guarded(const char *format, va_list args)
{
	char *text, *shown;

	if (vasprintf(&text, format, args) < 0)
		return xchecked(NULL);
	shown = text_guard(text, strlen(text), "");
	free(text);
	return shown;
}

static void say(const char *subject, const char *format, va_list args)
{
	char *shown = subject ? text_show(subject, strlen(subject)) : NULL;
	char *text = guarded(format, args);

	cli_flush();
	progress_end();
	fprintf(stderr, "iotracer: %s%s%s\n", shown ? shown : "", shown ? ": " : "", text);
	free(text);
	free(shown);
}

void cli_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(NULL, format, args);
	va_end(args);
}

void cli_say_of(const char *subject, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(subject, format, args);
	va_end(args);
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
	text = guarded(format, args);
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

enum cli_format cli_parse_format(struct argp_state *state, const char *arg, bool rows)
{
	if (!strcmp(arg, "text"))
		return FORMAT_TEXT;
	if (!strcmp(arg, "json"))
		return FORMAT_JSON;
	if (rows && !strcmp(arg, "csv"))
		return FORMAT_CSV;
	if (rows && !strcmp(arg, "fuse"))
		return FORMAT_FUSE;
	cli_usage(state, "--format=%s: say %s", arg,
		  rows ? "text, csv, json or fuse" : "text or json");
}

const char *cli_parse_image_format(struct argp_state *state, const char *arg)
{
	if (strcmp(arg, "raw") && strcmp(arg, "qcow2"))
		cli_usage(state, "--image-format=%s: say raw or qcow2", arg);
	return arg;
}

static void check_files(struct cli_files *files, struct argp_state *state)
{
	size_t i;

	if (files->nr && files->all)
		cli_usage(state, "say either which files or --all");
	if (!files->nr && files->optional)
		files->all = true;
	if (!files->nr && !files->all)
		cli_usage(state, "say which file");
	for (i = 0; i < files->nr; i++)
		if (!*files->names[i])
			cli_usage(state, "the name of a file is empty");
}

error_t cli_parse_files(struct cli_files *files, int key, struct argp_state *state)
{
	switch (key) {
	case 'a':
		files->all = true;
		return 0;
	case ARGP_KEY_ARGS:
		files->names = state->argv + state->next;
		files->nr = state->argc - state->next;
		return 0;
	case ARGP_KEY_END:
		check_files(files, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool color_wanted(void)
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

	if (!color_wanted())
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

__u64 cli_parse_number(struct argp_state *state, const char *option, const char *arg,
		       __u64 least, __u64 most)
{
	char *end;
	__u64 n = strtoull(arg, &end, 10);

	if (*arg < '0' || *arg > '9' || *end || n < least || n > most)
		cli_usage(state, "%s=%s: say a number from %llu to %llu", option, arg,
			  (unsigned long long)least, (unsigned long long)most);
	return n;
}
