// SPDX-License-Identifier: GPL-2.0
/* iotracer path: one I/O of a trace, from the call down to the disk, or from a request up. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/scaled.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "cmd/pass.h"
#include "core/names.h"
#include "trace/categories.h"
#include "trace/io_text.h"
#include "trace/story.h"
#include "uapi/iotracer.h"

#define NO_OFFSET	(~0ULL)
#define ANY_CPU		(~0U)
#define SINCE_WIDTH	8
#define TIME_WIDTH	7
#define STEPS		(STORY_REQUESTS + STORY_CALLS + STORY_OPS + 2)

/* A line of the story. */
struct step {
	__u64 begin, end;
	unsigned int level;		/* 0: calls, 1: pages, 2: requests */
	const struct story_io *io;	/* NULL: pages */
	unsigned int op;		/* of the pages */
	__u64 pages;
};

struct env {
	struct cli_words words;
	struct pass pass;
	enum cli_format format;
	const struct category *category;	/* of --event, if it was said */
	unsigned int cpu;
	__u64 seq;
	bool by_event;
	const char *file;
	char *shown;			/* @file as paths are shown */
	__u64 offset;
	__u64 candidates;		/* events with that seq, or on that file */
	char *choices;			/* names of those with that seq */
	struct io_event subject;
	struct story story;
	struct story_io main;		/* the subject as a step */
	struct step steps[STEPS];
	size_t nr_steps;
	struct basis basis;
	json_t *read;			/* an object of each category that was read */
};

/* --- which event ---------------------------------------------------------------- */

/* Whether the event is the one, or one of those, that was asked for. */
static bool is_meant(const struct env *env, const struct io_event *e)
{
	if (env->by_event)
		return e->seq == env->seq && (env->cpu == ANY_CPU || e->cpu == env->cpu);
	if (env->offset != NO_OFFSET && !io_ranges_meet(e->offset, e->size, env->offset, 1))
		return false;
	return !strcmp(io_text_path(e, &env->pass.names), env->shown);
}

/* Takes the first event with that seq, or the slowest on that file. */
static void take_event(struct env *env, const struct io_event *e)
{
	char *name;

	if (!env->candidates++ || (!env->by_event && io_event_latency(e) > io_event_latency(&env->subject)))
		env->subject = *e;
	if (env->by_event && env->candidates <= 8) {
		name = io_text_name(e);
		env->choices = text_append(env->choices, ", ", name);
		free(name);
	}
}

static int find_in(struct env *env, const struct category *category)
{
	size_t i = pass_need(&env->pass, category);
	struct pass_reader reader;
	struct io_event e;
	const void *record;
	int status;

	if (i == PASS_NONE_SUCH) {
		cli_say_of(env->pass.trace, "has no category %s", category->name);
		return CLI_FAILED;
	}
	status = pass_reader_open(&reader, &env->pass, i);
	while (!status && (record = pass_next(&reader))) {
		io_event_read(&e, category, merge_cpu_of(&reader.merge), reader.source, record);
		if (is_meant(env, &e))
			take_event(env, &e);
	}
	pass_reader_end(&reader, env->read, &env->basis);
	return status;
}

static int not_one(const struct env *env)
{
	if (env->by_event && env->candidates)
		cli_say_of(env->pass.trace, "%llu events are number %llu of their CPUs: say which, --event=%s",
			   (unsigned long long)env->candidates, (unsigned long long)env->seq, env->choices);
	else if (env->by_event)
		cli_say_of(env->pass.trace, "has no such event of category %s, or it is not selected",
			   env->category->name);
	else if (env->offset != NO_OFFSET)
		cli_say_of(env->pass.trace, "has no I/O of byte %llu of %s, or it is not selected",
			   (unsigned long long)env->offset, env->shown);
	else
		cli_say_of(env->pass.trace, "has no I/O of %s, or it is not selected", env->shown);
	return CLI_FAILED;
}

static int find_event(struct env *env)
{
	size_t i, nr = env->pass.nr, read = 0;
	int status = CLI_OK;
	enum io_kind kind;

	if (env->by_event)
		status = find_in(env, env->category);
	for (i = 0; !env->by_event && !status && i < nr; i++) {
		const struct category *category = env->pass.at[i].category;

		if (!io_event_kind(category, &kind) || (kind == IO_REQUEST && !env->pass.nr_named))
			continue;
		status = find_in(env, category);
		read++;
	}
	if (!status && !env->by_event && !read) {
		cli_say_of(env->pass.trace,
			   "has none of the categories fs and fault: --categories=block finds a request");
		return CLI_FAILED;
	}
	if (!status && (!env->candidates || (env->by_event && env->candidates > 1)))
		return not_one(env);
	return status;
}

