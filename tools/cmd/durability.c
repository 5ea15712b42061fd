// SPDX-License-Identifier: GPL-2.0
/* iotracer durability: which writes were on the disk when, and what a power cut would have lost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/scaled.h"
#include "base/text.h"
#include "base/wall.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "cmd/pass.h"
#include "trace/categories.h"
#include "trace/durable.h"
#include "trace/durable_range.h"
#include "trace/durable_version.h"
#include "trace/io_text.h"
#include "trace/stats.h"

#define TEXT_RANGES	20	/* of a file */
#define FILE_WIDTH	20

enum by { BY_FILE, BY_RANGE };

enum cache { CACHE_VOLATILE, CACHE_NONE };

struct env {
	struct cli_words words;
	struct pass pass;
	enum cli_format format;
	int by;				/* enum by */
	int cache;			/* enum cache */
	bool in_place;
	__u64 top;
	const char *file;
	char *shown;			/* @file as paths are shown */
	struct wall_given at_given;
	bool has_at;
	__u64 at;			/* CLOCK_MONOTONIC ns */
	struct durable durable;
	struct row *rows;
	size_t nr_rows, hidden;
	struct basis basis;
	json_t *read;			/* an object of each category that was read */
	bool has_pages;			/* the trace has category cache */
	__u64 bytes[DURABLE_STATES], removed;	/* of all files; exposed bytes of those that were removed */
};

/* A file that is shown. */
struct row {
	struct durable_file *file;
	const char *path;
	__u64 bytes[DURABLE_STATES], at_risk;
	__u64 longest;			/* ns, also of what is still exposed */
	__u64 percentiles[STATS_PERCENTILES];
};

/* --- reading -------------------------------------------------------------------- */

static void add(struct env *env, struct pass_reader *r, const void *record)
{
	if (r->category == &category_fs)
		durable_call(&env->durable, record, r->source, pass_wants(r, record));
	else if (r->category == &category_cache)
		durable_page(&env->durable, record, r->source, pass_wants(r, record));
	else
		durable_request(&env->durable, record, r->source);
}

static int read_all(struct env *env)
{
	const __u64 begin = env->pass.check.metadata.begin.monotonic;
	struct pass_reader *reader;
	struct pass_all all;
	const void *record;
	__u64 last = begin;
	int status;
	size_t i;

	if (env->has_at)
		env->at = env->at_given.relative ? begin + env->at_given.ns :
						   begin + env->at_given.ns - pass_origin(&env->pass);
	status = pass_all_open_whole(&all, &env->pass);
	for (i = 0; i < all.nr; i++) {
		env->durable.has_requests |= all.readers[i].category == &category_block;
		env->has_pages |= all.readers[i].category == &category_cache;
	}
	while (!status && (record = pass_all_next(&all, &reader))) {
		__u64 end = reader->measure.time + reader->measure.latency;

		if (env->has_at && end > env->at)
			continue;
		last = end > last ? end : last;
		add(env, reader, record);
	}
	for (i = 0; i < all.nr; i++)
		pass_reader_end(&all.readers[i], env->read, &env->basis);
	pass_all_free(&all);
	if (!env->has_at)
		env->at = env->pass.check.metadata.end.monotonic ?: last;
	return status;
}

/* Whether all events are there: else nothing is called durable. */
static bool is_sure(const struct env *env)
{
	const struct basis *b = &env->basis;

	return !b->lost && !b->missed && !b->unreadable && !b->sampled;
}

static enum durable_state state_of(const struct env *env, const struct durable_range *r)
{
	return r->state == DURABLE_SAFE && !is_sure(env) ? DURABLE_UNKNOWN : r->state;
}

/* --- rows ----------------------------------------------------------------------- */

struct counting {
	const struct env *env;
	struct row *row;
};

static void count_range(const struct durable_range *r, void *data)
{
	const struct counting *c = data;
	struct row *row = c->row;

	row->bytes[state_of(c->env, r)] += r->end - r->begin;
	if (r->since && c->env->at > r->since && c->env->at - r->since > row->longest)
		row->longest = c->env->at - r->since;
}

