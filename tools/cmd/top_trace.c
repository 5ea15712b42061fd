// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "base/cli.h"
#include "cmd/top_trace.h"
#include "top/view.h"

/* What is damaged is reported once, not for each interval. */
static void drop(void *data, const char *line)
{
	(void)data;
	(void)line;
}

/* Reads what began in the interval. Frames without such records are skipped. */
static int fill_part(struct top_trace *t, size_t i, struct top_window *w, __u64 end)
{
	struct selection *s = &t->pass.selection;
	struct pass_reader reader;
	const void *record;
	int status;

	s->begin = w->begin;
	s->end = end;
	status = pass_reader_open(&reader, &t->pass, i);
	while (!status && (record = pass_next(&reader)))
		top_window_take(w, i, record, 1);
	pass_reader_close(&reader);
	if (reader.last > t->last)
		t->last = reader.last;
	w->basis[i].lost = reader.basis.lost;
	w->basis[i].missed = reader.basis.missed;
	w->basis[i].unreadable = reader.basis.unreadable;
	return status;
}

static int fill(struct top_source *source, struct top_window *w, __u64 ns)
{
	static const struct say_sink silence = { drop, NULL };
	struct top_trace *t = (struct top_trace *)source;
	const struct say_sink *before = t->was_read ? say_to(&silence) : NULL;
	__u64 end = w->begin + ns;
	int status = CLI_OK;
	size_t i;

	for (i = 0; !status && i < source->nr; i++)
		status = fill_part(t, i, w, end);
	if (t->was_read)
		say_to(before);
	t->was_read = true;
	source->at_end = end >= (t->end ? t->end : t->last);
	return status;
}

static __u64 wall(const struct top_source *source, __u64 monotonic)
{
	return pass_wall(&((const struct top_trace *)source)->pass, monotonic);
}

static void turn(struct top_source *source, struct top_window *w)
{
	(void)source;
	(void)w;
}

static int need(struct top_source *source, const struct top_view *view)
{
	if (!view->live)
		return CLI_OK;
	cli_say_of(source->trace, "a trace does not say which %s there are: iotracer vm list does, of those that run",
		   view->title);
	return CLI_FAILED;
}

int top_trace_open(struct top_trace *t, const struct cli_words *words)
{
	int status = pass_open(&t->pass, words);
	size_t i;

	t->source = (struct top_source){ .fill = fill, .turn = turn, .need = need, .wall = wall,
					 .trace = t->pass.trace };
	if (status)
		return status;
	for (i = 0; i < t->pass.nr && i < TOP_PARTS; i++)
		t->source.parts[i] = (struct top_part){ t->pass.at[i].category, &t->pass.names };
	t->source.nr = i;
	pass_times(&t->pass, 0, &t->begin, &t->end);
	return CLI_OK;
}

int top_trace_close(struct top_trace *t, int status)
{
	return pass_close(&t->pass, status);
}

__u64 top_trace_at(const struct top_trace *t, const struct wall_given *at)
{
	return at->relative ? pass_origin(&t->pass) + at->ns : at->ns;
}
