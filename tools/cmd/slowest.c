// SPDX-License-Identifier: GPL-2.0
/* iotracer slowest: the slowest calls of a trace, and where their time went. */
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
#include "trace/categories.h"
#include "trace/explain.h"
#include "trace/io_text.h"
#include "uapi/iotracer.h"

#define INDENT 9	/* columns of the lines below the figures of an event */

struct env {
	struct cli_words words;
	struct pass pass;
	enum cli_format format;
	__u64 top;
	struct explain explain;
	struct basis basis;	/* of all categories that were read */
	json_t *read;		/* an object of each of them */
};

/* --- reading -------------------------------------------------------------------- */

static int offer_all(struct env *env, size_t i)
{
	const struct category *category = env->pass.at[i].category;
	struct pass_reader reader;
	struct io_event e;
	const void *record;
	int status = pass_reader_open(&reader, &env->pass, i);

	while (!status && (record = pass_next(&reader))) {
		if (!explain_wants(&env->explain, reader.measure.latency))
			continue;
		io_event_read(&e, category, merge_cpu_of(&reader.merge), reader.source, record);
		explain_offer(&env->explain, &e);
	}
	pass_reader_end(&reader, env->read, &env->basis);
	return status;
}

/* Without --categories: calls and faults; if the trace has none, requests. */
static bool is_listed(const struct env *env, const struct category *category, bool has_calls)
{
	enum io_kind kind;

	if (!io_event_kind(category, &kind))
		return false;
	return env->pass.nr_named || kind != IO_REQUEST || !has_calls;
}

static int find_slowest(struct env *env)
{
	bool has_calls = pass_find(&env->pass, &category_fs) != env->pass.nr ||
			 pass_find(&env->pass, &category_fault) != env->pass.nr;
	size_t i, nr = 0;
	int status = CLI_OK;

	for (i = 0; !status && i < env->pass.nr; i++) {
		if (!is_listed(env, env->pass.at[i].category, has_calls))
			continue;
		status = offer_all(env, i);
		nr++;
	}
	if (!status && !nr) {
		cli_say_of(env->pass.trace, "has none of the categories fs, fault and block");
		return CLI_FAILED;
	}
	return status;
}

static bool has_calls(const struct explain *x)
{
	size_t i;

	for (i = 0; i < x->nr; i++)
		if (x->at[i].event.kind != IO_REQUEST)
			return true;
	return false;
}

static int relate_category(struct env *env, const struct category *category)
{
	size_t i = pass_need(&env->pass, category);
	struct pass_reader reader;
	struct io_event request;
	struct iot_cache page;
	const void *record;
	int status;

	if (i == PASS_NONE_SUCH)
		return CLI_OK;
	status = pass_reader_open_whole(&reader, &env->pass, i);
	explain_begin(&env->explain);
	while (!status && (record = pass_next(&reader))) {
		if (category == &category_block) {
			io_event_read(&request, category, 0, reader.source, record);
			explain_request(&env->explain, &request);
		} else {
			memcpy(&page, record, sizeof(page));
			explain_cache(&env->explain, &page, reader.source);
		}
	}
	pass_reader_end(&reader, env->read, &env->basis);
	return status;
}

static int explain_all(struct env *env)
{
	int status = find_slowest(env);

	if (!status && has_calls(&env->explain)) {
		if (pass_need(&env->pass, &category_block) == PASS_NONE_SUCH)
			cli_say_of(env->pass.trace,
				   "has no category block: no request explains the time of a call");
		status = relate_category(env, &category_block);
		if (!status)
			status = relate_category(env, &category_cache);
	}
	explain_finish(&env->explain);
	return status;
}

/* --- text ----------------------------------------------------------------------- */

static __u64 origin_of(const struct env *env)
{
	return env->pass.check.metadata.begin.monotonic;
}

static double percent(__u64 part, __u64 latency)
{
	return latency ? 100.0 * part / latency : 0;
}

static void add_pages(char **text, __u64 pages, const char *what)
{
	char *more;

	if (!pages)
		return;
	more = xasprintf("%llu page%s %s", (unsigned long long)pages, pages == 1 ? "" : "s", what);
	*text = text_append(*text, ", ", more);
	free(more);
}

/* "2 requests, 8.00KiB, 3 pages hit"; NULL if there is nothing to say. */
static char *found_text(const struct explained *e)
{
	char size[SCALED], *text = NULL;

	if (e->requests)
		text = xasprintf(e->requests == 1 ? "%llu request, %s" : "%llu requests, %s",
				 (unsigned long long)e->requests, scaled_size(size, e->bytes));
	add_pages(&text, e->pages.hit, "hit");
	add_pages(&text, e->pages.waited, "waited for");
	add_pages(&text, e->pages.missed, "missed");
	add_pages(&text, e->pages.dirtied, "dirtied");
	add_pages(&text, e->pages.read_ahead, "read ahead");
	return text;
}

static void put_text(const struct env *env, const struct explained *e)
{
	const struct io_event *io = &e->event;
	char cell[SCALED], room[8], *name = io_text_name(io), *found = found_text(e);
	char *since = io_text_since(io->begin, origin_of(env)), *owner = io_text_owner(io);
	const char *path = io_text_path(io, &env->pass.names);
	struct explain_parts parts;

	explain_parts_of(e, &parts);
	printf("%8s", scaled_time(cell, io_event_latency(io)));
	printf("%9s", scaled_time(cell, parts.device));
	printf("%9s", scaled_time(cell, parts.queue));
	printf("%9s", scaled_time(cell, parts.cache));
	printf("%9s%7.2f", scaled_time(cell, parts.other), percent(parts.other, io_event_latency(io)));
	printf("%9s  %s\n", scaled_size(cell, io->size), io_text_op(io, room));
	io_text_line(INDENT, xasprintf("%s  %s  %s", since, name, owner));
	if (io->result < 0 && io->result >= -MEASURE_ERRNO)
		io_text_line(INDENT, xasprintf("failed: %s", strerrorname_np(-io->result) ?: "error"));
	if (*path && (io->offset || io->size))
		io_text_line(INDENT, xasprintf("at %llu of %s", (unsigned long long)io->offset, path));
	else if (*path)
		io_text_line(INDENT, xstrdup(path));
	if (found)
		io_text_line(INDENT, found);
	free(owner);
	free(since);
	free(name);
}