static const char *path_of(const struct env *env, const struct durable_file *f)
{
	const struct name *name = f->path ? names_find(&env->pass.names, f->path) : NULL;

	return name ? name->text : f->path ? "?" : "";
}

static void fill_row(struct env *env, struct row *row, struct durable_file *f)
{
	struct counting c = { env, row };
	unsigned int state;

	*row = (struct row){ .file = f, .path = path_of(env, f), .longest = f->longest };
	durable_ranges(&env->durable, f, count_range, &c);
	row->bytes[DURABLE_UNKNOWN] += f->unplaced;
	for (state = 0; state < DURABLE_SAFE; state++)
		row->at_risk += row->bytes[state];
	distribution_percentiles(&f->exposures, stats_parts, STATS_PERCENTILES, row->percentiles);
	if (f->name == DURABLE_NAME_REMOVED) {
		env->removed += row->at_risk;
		return;
	}
	for (state = 0; state < DURABLE_STATES; state++)
		env->bytes[state] += row->bytes[state];
}

static int by_risk(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order;

	if (x->at_risk != y->at_risk)
		return x->at_risk < y->at_risk ? 1 : -1;
	if (x->longest != y->longest)
		return x->longest < y->longest ? 1 : -1;
	order = strcmp(x->path, y->path);
	return order ? order : x->file->inode < y->file->inode ? -1 : x->file->inode > y->file->inode;
}

static bool is_shown(const struct env *env, const struct durable_file *f)
{
	if (env->shown)
		return !strcmp(path_of(env, f), env->shown);
	return f->writes || f->mapped_pages || f->unplaced || f->syncs || f->name == DURABLE_NAME_NEW ||
	       f->crowded;
}

static int make_rows(struct env *env)
{
	size_t i;

	durable_finish(&env->durable);
	env->rows = xreallocarray(NULL, env->durable.nr + 1, sizeof(*env->rows));
	for (i = 0; i < env->durable.nr; i++)
		if (is_shown(env, &env->durable.files[i]))
			fill_row(env, &env->rows[env->nr_rows++], &env->durable.files[i]);
	if (env->shown && !env->nr_rows) {
		cli_say_of(env->pass.trace, "has no write or sync of %s", env->shown);
		return CLI_FAILED;
	}
	qsort(env->rows, env->nr_rows, sizeof(*env->rows), by_risk);
	if (env->top && env->nr_rows > env->top) {
		env->hidden = env->nr_rows - env->top;
		env->nr_rows = env->top;
	}
	return CLI_OK;
}

/* --- text ----------------------------------------------------------------------- */

static void put_time(int width, bool known, __u64 ns)
{
	char cell[SCALED];

	printf("%*s", width, known ? scaled_time(cell, ns) : "-");
}

static void put_row(const struct row *row)
{
	const struct durable_file *f = row->file;
	bool known = f->exposures.nr || f->exposures.nr_wide;
	char size[SCALED];

	printf("%8s", row->at_risk ? scaled_size(size, row->at_risk) : "-");
	put_time(8, known || row->longest, row->longest);
	put_time(8, known, row->percentiles[0]);
	put_time(8, known, row->percentiles[2]);
	printf("%9s%6llu%5llu %-8s", scaled_size(size, f->written), (unsigned long long)f->syncs,
	       (unsigned long long)f->idle_syncs, f->name ? durable_name_names[f->name] : "-");
	printf("%s\n", text_end(*row->path ? row->path : "-", FILE_WIDTH));
}

struct text_ranges {
	const struct env *env;
	__u64 shown, more;
};

static void put_range(const struct durable_range *r, void *data)
{
	struct text_ranges *t = data;
	char size[SCALED];

	if (t->shown == TEXT_RANGES) {
		t->more++;
		return;
	}
	t->shown++;
	printf("%20llu%10s  %-10s", (unsigned long long)r->begin, scaled_size(size, r->end - r->begin),
	       durable_state_names[state_of(t->env, r)]);
	put_time(8, r->since && t->env->at >= r->since, t->env->at - r->since);
	putchar('\n');
}