/* --- what belongs to it --------------------------------------------------------- */

static void tell_record(struct env *env, const struct pass_reader *reader, const void *record)
{
	struct iot_cache page;
	struct io_event e = { .kind = 0 };

	if (reader->category == &category_cache) {
		memcpy(&page, record, sizeof(page));
		story_page(&env->story, &page, reader->source);
		return;
	}
	io_event_read(&e, reader->category, merge_cpu_of(&reader->merge), reader->source, record);
	if (e.kind == IO_REQUEST)
		story_request(&env->story, &e);
	else
		story_call(&env->story, &e);
}

/* A category that the trace does not have adds nothing. */
static int tell_category(struct env *env, const struct category *category)
{
	size_t i = pass_need(&env->pass, category);
	struct pass_reader reader;
	const void *record;
	int status;

	if (i == PASS_NONE_SUCH)
		return CLI_OK;
	status = pass_reader_open_whole(&reader, &env->pass, i);
	explain_begin(&env->story.explain);
	while (!status && (record = pass_next(&reader)))
		tell_record(env, &reader, record);
	pass_reader_end(&reader, env->read, &env->basis);
	return status;
}

static int tell_story(struct env *env)
{
	bool up = env->subject.kind == IO_REQUEST;
	int status = CLI_OK;

	story_begin(&env->story, &env->subject);
	if (up)
		status = cli_merge(tell_category(env, &category_fs), tell_category(env, &category_fault));
	if (!status)
		status = tell_category(env, &category_block);
	if (!status && !up)
		status = tell_category(env, &category_cache);
	story_finish(&env->story);
	return status;
}

/* --- steps ---------------------------------------------------------------------- */

static void add_io(struct env *env, const struct story_io *io)
{
	env->steps[env->nr_steps++] = (struct step){
		.begin = io->event.begin, .end = io->event.end, .io = io,
		.level = io->event.kind == IO_REQUEST ? 2 : 0,
	};
}

static int by_time(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->level < y->level ? -1 : x->level > y->level;
}

/* The write whose data a request has may also have waited for it. */
static bool has_waited(const struct story *s, const struct io_event *writer)
{
	size_t i;

	for (i = 0; i < s->nr_calls; i++)
		if (s->calls[i].event.cpu == writer->cpu && s->calls[i].event.seq == writer->seq &&
		    s->calls[i].event.kind == writer->kind)
			return true;
	return false;
}

static void arrange(struct env *env)
{
	const struct story *s = &env->story;
	size_t i;

	env->main = (struct story_io){ env->subject, STORY_SUBJECT };
	add_io(env, &env->main);
	if (s->writer.event.category && !has_waited(s, &s->writer.event))
		add_io(env, &s->writer);
	for (i = 0; i < s->nr_calls; i++)
		add_io(env, &s->calls[i]);
	for (i = 0; i < s->nr_requests; i++)
		add_io(env, &s->requests[i]);
	for (i = 0; i < STORY_OPS; i++)
		if (s->pages[i].events)
			env->steps[env->nr_steps++] = (struct step){
				.begin = s->pages[i].first, .end = s->pages[i].last, .level = 1,
				.op = i, .pages = s->pages[i].pages,
			};
	qsort(env->steps, env->nr_steps, sizeof(*env->steps), by_time);
}

static const char *page_op(unsigned int op)
{
	return iot_names_op_name(IOT_EVENT_ID_CACHE, op) ?: "?";
}

/* --- text ----------------------------------------------------------------------- */

/* Prints the start of a text that fits beside @indent columns, and frees it. */
static void put_start(int indent, char *text)
{
	printf("%.*s\n", IO_TEXT_WIDTH - indent, text);
	free(text);
}

/* "+1.20us", since the subject began. */
static void put_since(const struct env *env, __u64 time)
{
	__u64 from = env->subject.begin;
	char cell[SCALED], signed_cell[SCALED + 1];

	sprintf(signed_cell, "%c%s", time < from ? '-' : '+',
		scaled_time(cell, time < from ? from - time : time - from));
	printf("%*s", SINCE_WIDTH, signed_cell);
}

static void put_time(bool known, __u64 ns)
{
	char cell[SCALED];

	printf("%*s", TIME_WIDTH, known ? scaled_time(cell, ns) : "");
}

