/* SPDX-License-Identifier: GPL-2.0 */
/* The options --filter, --from and --to: which events of a trace a command is about. */
#ifndef TOOL_CMD_SELECTION_H
#define TOOL_CMD_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "base/option.h"
#include "base/wall.h"
#include "trace/category.h"
#include "trace/check.h"
#include "trace/select.h"

#define SELECTION_ALL_TIME (~0ULL)

/* Start from SELECTION_NONE. */
struct selection {
	struct select select;
	struct wall_given from, to;	/* as given; by default all time */
	__u64 begin, end;		/* ns since 1970; from selection_open() on */
};

#define SELECTION_NONE { .to.ns = SELECTION_ALL_TIME }

void selection_take_filter(struct argp_state *state, void *to, const char *arg);
void selection_take_from(struct argp_state *state, void *to, const char *arg);
void selection_take_to(struct argp_state *state, void *to, const char *arg);

/* For the table of a group whose environment begins with a struct selection. */
#define SELECTION_OPTIONS \
	{ "filter", 0, "KEY=VALUE", \
	  "select events that meet this and all other conditions; keys as for record --filter except tree and rejected, and path=PATH or PATTERN", \
	  OPTION_TAKE, .take = selection_take_filter, .values = VALUES_SELECT }, \
	{ "from", 0, "TIME", \
	  "select events that started at TIME or later: in UTC, as 2026-11-21T10:43:22.5, or seconds from the start of the trace, as +1.5", \
	  OPTION_TAKE, .take = selection_take_from }, \
	{ "to", 0, "TIME", "select events that started before TIME, given as for --from", \
	  OPTION_TAKE, .take = selection_take_to }

/* These alone. Its environment is a struct selection. */
extern const struct option_group selection_options;

/* Whether an option was given. */
bool selection_is_given(const struct selection *s);

/*
 * Computes the times. An operation of --filter that none of the categories has is a mistake, which is
 * reported. Returns an exit code.
 */
int selection_open(struct selection *s, const struct check *check,
		   const struct category *const *among, size_t nr);

/* Does select_event(). Returns an exit code; errors are reported. */
int selection_event(struct selection *s, const struct iot_schema_event *event,
		    const struct paths *paths, const struct anonymizer *anonymizer);

/* Whether an event that began at @time, ns since 1970, is wanted. */
static inline bool selection_has_time(const struct selection *s, __u64 time)
{
	return time >= s->begin && time < s->end;
}

/* As above, whether a record is, that began at @monotonic, and whether it meets the conditions. */
bool selection_wants(struct selection *s, const struct wall_clock *clock, __u64 monotonic,
		     const void *record);

/* What is needed to skip frames of a file that have no such record: cpu_merge's @wants. */
struct selection_skips {
	const struct selection *selection;
	const struct wall_clock *clock;
};

bool selection_may_want(void *skips, const struct trace_index *index);

#endif /* TOOL_CMD_SELECTION_H */