static void put_ranges(const struct env *env, const struct row *row)
{
	struct text_ranges t = { .env = env };

	printf("\n%s%s%s\n%s%20s%10s  %-10s%8s%s\n", CLI_BOLD, text_end(*row->path ? row->path : "-", IO_TEXT_WIDTH),
	       CLI_PLAIN, CLI_BOLD, "OFFSET", "SIZE", "STATE", "EXPOSED", CLI_PLAIN);
	durable_ranges(&env->durable, row->file, put_range, &t);
	if (t.more)
		printf("%20s  %llu ranges more: --format=csv has all\n", "", (unsigned long long)t.more);
	if (row->file->unplaced)
		printf("%20s  %llu bytes that were copied to offsets that are not known\n", "",
		       (unsigned long long)row->file->unplaced);
}

static void note(__u64 n, const char *text)
{
	if (n)
		printf("%llu %s\n", (unsigned long long)n, text);
}

/* What the answer rests on beside the counts of the basis. */
static void put_notes(const struct env *env)
{
	const struct durable *d = &env->durable;
	__u64 crowded = 0, mapped = 0;
	size_t i;

	for (i = 0; i < d->nr; i++) {
		crowded += d->files[i].crowded;
		mapped += d->files[i].mapped;
	}
	putchar('\n');
	if (!env->durable.has_requests)
		puts("no category block: flushes and failed requests are not known");
	if (!env->has_pages)
		puts("no category cache: writeback is not known");
	if (!env->in_place)
		puts("only calls prove that data is durable: see --in-place");
	if (!env->has_pages)
		note(mapped, "files are mapped: what was stored in them is not known");
	note(d->async_writes, "asynchronous writes: their completion is not known");
	note(d->failed_requests, "requests failed: what was exposed then is unknown");
	note(crowded, "files have too many ranges, and are not followed");
	note(d->beyond, "writes and syncs are of files beyond those that are followed");
	if (!is_sure(env))
		puts("events are missing or sampled: nothing is called durable");
	basis_text(&env->basis);
}

static __u64 all_at_risk(const struct env *env)
{
	__u64 sum = 0;
	unsigned int state;

	for (state = 0; state < DURABLE_SAFE; state++)
		sum += env->bytes[state];
	return sum;
}

static void report_text(struct env *env)
{
	char *since = io_text_since(env->at, env->pass.check.metadata.begin.monotonic), size[SCALED];
	unsigned int state;
	size_t i;

	printf("%s%s may be lost at %s%s%s\n", CLI_BOLD, scaled_size(size, all_at_risk(env)), since,
	       env->has_at ? "" : ", the end of the trace", CLI_PLAIN);
	for (state = 0; state < DURABLE_STATES; state++)
		printf("%s%s %s", state ? "  " : "", durable_state_names[state],
		       scaled_size(size, env->bytes[state]));
	putchar('\n');
	if (env->removed)
		printf("and %s of files that were removed\n", scaled_size(size, env->removed));
	if (env->nr_rows)
		printf("\n%s AT RISK LONGEST     P50     P99  WRITTEN SYNCS IDLE NAME    FILE%s\n", CLI_BOLD,
		       CLI_PLAIN);
	for (i = 0; i < env->nr_rows; i++)
		put_row(&env->rows[i]);
	if (env->hidden)
		printf("%zu files more: --top=0 shows all\n", env->hidden);
	for (i = 0; env->by == BY_RANGE && i < env->nr_rows; i++)
		put_ranges(env, &env->rows[i]);
	put_notes(env);
	free(since);
}

/* --- JSON and CSV --------------------------------------------------------------- */