/* "WRITE 4.00KiB at 8192, own, block:0:17, kworker/9"; for whom, if it is not the subject's owner. */
static char *step_text(const struct env *env, const struct step *step)
{
	const struct story_io *io = step->io;
	char room[8], size[SCALED], *owner, *name, *text;

	if (!io)
		return xasprintf("%s, %llu page%s", page_op(step->op), (unsigned long long)step->pages,
				 step->pages == 1 ? "" : "s");
	name = io_text_name(&io->event);
	text = xstrdup(io_text_op(&io->event, room));
	if (io->event.size)
		text = text_append(text, " ", scaled_size(size, io->event.size));
	if (io->event.size) {
		sprintf(size, "%llu", (unsigned long long)io->event.offset);
		text = text_append(text, " at ", size);
	}
	if (io->relation != STORY_SUBJECT)
		text = text_append(text, ", ", story_relation_names[io->relation]);
	text = text_append(text, ", ", name);
	if (io_event_owner(&io->event) != io_event_owner(&env->subject)) {
		owner = io_text_owner(&io->event);
		text = text_append(text, ", ", owner);
		free(owner);
	}
	free(name);
	return text;
}

static void put_step(const struct env *env, const struct step *step)
{
	bool is_request = step->io && step->io->event.kind == IO_REQUEST;
	int indent = 2 + 2 * step->level;

	put_since(env, step->begin);
	put_time(step->io || step->end > step->begin, step->end - step->begin);
	put_time(is_request, is_request ? step->io->event.queue : 0);
	put_time(is_request, is_request ? step->io->event.in_device : 0);
	printf("%*s", indent, "");
	put_start(SINCE_WIDTH + 3 * TIME_WIDTH + indent, step_text(env, step));
}

static void put_part(const char *name, __u64 part, __u64 latency)
{
	char cell[SCALED];

	printf("%-8s%8s%8.2f %%\n", name, scaled_time(cell, part), latency ? 100.0 * part / latency : 0);
}

static void put_neighbours(const struct env *env)
{
	const struct story *s = &env->story;
	char size[SCALED], time[SCALED];
	size_t i;

	if (!s->nr_neighbours) {
		puts("\nMeanwhile the disk had no other requests.");
		return;
	}
	printf("\nMeanwhile the disk also had requests of:\n%s   COUNT   BYTES    TIME  DISK FOR%s\n", CLI_BOLD,
	       CLI_PLAIN);
	for (i = 0; i < s->nr_neighbours; i++) {
		const struct story_neighbour *n = &s->neighbours[i];
		char *comm = text_show(n->comm, strnlen(n->comm, IO_COMM));
		char *disk = text_show(n->disk, strnlen(n->disk, IO_DISK));

		printf("%8llu%8s%8s", (unsigned long long)n->requests,
		       scaled_size(size, n->bytes), scaled_time(time, n->overlap));
		put_start(3 * 8, xasprintf("  %s %s/%u", disk, comm, n->pid));
		free(disk);
		free(comm);
	}
	if (s->further.requests)
		printf("%8llu%8s%8s  others, on any disk\n", (unsigned long long)s->further.requests,
		       scaled_size(size, s->further.bytes), scaled_time(time, s->further.overlap));
}

static void report_text(struct env *env)
{
	const struct io_event *e = &env->subject;
	char room[8], latency[SCALED], size[SCALED], *owner = io_text_owner(e), *name = io_text_name(e);
	char *since = io_text_since(e->begin, env->pass.check.metadata.begin.monotonic);
	struct explain_parts parts;
	size_t i;

	printf("%s%s", CLI_BOLD, io_text_op(e, room));
	if (e->size)
		printf(" of %s at %llu", scaled_size(size, e->size), (unsigned long long)e->offset);
	printf(" took %s%s\n", scaled_time(latency, io_event_latency(e)), CLI_PLAIN);
	io_text_line(2, xasprintf("%s  %s  %s", since, name, owner));
	if (e->path)
		io_text_line(2, xstrdup(io_text_path(e, &env->pass.names)));
	if (!env->by_event)
		printf("  the slowest of %llu\n", (unsigned long long)env->candidates);
	printf("\n%s      AT   TOOK  QUEUE DEVICE  WHAT%s\n", CLI_BOLD, CLI_PLAIN);
	for (i = 0; i < env->nr_steps; i++)
		put_step(env, &env->steps[i]);
	if (env->story.more_requests)
		printf("%*s%llu requests more\n", SINCE_WIDTH + 3 * TIME_WIDTH + 2, "",
		       (unsigned long long)env->story.more_requests);
	if (env->story.more_calls)
		printf("%*s%llu calls more\n", SINCE_WIDTH + 3 * TIME_WIDTH + 2, "",
		       (unsigned long long)env->story.more_calls);
	explain_parts_of(env->story.explain.at, &parts);
	putchar('\n');
	put_part("device", parts.device, io_event_latency(e));
	put_part("queue", parts.queue, io_event_latency(e));
	put_part("cache", parts.cache, io_event_latency(e));
	put_part("other", parts.other, io_event_latency(e));
	put_neighbours(env);
	basis_text(&env->basis);
	free(since);
	free(name);
	free(owner);
}