static void report_text(struct env *env)
{
	const struct explain *x = &env->explain;
	size_t i;

	printf("%sThe slowest %zu of %llu%s\n", CLI_BOLD, x->nr, (unsigned long long)x->offered, CLI_PLAIN);
	if (x->nr)
		printf("\n%s LATENCY   DEVICE    QUEUE    CACHE    OTHER OTHER%%     SIZE  OP%s\n",
		       CLI_BOLD, CLI_PLAIN);
	for (i = 0; i < x->nr; i++)
		put_text(env, &x->at[i]);
	basis_text(&env->basis);
}

/* --- JSON and CSV --------------------------------------------------------------- */

static void put_part(json_t *row, const char *name, __u64 part, __u64 latency)
{
	char *key = xasprintf("%s_ns", name);

	json_put(row, key, json_unsigned(part));
	free(key);
	key = xasprintf("%s_percent", name);
	json_put(row, key, json_real(percent(part, latency)));
	free(key);
}

static json_t *row_of(const struct env *env, const struct explained *e)
{
	__u64 latency = io_event_latency(&e->event);
	json_t *row = json_object();
	struct explain_parts parts;
	enum io_relation how;
	char *key;

	explain_parts_of(e, &parts);
	io_text_json(row, &e->event, &env->pass.names, pass_wall(&env->pass, e->event.begin));
	put_part(row, "device", parts.device, latency);
	put_part(row, "queue", parts.queue, latency);
	put_part(row, "cache", parts.cache, latency);
	put_part(row, "other", parts.other, latency);
	json_put(row, "requests", json_unsigned(e->requests));
	json_put(row, "requests_bytes", json_unsigned(e->bytes));
	for (how = IO_OWN; how < IO_RELATIONS; how++) {
		key = xasprintf("requests_%s", io_relation_names[how]);
		json_put(row, key, json_unsigned(e->related[how]));
		free(key);
	}
	json_put(row, "pages_hit", json_unsigned(e->pages.hit));
	json_put(row, "pages_waited", json_unsigned(e->pages.waited));
	json_put(row, "pages_missed", json_unsigned(e->pages.missed));
	json_put(row, "pages_dirtied", json_unsigned(e->pages.dirtied));
	json_put(row, "pages_read_ahead", json_unsigned(e->pages.read_ahead));
	return row;
}

static void report_json(struct env *env)
{
	json_t *document = json_object(), *rows = json_array();
	size_t i;

	for (i = 0; i < env->explain.nr; i++)
		json_add(rows, row_of(env, &env->explain.at[i]));
	json_put(document, "trace", json_shown(env->pass.trace));
	json_put(document, "events", json_unsigned(env->explain.offered));
	json_put(document, "categories", json_incref(env->read));
	json_put(document, "slowest", rows);
	json_print(document);
}

static void report_csv(struct env *env)
{
	size_t i;

	for (i = 0; i < env->explain.nr; i++) {
		json_t *row = row_of(env, &env->explain.at[i]);

		basis_json_row(row, &env->basis);
		if (!i)
			json_csv_header(row);
		json_csv_row(row);
		json_decref(row);
	}
}

static int run(int argc, char **argv)
{
	static void (*const reports[])(struct env *env) = {
		[FORMAT_TEXT] = report_text, [FORMAT_CSV] = report_csv, [FORMAT_JSON] = report_json,
	};
	struct env env = { .pass = PASS_NONE, .top = 10 };
	static const struct category *const needs[] = { &category_fs, &category_block, &category_cache, NULL };
	int status;

	command_parse(&command_slowest, argc, argv, &env);
	env.pass.needs = needs;
	env.explain.top = env.top;
	env.read = json_array();
	status = pass_open(&env.pass, &env.words);
	if (!status)
		status = explain_all(&env);
	if (!status)
		reports[env.format](&env);
	explain_free(&env.explain);
	json_decref(env.read);
	return pass_close(&env.pass, status);
}

static const struct cli_option options[] = {
	{ "top", 'n', "N", "list the N slowest (default 10)",
	  TO_NUMBER(struct env, top), .least = 1, .most = 10000 },
	{ "format", 'f', "FORMAT", "output format: text (default), csv or json",
	  TO_FORMAT(struct env, format), "text csv json" },
	{ 0 }
};

const struct command command_slowest = {
	.name = "slowest",
	.summary = "list the slowest calls of a trace, and where their time went",
	.synopsis = "TRACE\n--live",
	.help =
		"The slowest calls and page faults of a trace, or with --categories=block the slowest requests:"
		" when, who, which file, and how much of the time was spent in the device, in its queue and in"
		" the page cache, and how much nothing in the trace explains.\v"
		"--categories, --filter, --from and --to select what is listed. All requests of the trace"
		" explain it. The parts do not overlap, and add up to the latency.",
	.options = options,
	.group = &pass_options, .group_at = offsetof(struct env, pass),
	.operands = PASS_OPERANDS,
	.words = offsetof(struct env, words),
	.run = run,
};