static json_t *file_json(const struct row *row)
{
	const struct durable_file *f = row->file;
	bool known = f->exposures.nr || f->exposures.nr_wide;
	json_t *object = json_object();
	unsigned int i;
	char *key;

	json_put(object, "file", json_string(row->path));
	json_put(object, "host", f->source ? json_string(((const struct source *)f->source)->host) : json_null());
	json_put(object, "inode", json_unsigned(f->inode));
	json_put(object, "name", json_string(durable_name_names[f->name]));
	json_put(object, "at_risk_bytes", json_unsigned(row->at_risk));
	for (i = 0; i < DURABLE_STATES; i++) {
		key = xasprintf("%s_bytes", durable_state_names[i]);
		json_put(object, key, json_unsigned(row->bytes[i]));
		free(key);
	}
	json_put(object, "longest_exposure_ns", json_unsigned(row->longest));
	for (i = 0; i < STATS_PERCENTILES; i++) {
		key = xasprintf("exposure_%s_ns", stats_part_names[i]);
		json_put(object, key, known ? json_unsigned(row->percentiles[i]) : json_null());
		free(key);
	}
	json_put(object, "writes", json_unsigned(f->writes));
	json_put(object, "written_bytes", json_unsigned(f->written));
	json_put(object, "mapped_pages", json_unsigned(f->mapped_pages));
	json_put(object, "syncs", json_unsigned(f->syncs));
	json_put(object, "idle_syncs", json_unsigned(f->idle_syncs));
	json_put(object, "failed_syncs", json_unsigned(f->failed_syncs));
	json_put(object, "followed", json_boolean(!f->crowded));
	return object;
}

struct json_ranges {
	const struct env *env;
	const struct row *row;
	json_t *ranges;		/* NULL: rows of CSV */
	bool *begun;
};

static void print_row(const struct env *env, json_t *row, bool *begun)
{
	basis_json_row(row, &env->basis);
	if (!*begun)
		json_csv_header(row);
	*begun = true;
	json_csv_row(row);
	json_decref(row);
}

static void add_range(const struct durable_range *r, void *data)
{
	const struct json_ranges *j = data;
	json_t *object = json_object();

	if (!j->ranges) {
		json_put(object, "file", json_string(j->row->path));
		json_put(object, "inode", json_unsigned(j->row->file->inode));
		json_put(object, "name", json_string(durable_name_names[j->row->file->name]));
	}
	json_put(object, "offset_bytes", json_unsigned(r->begin));
	json_put(object, "size_bytes", json_unsigned(r->end - r->begin));
	json_put(object, "state", json_string(durable_state_names[state_of(j->env, r)]));
	json_put(object, "exposed_ns", r->since && j->env->at >= r->since ?
		 json_unsigned(j->env->at - r->since) : json_null());
	if (j->ranges)
		json_add(j->ranges, object);
	else
		print_row(j->env, object, j->begun);
}

static void report_json(struct env *env)
{
	json_t *document = json_object(), *files = json_array();
	size_t i;

	for (i = 0; i < env->nr_rows; i++) {
		json_t *file = file_json(&env->rows[i]);
		struct json_ranges j = { .env = env, .row = &env->rows[i], .ranges = json_array() };

		if (env->by == BY_RANGE)
			durable_ranges(&env->durable, env->rows[i].file, add_range, &j);
		json_put(file, "ranges", j.ranges);
		json_add(files, file);
	}
	json_put(document, "trace", json_shown(env->pass.trace));
	json_put(document, "at_ns", json_unsigned(pass_wall(&env->pass, env->at)));
	json_put(document, "at_monotonic_ns", json_unsigned(env->at));
	json_put(document, "at_risk_bytes", json_unsigned(all_at_risk(env)));
	json_put(document, "removed_bytes", json_unsigned(env->removed));
	json_put(document, "async_writes", json_unsigned(env->durable.async_writes));
	json_put(document, "failed_requests", json_unsigned(env->durable.failed_requests));
	json_put(document, "not_followed", json_unsigned(env->durable.beyond));
	json_put(document, "files", files);
	json_put(document, "categories", json_incref(env->read));
	json_print(document);
}

static void report_csv(struct env *env)
{
	bool begun = false;
	size_t i;

	for (i = 0; i < env->nr_rows; i++) {
		struct json_ranges j = { .env = env, .row = &env->rows[i], .begun = &begun };

		if (env->by == BY_RANGE)
			durable_ranges(&env->durable, env->rows[i].file, add_range, &j);
		else
			print_row(env, file_json(&env->rows[i]), &begun);
	}
}