/* --- JSON and CSV --------------------------------------------------------------- */

/* An object with the same members for all steps. */
static json_t *step_json(const struct env *env, const struct step *step)
{
	static const char *const levels[] = { "call", "pages", "request" };
	const struct io_event *e = step->io ? &step->io->event : NULL;
	bool is_request = e && e->kind == IO_REQUEST;
	char *name = e ? io_text_name(e) : xstrdup(""), room[8];
	char *comm = e ? text_show(io_event_owner_comm(e), strnlen(io_event_owner_comm(e), IO_COMM)) :
			 xstrdup("");
	json_t *row = json_object();

	json_put(row, "since_ns", json_integer(step->begin - env->subject.begin));
	json_put(row, "took_ns", json_unsigned(step->end - step->begin));
	json_put(row, "queue_ns", is_request ? json_unsigned(e->queue) : json_null());
	json_put(row, "device_ns", is_request ? json_unsigned(e->in_device) : json_null());
	json_put(row, "level", json_string(levels[step->level]));
	json_put(row, "op", json_string(e ? io_text_op(e, room) : page_op(step->op)));
	json_put(row, "relation", json_string(e ? story_relation_names[step->io->relation] : ""));
	json_put(row, "event", json_string(name));
	json_put(row, "pid", e ? json_unsigned(io_event_owner(e)) : json_null());
	json_put(row, "command", json_string(comm));
	json_put(row, "file", json_string(e ? io_text_path(e, &env->pass.names) : ""));
	json_put(row, "offset_bytes", e ? json_unsigned(e->offset) : json_null());
	json_put(row, "size_bytes", e ? json_unsigned(e->size) : json_null());
	json_put(row, "pages", e ? json_null() : json_unsigned(step->pages));
	free(comm);
	free(name);
	return row;
}

static json_t *neighbour_json(const struct story_neighbour *n)
{
	char *comm = text_show(n->comm, strnlen(n->comm, IO_COMM));
	char *disk = text_show(n->disk, strnlen(n->disk, IO_DISK));
	json_t *object = json_object();

	json_put(object, "disk", json_string(disk));
	json_put(object, "pid", json_unsigned(n->pid));
	json_put(object, "command", json_string(comm));
	json_put(object, "requests", json_unsigned(n->requests));
	json_put(object, "bytes", json_unsigned(n->bytes));
	json_put(object, "overlap_ns", json_unsigned(n->overlap));
	free(disk);
	free(comm);
	return object;
}

static json_t *parts_json(const struct env *env)
{
	json_t *object = json_object();
	struct explain_parts parts;

	explain_parts_of(env->story.explain.at, &parts);
	json_put(object, "device_ns", json_unsigned(parts.device));
	json_put(object, "queue_ns", json_unsigned(parts.queue));
	json_put(object, "cache_ns", json_unsigned(parts.cache));
	json_put(object, "other_ns", json_unsigned(parts.other));
	return object;
}

static void report_json(struct env *env)
{
	json_t *document = json_object(), *event = json_object(), *steps = json_array();
	json_t *neighbours = json_array();
	const struct story *s = &env->story;
	size_t i;

	io_text_json(event, &env->subject, &env->pass.names, pass_wall(&env->pass, env->subject.begin));
	for (i = 0; i < env->nr_steps; i++)
		json_add(steps, step_json(env, &env->steps[i]));
	for (i = 0; i < s->nr_neighbours; i++)
		json_add(neighbours, neighbour_json(&s->neighbours[i]));
	json_put(document, "trace", json_shown(env->pass.trace));
	json_put(document, "event", event);
	json_put(document, "candidates", json_unsigned(env->candidates));
	json_put(document, "parts", parts_json(env));
	json_put(document, "steps", steps);
	json_put(document, "more_requests", json_unsigned(s->more_requests));
	json_put(document, "more_calls", json_unsigned(s->more_calls));
	json_put(document, "meanwhile", neighbours);
	json_put(document, "meanwhile_others", json_unsigned(s->further.requests));
	json_put(document, "categories", json_incref(env->read));
	json_print(document);
}

