// SPDX-License-Identifier: GPL-2.0
/* iotracer durability: which writes were on the disk when, and what a power cut would have lost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/scaled.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "cmd/durability_pass.h"
#include "cmd/pass.h"
#include "trace/io_text.h"

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
	const char *file;
	struct durability_pass d;
};

/* --- text ----------------------------------------------------------------------- */

static void put_time(int width, bool known, __u64 ns)
{
	char cell[SCALED];

	printf("%*s", width, known ? scaled_time(cell, ns) : "-");
}

static void put_row(const struct durability_row *row)
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
	       durable_state_names[durability_state(&t->env->d, r)]);
	put_time(8, r->since && t->env->d.at >= r->since, t->env->d.at - r->since);
	putchar('\n');
}

static void put_ranges(const struct env *env, const struct durability_row *row)
{
	struct text_ranges t = { .env = env };

	printf("\n%s%s%s\n%s%20s%10s  %-10s%8s%s\n", CLI_BOLD, text_end(*row->path ? row->path : "-", IO_TEXT_WIDTH),
	       CLI_PLAIN, CLI_BOLD, "OFFSET", "SIZE", "STATE", "EXPOSED", CLI_PLAIN);
	durable_ranges(&env->d.durable, row->file, put_range, &t);
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
	const struct durable *d = &env->d.durable;
	__u64 crowded = 0, mapped = 0;
	size_t i;

	for (i = 0; i < d->nr; i++) {
		crowded += d->files[i].crowded;
		mapped += d->files[i].mapped;
	}
	putchar('\n');
	if (!env->d.durable.has_requests)
		puts("no category block: flushes and failed requests are not known");
	if (!env->d.has_pages)
		puts("no category cache: writeback is not known");
	if (!env->d.durable.in_place)
		puts("only calls prove that data is durable: see --in-place");
	if (!env->d.has_pages)
		note(mapped, "files are mapped: what was stored in them is not known");
	note(d->async_writes, "asynchronous writes: their completion is not known");
	note(d->failed_requests, "requests failed: what was exposed then is unknown");
	note(crowded, "files have too many ranges, and are not followed");
	note(d->beyond, "writes and syncs are of files beyond those that are followed");
	if (!durability_is_sure(&env->d))
		puts("events are missing or sampled: nothing is called durable");
	basis_text(&env->d.basis);
}

static void report_text(struct env *env)
{
	char *since = io_text_since(env->d.at, env->pass.check.metadata.begin.monotonic), size[SCALED];
	unsigned int state;
	size_t i;

	printf("%s%s may be lost at %s%s%s\n", CLI_BOLD, scaled_size(size, durability_at_risk(&env->d)), since,
	       env->d.has_at ? "" : ", the end of the trace", CLI_PLAIN);
	for (state = 0; state < DURABLE_STATES; state++)
		printf("%s%s %s", state ? "  " : "", durable_state_names[state],
		       scaled_size(size, env->d.sums.bytes[state]));
	putchar('\n');
	if (env->d.sums.removed)
		printf("and %s of files that were removed\n", scaled_size(size, env->d.sums.removed));
	if (env->d.nr_rows)
		printf("\n%s AT RISK LONGEST     P50     P99  WRITTEN SYNCS IDLE NAME    FILE%s\n", CLI_BOLD,
		       CLI_PLAIN);
	for (i = 0; i < env->d.nr_rows; i++)
		put_row(&env->d.rows[i]);
	if (env->d.hidden)
		printf("%zu files more: --top=0 shows all\n", env->d.hidden);
	for (i = 0; env->by == BY_RANGE && i < env->d.nr_rows; i++)
		put_ranges(env, &env->d.rows[i]);
	put_notes(env);
	free(since);
}

/* --- JSON and CSV --------------------------------------------------------------- */

struct json_ranges {
	const struct env *env;
	const struct durability_row *row;
	json_t *ranges;		/* NULL: rows of CSV */
	bool *begun;
};

static void print_row(const struct env *env, json_t *row, bool *begun)
{
	basis_json_row(row, &env->d.basis);
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
	json_put(object, "state", json_string(durable_state_names[durability_state(&j->env->d, r)]));
	json_put(object, "exposed_ns", r->since && j->env->d.at >= r->since ?
		 json_unsigned(j->env->d.at - r->since) : json_null());
	if (j->ranges)
		json_add(j->ranges, object);
	else
		print_row(j->env, object, j->begun);
}

static void report_json(struct env *env)
{
	json_t *document = durability_pass_json(&env->d), *files = json_object_get(document, "files");
	size_t i;

	for (i = 0; env->by == BY_RANGE && i < env->d.nr_rows; i++) {
		struct json_ranges j = { .env = env, .row = &env->d.rows[i], .ranges = json_array() };

		durable_ranges(&env->d.durable, env->d.rows[i].file, add_range, &j);
		json_put(json_array_get(files, i), "ranges", j.ranges);
	}
	json_print(document);
}

static void report_csv(struct env *env)
{
	bool begun = false;
	size_t i;

	for (i = 0; i < env->d.nr_rows; i++) {
		struct json_ranges j = { .env = env, .row = &env->d.rows[i], .begun = &begun };

		if (env->by == BY_RANGE)
			durable_ranges(&env->d.durable, env->d.rows[i].file, add_range, &j);
		else
			print_row(env, durability_row_json(&env->d.rows[i]), &begun);
	}
}

/* --- options -------------------------------------------------------------------- */

static void take_at(struct argp_state *state, void *to, const char *arg)
{
	struct env *env = to;

	if (!wall_parse(arg, &env->d.at_given))
		cli_usage(state, "--at=%s: say a time in UTC as 2026-11-21T10:43:22.5, or seconds since the beginning of the trace as +1.5",
			  arg);
	env->d.has_at = true;
}

static void check(struct argp_state *state, void *to, const struct option_parser *given)
{
	struct env *env = to;

	(void)state;
	if (!option_given(given, "by") && (env->d.has_at || env->file))
		env->by = BY_RANGE;
}

static int run(int argc, char **argv)
{
	static void (*const reports[])(struct env *env) = {
		[FORMAT_TEXT] = report_text, [FORMAT_CSV] = report_csv, [FORMAT_JSON] = report_json,
	};
	static struct env env = { .pass = PASS_NONE, .d.top = 20, .d.pass = &env.pass };
	char *shown;
	int status;

	command_parse(&command_durability, argc, argv, &env);
	env.pass.needs = durability_needs;
	env.d.durable.no_cache = env.cache == CACHE_NONE;
	shown = env.file ? text_show(env.file, strlen(env.file)) : NULL;
	env.d.shown = shown;
	status = pass_open(&env.pass, &env.words);
	if (!status && !durability_pass_can(&env.pass)) {
		cli_say_of(env.pass.trace, "has no category fs: record it with --categories=fs,block,cache");
		status = CLI_FAILED;
	}
	if (!status)
		status = durability_pass_read(&env.d);
	if (!status)
		reports[env.format](&env);
	durability_pass_free(&env.d);
	free(shown);
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
	  TO_FLAG(struct env, d.durable.in_place) },
	{ "write-cache", 0, "KIND", "the disks' write cache, which a trace does not tell: volatile (default), lost without a flush, or none",
	  TO_WORD(struct env, cache), "volatile none" },
	{ "top", 0, "N", "show the N files with most at risk (default 20; 0: show all)",
	  TO_NUMBER(struct env, d.top), .least = 0, .most = 1000000000 },
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
