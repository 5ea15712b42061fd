/* SPDX-License-Identifier: GPL-2.0 */
/* Converts CLOCK_MONOTONIC to the time of day. */
#ifndef TOOL_BASE_WALL_H
#define TOOL_BASE_WALL_H

#include <stdbool.h>
#include <linux/types.h>

/* Both clocks at one moment, ns. */
struct wall_pair {
	__u64 monotonic;
	__u64 realtime;
};

struct wall_clock {
	__u64 from;		/* monotonic */
	__s64 offset;		/* realtime - monotonic, at @from */
	double drift;		/* growth of the offset, ns per ns */
};

struct wall_pair wall_now(void);

/* KIND_20261121_104322_123: the name of what is of this kind and time, UTC. The caller frees it. */
char *wall_name(const char *kind, __u64 ms);

/* A time as options give it. */
struct wall_given {
	bool relative;		/* ns since a start; else ns since 1970 */
	__u64 ns;
};

/*
 * Parses "2026-11-21T10:43:22.5Z", a time of day in UTC whose Z, fraction and seconds may be left out,
 * or "+1.5", seconds since a start. False if it is neither.
 */
bool wall_parse(const char *text, struct wall_given *given);

/*
 * Converts by two pairs, or by @begin alone if @end is all zero. False if the time of day
 * was set in between; then @begin alone is used.
 */
bool wall_clock_init(struct wall_clock *clock, struct wall_pair begin,
		     struct wall_pair end);

static inline __u64 wall_time(const struct wall_clock *clock, __u64 monotonic)
{
	return monotonic + clock->offset +
	       (__s64)((double)(__s64)(monotonic - clock->from) * clock->drift);
}

#endif /* TOOL_BASE_WALL_H */
