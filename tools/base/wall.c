// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/wall.h"
#include "base/xalloc.h"

/* The most by which a clock is slewed (adjtimex(2)), ns per ns, and an allowance for jitter. */
#define DRIFT_MAX 0.001
#define JITTER_NS 1000000
#define NS_PER_S 1000000000ULL

static __u64 now(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* The real time belongs to the middle between two reads of the monotonic clock. */
struct wall_pair wall_now(void)
{
	__u64 before = now(CLOCK_MONOTONIC);
	__u64 realtime = now(CLOCK_REALTIME);
	__u64 after = now(CLOCK_MONOTONIC);

	return (struct wall_pair){ before + (after - before) / 2, realtime };
}

char *wall_name(const char *kind, __u64 ms)
{
	time_t seconds = ms / 1000;
	char text[32];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y%m%d_%H%M%S", &tm);
	return xasprintf("%s_%s_%03u", kind, text, (unsigned int)(ms % 1000));
}

bool wall_clock_init(struct wall_clock *clock, struct wall_pair begin,
		     struct wall_pair end)
{
	double span = (double)(__s64)(end.monotonic - begin.monotonic);
	double grown;

	*clock = (struct wall_clock){
		.from = begin.monotonic, .offset = begin.realtime - begin.monotonic,
	};
	if (!end.monotonic || span <= 0)
		return true;
	grown = (double)(__s64)(end.realtime - end.monotonic - clock->offset);
	if (grown > span * DRIFT_MAX + JITTER_NS || -grown > span * DRIFT_MAX + JITTER_NS)
		return false;
	clock->drift = grown / span;
	return true;
}

/* Parses a fraction of a second, ".5", at *text, if there is one. */
static __u64 parse_fraction(const char **text)
{
	__u64 ns = 0, digit = NS_PER_S / 10;

	if (**text != '.')
		return 0;
	for (++*text; **text >= '0' && **text <= '9'; ++*text, digit /= 10)
		ns += (**text - '0') * digit;
	return ns;
}

static bool parse_seconds(const char *text, __u64 *ns)
{
	unsigned long long seconds;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	seconds = strtoull(text, &end, 10);
	text = end;
	*ns = seconds * NS_PER_S + parse_fraction(&text);
	return !errno && seconds < ULLONG_MAX / NS_PER_S && !*text;
}

bool wall_parse(const char *text, struct wall_given *given)
{
	struct tm tm = { 0 };
	const char *end;
	time_t seconds;

	given->relative = *text == '+';
	if (given->relative)
		return parse_seconds(text + 1, &given->ns);
	end = strptime(text, "%Y-%m-%dT%H:%M", &tm);
	if (end && *end == ':')
		end = strptime(end, ":%S", &tm);
	seconds = timegm(&tm);
	if (!end || seconds < 0)
		return false;
	given->ns = seconds * NS_PER_S + parse_fraction(&end);
	return !strcmp(end, "Z") || !*end;
}
