// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "cmd/selection.h"

void selection_take_filter(struct argp_state *state, void *to, const char *arg)
{
	struct selection *s = to;
	char *words = (char *)arg, *word, *why;

	while ((word = strsep(&words, " "))) {
		why = select_add(&s->select, word);
		if (why)
			cli_usage(state, "--filter=%s: %s", word, why);
	}
}

static void take_time(struct argp_state *state, const char *option, const char *arg,
		      struct wall_given *given)
{
	if (!wall_parse(arg, given))
		cli_usage(state, "%s=%s: say a time in UTC as 2026-11-21T10:43:22.5, or seconds since the beginning of the trace as +1.5",
			  option, arg);
}

void selection_take_from(struct argp_state *state, void *to, const char *arg)
{
	take_time(state, "--from", arg, &((struct selection *)to)->from);
}

void selection_take_to(struct argp_state *state, void *to, const char *arg)
{
	take_time(state, "--to", arg, &((struct selection *)to)->to);
}

static const struct cli_option options[] = {
	SELECTION_OPTIONS,
	{ 0 }
};

const struct option_group selection_options = {
	.title = "Which events:", .options = options,
};

bool selection_is_given(const struct selection *s)
{
	return s->select.nr || s->from.ns || s->from.relative || s->to.ns != SELECTION_ALL_TIME;
}

static __u64 time_of(const struct check *c, const struct wall_given *given)
{
	return given->relative ? wall_time(&c->clock, c->metadata.begin.monotonic) + given->ns :
				 given->ns;
}

int selection_open(struct selection *s, const struct check *check,
		   const struct category *const *among, size_t nr)
{
	const struct iot_schema_event **events = xreallocarray(NULL, nr, sizeof(*events));
	char *why;
	size_t i;

	for (i = 0; i < nr; i++)
		events[i] = category_event(among[i]);
	why = select_unknown_op(&s->select, events, nr);
	if (why)
		cli_say("--filter=op: %s", why);
	free(events);
	free(why);
	s->begin = time_of(check, &s->from);
	s->end = time_of(check, &s->to);
	return why ? CLI_USAGE : CLI_OK;
}

int selection_event(struct selection *s, const struct iot_schema_event *event,
		    const struct paths *paths, const struct anonymizer *anonymizer)
{
	char *why = select_event(&s->select, event, paths, anonymizer);

	if (why)
		cli_say("--filter=%s", why);
	free(why);
	return why ? CLI_USAGE : CLI_OK;
}

bool selection_wants(struct selection *s, const struct wall_clock *clock, __u64 monotonic,
		     const void *record)
{
	if ((s->begin || s->end != SELECTION_ALL_TIME) &&
	    !selection_has_time(s, wall_time(clock, monotonic)))
		return false;
	return select_wants(&s->select, record);
}

bool selection_may_want(void *data, const struct trace_index *index)
{
	const struct selection_skips *skips = data;
	const struct selection *s = skips->selection;

	/* A frame that may have any time has no time of day. */
	if (index->time.most != ~0ULL && (wall_time(skips->clock, index->time.least) >= s->end ||
					  wall_time(skips->clock, index->time.most) < s->begin))
		return false;
	return select_may_want(&s->select, index);
}
