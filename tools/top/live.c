// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/text.h"
#include "base/wall.h"
#include "base/xalloc.h"
#include "module/filter.h"
#include "top/limit.h"
#include "top/live.h"
#include "trace/categories.h"
#include "trace/record.h"

#define BATCH		4096			/* records that are read before they are added */
#define TURNS		128			/* batches of a category before the others are read */
#define PATHS_MOST	(64UL * 1024 * 1024)	/* bytes of paths that are kept of a category */

static __u64 cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* --- starting ------------------------------------------------------------------- */

/*
 * The conditions that the category has, for its control. Of the events of cache only misses have a
 * column. Operations are left to us: those of a category may not be there in another.
 */
static char *filter_of(const struct top_live *l, const struct category *category)
{
	struct filters filters = { .nr = 0 };
	char *conditions, *command;
	size_t i;

	if (category == &category_cache)
		filters_add(&filters, "op=MISS");
	for (i = 0; i < l->select->nr; i++)
		if (select_is_known_to_module(l->select, i) && strncmp(select_given(l->select, i), "op=", 3))
			filters_add(&filters, select_given(l->select, i));
	conditions = filters_of(&filters, category);
	command = xasprintf("filter %s", conditions ? conditions : "none");
	free(conditions);
	filters_free(&filters);
	return command;
}

static int configure(struct top_live *l, struct control *c, const struct category *category)
{
	char *filter = filter_of(l, category);
	char *sample = xasprintf("sample %llu", (unsigned long long)l->sampled);
	const char *const commands[] = { filter, sample, "mode overwrite", "reset" };
	int status = CLI_OK;
	size_t i;

	for (i = 0; !status && i < sizeof(commands) / sizeof(commands[0]); i++)
		status = control_command(c, commands[i]);
	free(filter);
	free(sample);
	return status;
}

/* Opens the stream, and prepares for its records. */
static int open_stream(struct top_live *l, struct top_live_part *p, const struct category *category)
{
	int status = stream_open(&p->stream, category, NULL, category->name);
	const struct iot_schema_event *event = p->stream.event;
	char *why;

	if (status)
		return status;
	p->pid = record_field(event, "pid")->offset;
	p->time = record_field(event, "time")->offset;
	p->latency = record_field(event, "latency")->offset;
	select_copy(&p->select, l->select);
	why = select_event(&p->select, event, &p->stream.names, NULL);
	if (why)
		cli_say("--filter=%s", why);
	free(why);
	return why ? CLI_USAGE : CLI_OK;
}

static void close_part(struct top_live_part *p, struct control *c)
{
	control_release(c);
	stream_close(&p->stream);
	select_free(&p->select);
}

/* If this fails, there is no such part. */
static int open_part(struct top_live *l, const struct category *category)
{
	struct top_live_part *p = &l->parts[l->source.nr];
	struct control *c = &l->controls[l->source.nr];
	int status = CLI_OK;

	*p = (struct top_live_part){
		.is_shared = control_started(category->name), .stream = STREAM_CLOSED,
	};
	*c = (struct control){ .category = category->name, .fd = -1, .commands = -1 };
	if (!p->is_shared)
		status = control_take(c, category->name);
	if (!status && !p->is_shared)
		status = configure(l, c, category);
	if (!status)
		status = open_stream(l, p, category);
	if (status) {
		close_part(p, c);
		return status;
	}
	l->source.parts[l->source.nr++] = (struct top_part){ category, &p->stream.names };
	return CLI_OK;
}

/* Only what happens from now on counts. */
static int skip_old(struct top_live *l, size_t i)
{
	struct top_live_part *p = &l->parts[i];
	int err = stream_read(&p->stream, &l->batch, 1);

	l->batch.nr = 0;
	p->gaps = p->stream.gaps;
	p->missed = control_stat(&l->controls[i], "missed");
	return err ? stream_explain(&p->stream, err) : CLI_OK;
}

