// SPDX-License-Identifier: GPL-2.0
/*
 * iotracer report: a trace as one page that a browser shows.
 *
 * Each category is read several times: for the statistics by operation, of which also the time comes that the
 * page is about; for those by each other key, one after the other, as each needs memory; then once for
 * what all these rows were over time; and once for each section of report_sections.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/new_file.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "cmd/findings_pass.h"
#include "cmd/pass.h"
#include "cmd/report_sections.h"
#include "report/page.h"
#include "report/spread.h"
#include "trace/stats_report.h"

#define TABLES 8	/* most tables of a category */
#define AT_ONCE 3	/* tables that are read in one pass: more would take more memory */

/* A table of the page: statistics by some keys. */
struct kind {
	const char *name;
	const char *keys[STATS_KEYS];
	const char *categories;	/* those that have it, with blanks around; NULL: all */
	size_t top;		/* rows beside the one of others */
	unsigned int parts;	/* enum spread_parts */
};

/* The first one is read first. */
static const struct kind kinds[] = {
	{ "op", { "op" }, NULL, 24, SPREAD_HISTOGRAMS },
	{ "file", { "file" }, " fs block cache fault ", 40, SPREAD_LATENCIES | SPREAD_POSITIONS },
	{ "directory", { "directory" }, " fs block ", 40, SPREAD_LATENCIES },
	{ "process", { "process" }, " fs block net ", 40, SPREAD_LATENCIES },
	{ "device", { "device" }, " block ", 40, SPREAD_LATENCIES | SPREAD_DEPTH | SPREAD_POSITIONS },
	{ "connection", { "connection" }, " net ", 40, SPREAD_LATENCIES },
	{ "stack", { "command", "file", "op" }, " fs block ", 300, SPREAD_TIMES },
	{ "host", { "host" }, " fs block net ", 40, SPREAD_LATENCIES },
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

_Static_assert(NR_KINDS <= TABLES, "a category has room for each kind of table");

struct table {
	const struct kind *kind;
	struct stats_keys keys;
	struct stats stats;
	struct spread spread;
};

/* What is known of a category before all of it is read again. */
struct part {
	struct table tables[TABLES];
	size_t nr;
	struct basis basis;
	__u64 last;
	__u64 lost[GRID_BUCKETS];
};

struct env {
	struct cli_words words;
	struct pass pass;
	const char *output;
	struct part *parts;	/* by category of the pass */
	struct grid grid;
};

/* --- statistics ----------------------------------------------------------------- */

/* Prepares a table for a category. False if its events do not have the keys. */
static bool open_table(struct table *t, const struct kind *kind, const struct env *env, size_t i)
{
	const struct category *category = env->pass.at[i].category;
	char *word = xasprintf(" %s ", category->name);
	bool wanted = !kind->categories || strstr(kind->categories, word);
	size_t k;

	free(word);
	if (!wanted)
		return false;
	*t = (struct table){ .kind = kind, .keys.merged = env->pass.sources.nr };
	for (k = 0; k < STATS_KEYS && kind->keys[k]; k++)
		free(stats_keys_add(&t->keys, kind->keys[k]));
	if (stats_keys_open(&t->keys, category_event(category), &env->pass.names))
		return false;
	t->stats = (struct stats){
		.sort = STATS_BY_LATENCY, .top = kind->top, .origin = pass_origin(&env->pass),
		.no_percentiles = kind->parts & SPREAD_TIMES, /* there may be very many stacks */
	};
	stats_begin(&t->stats, &t->keys);
	return true;
}

static void close_table(struct table *t)
{
	spread_close(&t->spread);
	stats_free(&t->stats);
	stats_keys_close(&t->keys);
}

/* Reads the records of a category into its tables from @first on. Returns an exit code. */
static int read_tables(struct env *env, size_t i, size_t first, bool again)
{
	struct part *part = &env->parts[i];
	struct pass_reader reader;
	const void *record;
	size_t t;
	int status = again ? pass_reader_open_again(&reader, &env->pass, i) :
			     pass_reader_open(&reader, &env->pass, i);

	while (!status && (record = pass_next(&reader))) {
		__u64 time = pass_wall(&env->pass, reader.measure.time);

		for (t = first; t < part->nr; t++) {
			part->tables[t].keys.source = reader.source;
			stats_add(&part->tables[t].stats, record, &reader.measure, time);
		}
	}
	pass_reader_close(&reader);
	for (t = first; t < part->nr; t++)
		stats_finish(&part->tables[t].stats);
	if (!again) {
		part->basis = reader.basis;
		part->last = reader.last;
	}
	return status;
}

/* --- over time ------------------------------------------------------------------ */

static void add_to_all(struct env *env, struct part *part, const struct pass_reader *reader, const void *record)
{
	__u64 time = pass_wall(&env->pass, reader->measure.time);
	size_t i;

	for (i = 0; i < part->nr; i++) {
		part->tables[i].keys.source = reader->source;
		spread_add(&part->tables[i].spread, record, &reader->measure, time);
	}
}

/*
 * What was lost is known when the next event of the same CPU is read, so it is shown at the time of that one
 * or of an event a little before it.
 */
static int read_over_time(struct env *env, size_t i)
{
	struct part *part = &env->parts[i];
	struct pass_reader reader;
	__u64 lost = 0, time = 0;
	const void *record;
	int status;
	size_t t;

	for (t = 0; t < part->nr; t++) {
		part->tables[t].spread = (struct spread){
			.stats = &part->tables[t].stats, .grid = &env->grid, .parts = part->tables[t].kind->parts,
		};
		spread_open(&part->tables[t].spread);
	}
	status = pass_reader_open_again(&reader, &env->pass, i);
	while (!status && (record = pass_next(&reader))) {
		time = pass_wall(&env->pass, reader.measure.time);
		part->lost[grid_bucket(&env->grid, time)] += reader.merge.lost - lost;
		lost = reader.merge.lost;
		add_to_all(env, part, &reader, record);
	}
	pass_reader_close(&reader);
	part->lost[grid_bucket(&env->grid, time)] += reader.basis.lost - lost;
	return status;
}

/* --- the document --------------------------------------------------------------- */

/* Rows of which only the keys are shown. */
static json_t *json_keys(const struct stats *s)
{
	json_t *object = json_object(), *rows = json_array();
	size_t i;

	for (i = 0; i < s->nr; i++) {
		const struct key_text k = {
			.table = &s->table, .key = s->rows[i].key, .folded = s->rows[i].folded,
		};
		json_t *row = json_object();

		key_text_json(row, &k);
		json_add(rows, row);
	}
	json_put(object, "rows", rows);
	return object;
}

static json_t *json_table(const struct env *env, size_t i, const struct table *t)
{
	const struct part *part = &env->parts[i];
	struct stats_report r = {
		.category = env->pass.at[i].category->name, .stats = &t->stats, .basis = part->basis,
	};
	json_t *object = json_object();

	pass_times(&env->pass, part->last, &r.begin, &r.end);
	json_put(object, "by", json_string(t->kind->name));
	json_put(object, "stats", t->kind->parts & SPREAD_TIMES ? json_keys(&t->stats) : stats_report_json(&r));
	spread_json(&t->spread, object);
	return object;
}

static json_t *json_part(const struct env *env, size_t i)
{
	const struct part *part = &env->parts[i];
	json_t *object = json_object(), *tables = json_array(), *lost = json_array();
	size_t n;

	for (n = 0; n < part->nr; n++)
		json_add(tables, json_table(env, i, &part->tables[n]));
	for (n = 0; n < env->grid.nr; n++)
		json_add(lost, json_unsigned(part->lost[n]));
	json_put(object, "category", json_string(env->pass.at[i].category->name));
	json_put(object, "lost", lost);
	json_put(object, "tables", tables);
	return object;
}

/* A text of the metadata. The recorder escaped it, but somebody else may have written the trace. */
static json_t *json_guarded(const json_t *text)
{
	char *guarded = text_guard(json_string_value(text), json_string_length(text), "");
	json_t *value = json_string(guarded);

	free(guarded);
	return value;
}

static void put_metadata(json_t *object, const struct env *env, const char *name)
{
	json_t *value = json_object_get(env->pass.check.metadata.document, name);

	if (json_is_string(value))
		json_put(object, name, json_guarded(value));
	else if (json_is_integer(value) || json_is_boolean(value))
		json_put(object, name, json_incref(value));
}

static json_t *json_recording(const struct env *env)
{
	static const char *const names[] = {
		"state", "reason", "host", "kernel", "machine", "cpus", "label", "tool_version", "anonymized",
	};
	json_t *object = json_object(), *words = json_array(), *word;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		put_metadata(object, env, names[i]);
	json_array_foreach(json_object_get(env->pass.check.metadata.document, "command"), i, word)
		if (json_is_string(word))
			json_add(words, json_guarded(word));
	json_put(object, "command", words);
	json_put(object, "sources", json_integer(env->pass.sources.nr));
	return object;
}

static json_t *json_grid(const struct grid *g)
{
	json_t *object = json_object();

	json_put(object, "begin_ns", json_unsigned(g->begin));
	json_put(object, "width_ns", json_unsigned(g->width));
	json_put(object, "buckets", json_integer(g->nr));
	return object;
}

/* --- the page ------------------------------------------------------------------- */

/* From when to when: what is selected, or until the last event of a trace that has no end. */
static void find_grid(struct env *env)
{
	__u64 last = 0, begin, end;
	size_t i;

	for (i = 0; i < env->pass.nr; i++)
		if (env->parts[i].last > last)
			last = env->parts[i].last;
	pass_times(&env->pass, last, &begin, &end);
	grid_of(&env->grid, begin, end);
}

/* The statistics by operation of all categories. A file that cannot be read, which was reported, has no events. */
static int read_operations(struct env *env)
{
	int status = CLI_OK;
	size_t i;

	for (i = 0; i < env->pass.nr; i++) {
		struct part *part = &env->parts[i];

		if (open_table(&part->tables[0], &kinds[0], env, i)) {
			part->nr = 1;
			status = cli_merge(status, read_tables(env, i, 0, false));
		}
	}
	return status;
}

/* All else of a category, which is freed. */
static int read_part(struct env *env, size_t i, json_t *to)
{
	struct part *part = &env->parts[i];
	size_t k, read = part->nr;
	int status = CLI_OK;

	for (k = 1; k < NR_KINDS && part->nr && part->basis.records; k++) {
		part->nr += open_table(&part->tables[part->nr], &kinds[k], env, i);
		if (part->nr == read + AT_ONCE || (k + 1 == NR_KINDS && part->nr > read)) {
			status = cli_merge(status, read_tables(env, i, read, true));
			read = part->nr;
		}
	}
	if (part->basis.records)
		status = cli_merge(status, read_over_time(env, i));
	json_add(to, json_part(env, i));
	for (k = 0; k < part->nr; k++)
		close_table(&part->tables[k]);
	part->nr = 0;
	return status;
}

static int find(struct env *env, json_t *document)
{
	struct findings_pass found = {
		.findings = { .top = 5, .names = &env->pass.names }, .again = true,
	};
	int status = findings_pass_read(&found, &env->pass);

	json_put(document, "findings", findings_pass_json(&found, &env->pass));
	findings_pass_free(&found);
	return status;
}

static int make(struct env *env, json_t *document)
{
	json_t *categories = json_array();
	int status = read_operations(env);
	size_t i;

	find_grid(env);
	for (i = 0; i < env->pass.nr; i++)
		status = cli_merge(status, read_part(env, i, categories));
	json_put(document, "trace", json_shown(env->pass.trace));
	json_put(document, "recording", json_recording(env));
	json_put(document, "selected", json_boolean(env->pass.selection.select.nr || env->pass.nr_named));
	json_put(document, "grid", json_grid(&env->grid));
	json_put(document, "categories", categories);
	status = cli_merge(status, report_cache_sim(&env->pass, document));
	status = cli_merge(status, report_drives(&env->pass, &env->grid, document));
	status = cli_merge(status, report_durability(&env->pass, &env->grid, document));
	return cli_merge(status, find(env, document));
}

static int run(int argc, char **argv)
{
	struct env env = { .pass = PASS_NONE, .output = "report.html" };
	json_t *document = json_object();
	struct new_file file;
	int status, made;

	command_parse(&command_report, argc, argv, &env);
	if (!env.pass.record)
		interrupt_catch(); /* while one is recorded, it is what ends that */
	status = new_file_open(&file, env.output, false);
	if (!status)
		status = pass_open(&env.pass, &env.words);
	if (!status) {
		env.parts = xreallocarray(NULL, env.pass.nr + 1, sizeof(*env.parts));
		memset(env.parts, 0, (env.pass.nr + 1) * sizeof(*env.parts));
		made = make(&env, document);
		if (!interrupt_came(NULL)) {
			page_write(file.stream, document);
			made = cli_merge(made, new_file_publish(&file));
		}
		status = made;
		free(env.parts);
	}
	json_decref(document);
	new_file_close(&file);
	status = pass_close(&env.pass, status);
	interrupt_end();
	return status;
}

static const struct cli_option options[] = {
	{ "output", 'o', "FILE", "write the page to FILE, which must not exist (default report.html), or to standard output for -",
	  TO_TEXT(struct env, output), .values = VALUES_FILE },
	{ 0 }
};

const struct command command_report = {
	.name = "report",
	.summary = "make a page of charts and tables of a trace",
	.synopsis = "TRACE\n--live",
	.help =
		"Make one HTML file that shows a trace in a browser: what was recorded and lost, findings,"
		" throughput, latency and device time over time, the top files, directories,"
		" processes and devices, the hit ratio by size of the cache, and what a power cut could"
		" have taken. A part of the time can be selected.\v"
		"The file needs no network and no other file. Figures of the whole trace are those of"
		" iotracer stats, findings, cache-sim and durability. Tables have the 40 files, directories or processes that took most time, and"
		" one row for the others. The time is cut into 200 parts at most. Percentiles of a part of"
		" the time are approximate: at most an eighth above the exact one, or what the table says. An event counts where it"
		" began.",
	.options = options,
	.group = &pass_options, .group_at = offsetof(struct env, pass),
	.operands = PASS_OPERANDS,
	.words = offsetof(struct env, words),
	.run = run,
};
