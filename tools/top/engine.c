// SPDX-License-Identifier: GPL-2.0
#include "base/cli.h"
#include "base/wall.h"
#include "top/engine.h"

static void begin_window(struct top *t)
{
	const struct wall_pair now = wall_now();
	struct top_source *s = t->source;

	top_window_begin(t->filling, t->view, s->names, s->parts, s->nr);
	t->filling->begin = s->is_live ? now.realtime : t->at;
	t->since = now.monotonic;
}

void top_begin(struct top *t)
{
	t->filling = &t->windows[0];
	t->shown = &t->windows[1];
	/* nothing is shown yet */
	top_window_begin(t->shown, t->view, t->source->names, t->source->parts, t->source->nr);
	top_window_end(t->shown, 0);
	top_list_make(&t->list, t->shown);
	begin_window(t);
}

void top_end(struct top *t)
{
	top_window_free(&t->windows[0]);
	top_window_free(&t->windows[1]);
	top_list_free(&t->list);
}

int top_wait_ms(const struct top *t, int most)
{
	const __u64 until = t->since + t->interval, now = wall_now().monotonic;
	__u64 ms = now < until ? (until - now + 999999) / 1000000 : 0;

	return ms < (__u64)most ? (int)ms : most;
}

int top_fill(struct top *t)
{
	return t->source->is_live ? t->source->fill(t->source, t->filling, 0) : CLI_OK;
}

static void swap(struct top *t)
{
	struct top_window *ended = t->filling;

	t->filling = t->shown;
	t->shown = ended;
	top_list_make(&t->list, t->shown);
	top_list_remember(&t->list, t->shown);
}

int top_turn(struct top *t, bool show)
{
	struct top_source *s = t->source;
	struct top_window *w = t->filling;
	int status;

	w->begin = s->is_live ? w->begin : t->at;
	status = s->fill(s, w, t->interval);
	top_window_end(w, w->begin + (s->is_live ? wall_now().monotonic - t->since : t->interval));
	s->turn(s, w);
	if (!status && show)
		swap(t);
	t->at = w->begin + t->interval;
	begin_window(t);
	return status;
}

int top_change(struct top *t, const struct top_view *view)
{
	struct top_source *s = t->source;
	int status = s->need(s, view);

	if (status)
		return status;
	t->view = view;
	top_window_show(t->shown, view, s->names, s->parts);
	top_list_forget(&t->list);
	top_list_make(&t->list, t->shown);
	top_list_remember(&t->list, t->shown);
	begin_window(t);
	return CLI_OK;
}