/* Starts those from the @first on, in parallel, as the kernel may take seconds for each. */
static int start(struct top_live *l, size_t first)
{
	struct control own[TOP_PARTS];
	size_t nr = 0, i;
	int status;

	for (i = first; i < l->source.nr; i++)
		if (!l->parts[i].is_shared)
			own[nr++] = l->controls[i];
	status = nr ? control_command_all(own, nr, "start while-read") : CLI_OK;
	for (i = first; !status && i < l->source.nr; i++)
		status = skip_old(l, i);
	l->begin = wall_now().monotonic;
	return status;
}

static bool has(const struct top_live *l, const struct category *category)
{
	size_t i;

	for (i = 0; i < l->source.nr; i++)
		if (l->source.parts[i].category == category)
			return true;
	return false;
}

/* How a category of somebody else is set: "fs (only comm=dd)". */
static char *describe_shared(const struct control *c)
{
	char *filter = control_value(c, "filter"), *text;

	if (!*filter || !strcmp(filter, "none"))
		text = xstrdup(c->category);
	else
		text = xasprintf("%s (only %s)", c->category, filter);
	free(filter);
	return text;
}

static void append_note(struct top_live *l, const char *what, const char *names)
{
	size_t used = strlen(l->source.note);

	if (names)
		snprintf(l->source.note + used, sizeof(l->source.note) - used, "%s%s: %s", used ? "; " : "", what, names);
}

/* Tells which categories are somebody else's, how they are set, and what somebody else has stopped. */
static void note_others(struct top_live *l)
{
	char *shared = NULL, *stopped = NULL;
	size_t i;

	for (i = 0; i < l->source.nr; i++) {
		const struct category *category = l->source.parts[i].category;
		char *text;

		if (!control_started(category->name)) {
			stopped = text_append(stopped, ", ", category->name);
		} else if (l->parts[i].is_shared) {
			text = describe_shared(&l->controls[i]);
			shared = text_append(shared, ", ", text);
			free(text);
		}
	}
	l->source.note[0] = '\0';
	append_note(l, "stopped by somebody else", stopped);
	append_note(l, "traced already, read as it is set", shared);
	free(shared);
	free(stopped);
}

static int need(struct top_source *s, const struct top_view *view)
{
	static const struct category *const calls[] = {
		&category_fs, &category_block, &category_cache, NULL
	};
	struct top_live *l = (struct top_live *)s;
	const struct category *const *wanted = view == &top_views[TOP_CONNECTIONS] ? view->main : calls;
	const size_t first = s->nr;
	int status = CLI_OK;
	size_t i;

	if (l->nr_chosen) {
		for (i = 0; !status && i < l->nr_chosen; i++)
			if (!has(l, l->chosen[i]))
				status = open_part(l, l->chosen[i]);
	} else {
		for (i = 0; !status && wanted[i]; i++)
			if (!has(l, wanted[i]))
				status = open_part(l, wanted[i]);
	}
	if (!status && s->nr != first) {
		status = start(l, first);
		note_others(l);
	}
	return status;
}

/* --- reading -------------------------------------------------------------------- */

/* Whether the record is of another process, and ended after the start. */
static bool is_wanted(const struct top_live *l, struct top_live_part *p, const char *record, __u32 own)
{
	return record_scalar(record, p->pid, sizeof(__u32)) != own &&
	       record_scalar(record, p->time, sizeof(__u64)) +
	       record_scalar(record, p->latency, sizeof(__u64)) >= l->begin &&
	       (!p->select.nr || select_wants(&p->select, record));
}

/* Removes the records that are not wanted. */
static void select_records(const struct top_live *l, struct top_live_part *p, struct records *r)
{
	const size_t size = p->stream.event->size;
	const __u32 own = getpid();
	size_t nr = 0, i;

	for (i = 0; i < r->nr; i++) {
		const unsigned char *record = r->data + i * size;

		if (!is_wanted(l, p, (const char *)record, own))
			continue;
		if (nr != i)
			memcpy(r->data + nr * size, record, size);
		nr++;
	}
	r->nr = nr;
}

