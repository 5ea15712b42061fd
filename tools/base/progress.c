// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/progress.h"
#include "base/scaled.h"
#include "base/wall.h"

#define PERIOD_NS 500000000ULL
#define NS_PER_S 1e9

static bool shown;
static bool quiet;

void progress_quiet(void)
{
	quiet = true;
}

void progress_beside_output(void)
{
	struct stat st;

	if (fstat(STDOUT_FILENO, &st) || !S_ISREG(st.st_mode))
		progress_quiet();
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
	static __u64 next;
	__u64 now;

	if (!progress_is_wanted())
		return false;
	now = wall_now().monotonic;
	if (now < next)
		return false;
	next = now + PERIOD_NS;
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

/* How fast it went, and how long what is left takes at this speed: nothing in the first half second. */
static void speed_text(char *out, size_t size, __u64 ns, double count, const char *unit, double share)
{
	double passed = ns / NS_PER_S;
	char rate[SCALED];
	int length;

	*out = '\0';
	if (ns < PERIOD_NS)
		return;
	length = snprintf(out, size, ", %s %s/s", scaled_number(rate, count / passed), unit);
	if (share > 0)
		snprintf(out + length, size - length, ", %.0f s left", passed / share - passed);
}

void progress_of(const char *what, unsigned long long count, const char *unit, unsigned long long done,
		 unsigned long long whole)
{
	static struct { char what[32]; __u64 begin; unsigned long long count, done; } last;
	char share[32] = "", speed[96];

	if (!progress_is_wanted())
		return;
	if (strncmp(last.what, what, sizeof(last.what) - 1) || done < last.done) {
		snprintf(last.what, sizeof(last.what), "%s", what);
		last.begin = wall_now().monotonic;
		last.count = count;
	}
	last.done = done;
	if (!progress_is_due())
		return;
	if (whole)
		snprintf(share, sizeof(share), ", %.0f %%", 100 * (double)done / (double)whole);
	speed_text(speed, sizeof(speed), wall_now().monotonic - last.begin, (double)(count - last.count), unit,
		   whole ? (double)done / (double)whole : 0);
	progress_show("%s: %llu %s%s%s", what, count, unit, share, speed);
}

void progress_end(void)
{
	if (shown)
		fputs("\r\033[K", stderr);
	shown = false;
}
