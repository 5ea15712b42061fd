// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/progress.h"

#define PERIOD_MS 500

static bool shown;
static bool quiet;

void progress_quiet(void)
{
	quiet = true;
}

/* Whether standard error is a terminal that can erase a line. */
static bool is_terminal(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && strcmp(term, "dumb");
}

bool progress_is_wanted(void)
{
	static int terminal = -1;

	if (terminal < 0)
		terminal = is_terminal();
	return terminal && !quiet;
}

bool progress_is_due(void)
{
	static long long next;
	struct timespec t;
	long long now;

	if (!progress_is_wanted())
		return false;
	clock_gettime(CLOCK_MONOTONIC, &t);
	now = t.tv_sec * 1000LL + t.tv_nsec / 1000000;
	if (now < next)
		return false;
	next = now + PERIOD_MS;
	return true;
}

/* Cuts a line to the width of the terminal: what is on a second line would not be erased. */
static void cut(char *line, size_t size)
{
	struct winsize window;

	if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &window) && window.ws_col && window.ws_col < size)
		line[window.ws_col - 1] = '\0';
}

void progress_show(const char *format, ...)
{
	char line[512];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	cut(line, sizeof(line));
	fprintf(stderr, "\r\033[K%s", line);
	fflush(stderr);
	shown = true;
}

void progress_end(void)
{
	if (shown)
		fputs("\r\033[K", stderr);
	shown = false;
}