static int fill_part(struct top_live *l, size_t i, struct top_window *w)
{
	struct top_live_part *p = &l->parts[i];
	unsigned int turn;
	size_t nr = BATCH;
	int err = 0;

	for (turn = 0; !err && nr >= BATCH && turn < TURNS; turn++) {
		err = stream_read(&p->stream, &l->batch, BATCH);
		nr = l->batch.nr;
		l->records += nr;	/* what is left out costs, too */
		select_records(l, p, &l->batch);
		/* device time is a union of times, which come in order */
		if (l->source.parts[i].category == &category_block)
			stream_sort(&p->stream, &l->batch);
		top_window_take(w, i, l->batch.data, l->batch.nr);
		l->batch.nr = 0;
	}
	return err ? stream_explain(&p->stream, err) : CLI_OK;
}

static int fill(struct top_source *s, struct top_window *w, __u64 ns)
{
	struct top_live *l = (struct top_live *)s;
	int status = CLI_OK;
	size_t i;

	(void)ns;
	for (i = 0; !status && i < w->nr; i++)
		status = fill_part(l, i, w);
	return status;
}

/* --- between two intervals -------------------------------------------------------- */

static void set_sample(struct top_live *l, __u64 sample)
{
	char *command = xasprintf("sample %llu", (unsigned long long)sample);
	size_t i;

	for (i = 0; i < l->source.nr; i++)
		if (!l->parts[i].is_shared && control_command(&l->controls[i], command))
			break;
	l->sampled = sample;
	free(command);
}

/* Keeps what this program costs within its share, as far as that depends on the events. */
static void limit_cost(struct top_live *l)
{
	const __u64 cpu = cpu_time(), wall = wall_now().monotonic;
	const struct top_cost cost = { cpu - l->cpu, wall - l->wall, l->records };
	__u64 sample;

	if (l->sample || cost.wall < TOP_LIMIT_NS)
		return;
	sample = top_limit_sample(l->sampled, l->percent, &cost);
	if (sample != l->sampled)
		set_sample(l, sample);
	l->cpu = cpu;
	l->wall = wall;
	l->records = 0;
}

/* The paths of events to come, which have other places than before: what knows these is told. */
static void list_paths(struct top_live_part *p)
{
	/* an error comes again when the next events are read */
	stream_list_paths(&p->stream);
	free(select_event(&p->select, p->stream.event, &p->stream.names, NULL));
}

static void turn(struct top_source *s, struct top_window *w)
{
	struct top_live *l = (struct top_live *)s;
	size_t i;

	for (i = 0; i < w->nr; i++) {
		struct top_live_part *p = &l->parts[i];
		__u64 missed = control_stat(&l->controls[i], "missed");

		w->basis[i].lost = p->stream.gaps - p->gaps;
		w->basis[i].missed = missed > p->missed ? missed - p->missed : 0;
		p->gaps = p->stream.gaps;
		p->missed = missed;
		if (p->stream.names.used > PATHS_MOST)
			list_paths(p);
	}
	note_others(l);
	limit_cost(l);
}

static __u64 wall(const struct top_source *s, __u64 monotonic)
{
	const struct wall_pair now = wall_now();

	(void)s;
	return now.realtime - (now.monotonic - monotonic);
}

int top_live_open(struct top_live *l, const struct top_view *view)
{
	l->source = (struct top_source){
		.is_live = true, .names = &l->names, .fill = fill, .turn = turn, .need = need,
		.wall = wall,
	};
	l->sampled = l->sample ? l->sample : 1;
	l->cpu = cpu_time();
	l->wall = wall_now().monotonic;
	return need(&l->source, view);
}

void top_live_close(struct top_live *l)
{
	size_t i;

	for (i = 0; i < l->source.nr; i++)
		close_part(&l->parts[i], &l->controls[i]);
	records_free(&l->batch);
	top_names_free(&l->names);
}