static void report_csv(struct env *env)
{
	size_t i;

	for (i = 0; i < env->nr_steps; i++) {
		json_t *row = step_json(env, &env->steps[i]);

		basis_json_row(row, &env->basis);
		if (!i)
			json_csv_header(row);
		json_csv_row(row);
		json_decref(row);
	}
}

/* --- options -------------------------------------------------------------------- */

static bool take_number(const char **text, __u64 *n)
{
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	*n = strtoull(*text, &end, 10);
	*text = end;
	return true;
}

/* [CATEGORY:][CPU:]SEQ */
static void take_name(struct argp_state *state, void *to, const char *arg)
{
	const char *at = arg, *colon = strchr(arg, ':');
	struct env *env = to;
	__u64 first = 0, second = 0;
	enum io_kind kind;
	bool good, two;

	if (colon && (*arg < '0' || *arg > '9')) {
		env->category = category_find(arg, colon - arg);
		if (!env->category || !io_event_kind(env->category, &kind))
			cli_usage(state, "--event=%s: the category is none of fs, fault and block", arg);
		at = colon + 1;
	}
	good = take_number(&at, &first);
	two = good && *at == ':';
	if (two) {
		at++;
		good = take_number(&at, &second);
	}
	if (!good || *at || (two && first >= ANY_CPU))
		cli_usage(state, "--event=%s is no event: [CATEGORY:][CPU:]SEQ, as fs:0:17", arg);
	env->cpu = two ? first : ANY_CPU;
	env->seq = two ? second : first;
	env->by_event = true;
}

static void check(struct argp_state *state, void *to, const struct option_parser *given)
{
	struct env *env = to;
	enum io_kind kind;

	(void)given;
	if (env->by_event == !!env->file)
		cli_usage(state, env->file ? "say --event or --file, not both" :
					     "say which I/O: --event=SEQ, or --file=FILE");
	if (env->by_event && !env->category && env->pass.nr_named > 1)
		cli_usage(state, "--event: say one category");
	if (env->by_event && !env->category)
		env->category = env->pass.nr_named ? env->pass.named[0] : &category_fs;
	if (env->by_event && !io_event_kind(env->category, &kind))
		cli_usage(state, "--event: the category is none of fs, fault and block");
}

static int run(int argc, char **argv)
{
	static void (*const reports[])(struct env *env) = {
		[FORMAT_TEXT] = report_text, [FORMAT_CSV] = report_csv, [FORMAT_JSON] = report_json,
	};
	static struct env env = { .pass = PASS_NONE, .cpu = ANY_CPU, .offset = NO_OFFSET };
	static const struct category *const needs[] = { &category_fs, &category_block, &category_cache, NULL };
	int status;

	command_parse(&command_path, argc, argv, &env);
	env.pass.needs = needs;
	env.shown = env.file ? text_show(env.file, strlen(env.file)) : NULL;
	env.read = json_array();
	status = pass_open(&env.pass, &env.words);
	if (!status)
		status = find_event(&env);
	if (!status)
		status = tell_story(&env);
	if (!status) {
		arrange(&env);
		reports[env.format](&env);
	}
	story_free(&env.story);
	json_decref(env.read);
	free(env.choices);
	free(env.shown);
	return pass_close(&env.pass, status);
}

static const struct cli_option options[] = {
	{ "event", 'e', "EVENT",
	  "follow this event, as slowest names it: [CATEGORY:][CPU:]SEQ; without CATEGORY that of --categories, or fs",
	  OPTION_TAKE, .take = take_name },
	{ "file", 0, "FILE", "follow the slowest call or fault on this file, a path of the trace",
	  TO_TEXT(struct env, file), .values = VALUES_FILE },
	{ "offset", 0, "BYTE", "follow the slowest of those whose range has this byte of the file",
	  TO_NUMBER(struct env, offset), .least = 0, .most = NO_OFFSET - 1, .with = "file" },
	{ "format", 'f', "FORMAT", "output format: text (default), csv or json",
	  TO_FORMAT(struct env, format), "text csv json" },
	{ 0 }
};

const struct command command_path = {
	.name = "path",
	.summary = "follow one I/O of a trace from the call to the disk, or back",
	.synopsis = "TRACE\n--live",
	.help =
		"The steps of one call, page fault or request, in the order of time: pages, writeback and"
		" requests of a call; the calls that wait for a request, and the write whose data it has;"
		" where the time went, and what else the disk did meanwhile, and for whom.\v"
		"In text, calls, pages and requests are indented differently.",
	.options = options,
	.group = &pass_options, .group_at = offsetof(struct env, pass),
	.operands = PASS_OPERANDS,
	.words = offsetof(struct env, words),
	.check = check,
	.run = run,
};