/* --- options -------------------------------------------------------------------- */

static void take_at(struct argp_state *state, void *to, const char *arg)
{
	struct env *env = to;

	if (!wall_parse(arg, &env->at_given))
		cli_usage(state, "--at=%s: say a time in UTC as 2026-11-21T10:43:22.5, or seconds since the beginning of the trace as +1.5",
			  arg);
	env->has_at = true;
}

static void check(struct argp_state *state, void *to, const struct option_parser *given)
{
	struct env *env = to;

	(void)state;
	if (!option_given(given, "by") && (env->has_at || env->file))
		env->by = BY_RANGE;
}

static int run(int argc, char **argv)
{
	static void (*const reports[])(struct env *env) = {
		[FORMAT_TEXT] = report_text, [FORMAT_CSV] = report_csv, [FORMAT_JSON] = report_json,
	};
	static struct env env = { .pass = PASS_NONE, .top = 20 };
	static const struct category *const needs[] = { &category_fs, &category_block, &category_cache, NULL };
	int status;

	command_parse(&command_durability, argc, argv, &env);
	env.pass.needs = needs;
	env.shown = env.file ? text_show(env.file, strlen(env.file)) : NULL;
	env.read = json_array();
	status = pass_open(&env.pass, &env.words);
	env.durable.names = &env.pass.names;
	env.durable.in_place = env.in_place;
	env.durable.no_cache = env.cache == CACHE_NONE;
	if (!status && (pass_find(&env.pass, &category_fs) == env.pass.nr)) {
		cli_say_of(env.pass.trace, "has no category fs: record it with --categories=fs,block,cache");
		status = CLI_FAILED;
	}
	if (!status)
		status = read_all(&env);
	if (!status)
		status = make_rows(&env);
	if (!status)
		reports[env.format](&env);
	durable_free(&env.durable);
	free(env.rows);
	free(env.shown);
	json_decref(env.read);
	return pass_close(&env.pass, status);
}

static const struct cli_option options[] = {
	{ "file", 0, "FILE", "show the ranges of this file, a path of the trace",
	  TO_TEXT(struct env, file), .values = VALUES_FILE },
	{ "at", 0, "TIME", "show the ranges that a power cut at TIME may lose (default: the end of the trace), given as for --from",
	  OPTION_TAKE, .take = take_at },
	{ "by", 0, "KEY", "a row for each file, or range (default with --at and --file: range)",
	  TO_WORD(struct env, by), "file range" },
	{ "in-place", 0, NULL, "the filesystems overwrite data in place (ext4, xfs without reflinks): then flushes prove, too",
	  TO_FLAG(struct env, in_place) },
	{ "write-cache", 0, "KIND", "the disks' write cache, which a trace does not tell: volatile (default), lost without a flush, or none",
	  TO_WORD(struct env, cache), "volatile none" },
	{ "top", 0, "N", "show the N files with most at risk (default 20; 0: show all)",
	  TO_NUMBER(struct env, top), .least = 0, .most = 1000000000 },
	{ "format", 'f', "FORMAT", "output format: text (default), csv or json",
	  TO_FORMAT(struct env, format), "text csv json" },
	{ 0 }
};

const struct command command_durability = {
	.name = "durability",
	.summary = "show what a power cut may have lost, and for how long",
	.synopsis = "TRACE\n--live",
	.help =
		"For each file: bytes that were acknowledged to a program and are not known to be on the disk, how"
		" long bytes were exposed until they were, and syncs that had nothing to do.\v"
		"What is called durable is on the disk; all else may be lost. --filter, --from and --to select the"
		" writes that are followed; all syncs and requests count.",
	.options = options,
	.group = &pass_options, .group_at = offsetof(struct env, pass),
	.operands = PASS_OPERANDS,
	.words = offsetof(struct env, words),
	.check = check,
	.run = run,
};
