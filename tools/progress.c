// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"

#define PERIOD_MS 500

static bool shown;

bool progress_is_due(void)
{
	static int terminal = -1;
	static long long next;
	struct timespec t;
	long long now;

	if (terminal < 0)
		terminal = isatty(STDERR_FILENO);
	if (!terminal)
		return false;
	clock_gettime(CLOCK_MONOTONIC, &t);
	now = t.tv_sec * 1000LL + t.tv_nsec / 1000000;
	if (now < next)
		return false;
	next = now + PERIOD_MS;
	return true;
}

void progress_show(const char *format, ...)
{
	va_list args;

	fputs("\r\033[K", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fflush(stderr);
	shown = true;
}

void progress_end(void)
{
	if (shown)
		fputs("\r\033[K", stderr);
	shown = false;
}
