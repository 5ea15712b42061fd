// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "cmd/pass.h"
#include "record/store.h"
#include "trace/categories.h"
#include "trace/metadata.h"
#include "trace/trace.h"

#define LOOK_RECORDS 65536	/* records between two checks whether progress is due */

/* --- the trace ------------------------------------------------------------------ */

static bool is_named(const struct pass *p, const struct category *category)
{
	size_t i;

	for (i = 0; i < p->nr_named; i++)
		if (p->named[i] == category)
			return true;
	return !p->nr_named;
}

static int unknown_category(const struct pass *p, const char *name)
{
	char *shown = text_show(name, strlen(name));

	cli_say_of(p->trace, "category %s is not known to this tool", shown);
	free(shown);
	return CLI_FAILED;
}

/* Finds the categories that are wanted. */
static int find_categories(struct pass *p)
{
	int status = CLI_OK;
	const char *name;
	size_t i;

	for (i = 0; (name = metadata_category(&p->check.metadata, i)); i++) {
		const struct category *category = category_find(name, strlen(name));

		if (!category && !p->nr_named)
			status = unknown_category(p, name);
		if (!category || !is_named(p, category) || p->nr == PASS_CATEGORIES)
			continue;
		p->at[p->nr++] = (struct pass_category){ .category = category, .index = i };
	}
	for (i = 0; i < p->nr_named; i++) {
		if (pass_find(p, p->named[i]) != p->nr)
			continue;
		cli_say_of(p->trace, "has no category %s: %s says what it has", p->named[i]->name,
			   TRACE_METADATA);
		return CLI_FAILED;
	}
	return status;
}

size_t pass_find(const struct pass *p, const struct category *category)
{
	size_t i;

	for (i = 0; i < p->nr; i++)
		if (p->at[i].category == category)
			break;
	return i;
}

size_t pass_need(struct pass *p, const struct category *category)
{
	size_t i = pass_find(p, category);
	const char *name;

	if (i != p->nr)
		return i;
	for (i = 0; (name = metadata_category(&p->check.metadata, i)); i++) {
		if (strcmp(name, category->name) || p->nr == PASS_CATEGORIES)
			continue;
		p->at[p->nr] = (struct pass_category){ .category = category, .index = i };
		return p->nr++;
	}
	return PASS_NONE_SUCH;
}

/* Records what is named, and what the command needs. */
static int record_needs(struct pass *p)
{
	const struct category *all[2 * PASS_CATEGORIES];
	const struct select none = { .nr = 0 };
	size_t nr = p->nr_named, i;

	memcpy(all, p->named, nr * sizeof(*all));
	for (i = 0; p->needs[i]; i++)
		if (!p->nr_named || !is_named(p, p->needs[i]))
			all[nr++] = p->needs[i];
	return live_record(&p->live, all, nr, &none, p->seconds);
}

const struct anonymizer *pass_anonymizer(const struct pass *p)
{
	return p->anonymize ? &p->anonymizer : NULL;
}

/* The text was escaped when it was written, unless somebody changed it. */
char *pass_host(const struct pass *p)
{
	const char *host = json_string_value(json_object_get(p->check.metadata.document, "host"));
	char hidden[ANONYMOUS_LENGTH];

	if (!host || !pass_anonymizer(p))
		return host ? text_guard(host, strlen(host), "") : NULL;
	anonymize_word(pass_anonymizer(p), hidden, "host", host, strlen(host));
	return xasprintf("%.*s", ANONYMOUS_LENGTH, hidden);
}

static int open_anonymizer(struct pass *p)
{
	if (p->anonymize && p->check.metadata.anonymized) {
		cli_say_of(p->trace, "was recorded with --anonymize: its names stay as they are");
		p->anonymize = false;
	}
	return p->anonymize ? anonymizer_init(&p->anonymizer, p->key_file) : CLI_OK;
}

/* Finds the trace, or records it. */
static int find_trace(struct pass *p, const struct cli_words *words)
{
	int status = CLI_OK;

	if (!words->nr == !p->record) {
		cli_say("say which trace: a directory that iotracer record made, or --live");
		return CLI_USAGE;
	}
	if (p->record) {
		status = p->needs ? record_needs(p) :
				    live_record(&p->live, p->named, p->nr_named, &p->selection.select, p->seconds);
		interrupt_catch();
		p->trace = p->live.trace ? xstrdup(p->live.trace) : NULL;
	} else {
		p->trace = store_find(words->at[0]);
	}
	return p->trace ? status : CLI_FAILED;
}

int pass_open(struct pass *p, const struct cli_words *words)
{
	int status = find_trace(p, words);

	if (status)
		return status;
	status = check_open(&p->check, p->trace);
	if (status)
		return status;
	p->check.is_recorded = check_is_recorded(p->trace);
	p->check.shows_counts = true;
	check_state(&p->check);
	status = open_anonymizer(p);
	if (status)
		return status;
	sources_load(&p->sources, &p->check.metadata, pass_anonymizer(p));
	status = check_names(&p->check, &p->names, pass_anonymizer(p));
	if (!status)
		status = p->nr_named ?
			selection_open(&p->selection, &p->check, p->named, p->nr_named) :
			selection_open(&p->selection, &p->check, categories, nr_categories);
	return status ? status : find_categories(p);
}

int pass_close(struct pass *p, int status)
{
	if (!status)
		status = check_judge(&p->check, p->partial);
	live_remove(&p->live);
	if (p->record && interrupt_came(NULL)) {
		cli_say("interrupted: the figures are those of the events that were read so far");
		interrupt_end();
	}
	anonymizer_forget(&p->anonymizer);
	select_free(&p->selection.select);
	sources_free(&p->sources);
	paths_free(&p->names);
	check_close(&p->check);
	free(p->trace);
	return status;
}

__u64 pass_wall(const struct pass *p, __u64 monotonic)
{
	return wall_time(&p->check.clock, monotonic);
}

__u64 pass_origin(const struct pass *p)
{
	return pass_wall(p, p->check.metadata.begin.monotonic);
}

void pass_times(const struct pass *p, __u64 last, __u64 *begin, __u64 *end)
{
	const struct metadata *m = &p->check.metadata;

	*begin = pass_origin(p);
	*end = m->end.monotonic ? pass_wall(p, m->end.monotonic) : last;
	if (p->selection.begin > *begin)
		*begin = p->selection.begin;
	if (p->selection.end < *end)
		*end = p->selection.end;
}

/* --- records -------------------------------------------------------------------- */

static bool wants_frame(void *data, const struct trace_index *index)
{
	struct pass_reader *r = data;

	if (selection_may_want(&r->skips, index))
		return true;
	if (index->time.most > r->last)
		r->last = index->time.most;
	return false;
}

int pass_reader_open(struct pass_reader *r, struct pass *p, size_t i)
{
	const struct category *category = p->at[i].category;
	char *file = xasprintf("%s.iot", category->name);
	int status;

	*r = (struct pass_reader){
		.pass = p, .category = category, .event = category_event(category),
	};
	status = cpu_merge_open(&r->merge, p->trace, file, r->event);
	free(file);
	r->open = true;
	r->selection = p->selection;
	r->selection.select = (struct select){ .nr = 0 };
	select_copy(&r->selection.select, &p->selection.select);
	if (!status)
		status = selection_event(&r->selection, r->event, &p->names, pass_anonymizer(p));
	if (status)
		return status;
	measurer_open(&r->measurer, r->event);
	r->skips = (struct selection_skips){ &r->selection, &p->check.clock };
	r->merge.wants_data = r;
	r->merge.wants = wants_frame;
	check_begin(&p->check, &r->checked, category->name, p->at[i].index, &r->merge);
	return CLI_OK;
}

int pass_reader_open_whole(struct pass_reader *r, struct pass *p, size_t i)
{
	int status = pass_reader_open(r, p, i);

	r->whole = true;
	r->merge.wants = NULL; /* nor is a frame skipped */
	return status;
}

/* What is wrong is not reported a second time. */
static void be_quiet(struct pass_reader *r)
{
	r->again = true;
	r->merge.hole = NULL;
	r->merge.reader.quiet = true;
}

int pass_reader_open_again(struct pass_reader *r, struct pass *p, size_t i)
{
	int status = pass_reader_open(r, p, i);

	be_quiet(r);
	return status;
}

int pass_reader_open_whole_again(struct pass_reader *r, struct pass *p, size_t i)
{
	int status = pass_reader_open_whole(r, p, i);

	be_quiet(r);
	return status;
}

bool pass_wants(struct pass_reader *r, const void *record)
{
	return selection_wants(&r->selection, &r->pass->check.clock, r->measure.time, record);
}

static void show_progress(const struct pass_reader *r)
{
	progress_of(r->category->name, r->merge.events, "events", r->merge.reader.at, r->merge.reader.size);
}

const void *pass_next(struct pass_reader *r)
{
	struct pass *p = r->pass;
	const void *record;

	while ((record = cpu_merge_next(&r->merge))) {
		if (r->merge.events % LOOK_RECORDS == 0)
			show_progress(r);
		if (interrupt_came(NULL))
			return NULL;
		measure(&r->measurer, record, &r->measure);
		if (r->measure.time + r->measure.latency > r->last)
			r->last = r->measure.time + r->measure.latency;
		if (!r->whole && !pass_wants(r, record))
			continue;
		r->source = sources_find(&p->sources, merge_cpu_of(&r->merge));
		basis_add(&r->basis, r->measure.weight);
		return record;
	}
	r->ended = true;
	return NULL;
}

void pass_reader_close(struct pass_reader *r)
{
	const struct cpu_merge *m = &r->merge;

	if (!r->open)
		return;
	r->open = false;
	select_free(&r->selection.select);
	progress_end();
	r->last = r->last ? pass_wall(r->pass, r->last) : 0;
	if (r->ended && !r->again)
		check_end(&r->checked, &r->merge);
	r->basis.lost = m->lost;
	if (r->checked.known) {
		r->basis.missed = r->checked.expected.missed;
		if (r->ended && r->checked.expected.events > m->events)
			r->basis.unreadable = r->checked.expected.events - m->events;
	}
	cpu_merge_close(&r->merge);
}

void pass_reader_end(struct pass_reader *r, json_t *read, struct basis *all)
{
	json_t *category = json_object();

	pass_reader_close(r);
	json_put(category, "category", json_string(r->category->name));
	basis_json(category, &r->basis);
	json_add(read, category);
	basis_sum(all, &r->basis);
}

bool pass_say_basis(const struct pass *p, const struct category *category, const struct basis *b)
{
	char *text = NULL;

	if (b->lost || b->missed || b->unreadable)
		text = xasprintf("is not all there: lost %llu, missed %llu, unreadable %llu",
				 (unsigned long long)b->lost, (unsigned long long)b->missed,
				 (unsigned long long)b->unreadable);
	if (b->sampled)
		text = text_append(text, "; ", "is sampled: sum(sample) counts events, count(*) records");
	if (!text)
		return false;
	cli_say_of(p->trace, "%s %s", category->name, text);
	free(text);
	return true;
}

/* --- several categories --------------------------------------------------------- */

int pass_all_open(struct pass_all *a, struct pass *p)
{
	int status = CLI_OK;

	*a = (struct pass_all){ .nr = 0 };
	a->readers = xreallocarray(NULL, p->nr + 1, sizeof(*a->readers));
	a->records = xreallocarray(NULL, p->nr + 1, sizeof(*a->records));
	while (!status && a->nr < p->nr) {
		status = pass_reader_open(&a->readers[a->nr], p, a->nr);
		a->nr++;
	}
	return status;
}

static int open_needs(struct pass_all *a, struct pass *p, bool again)
{
	int status = CLI_OK;
	size_t i, at;

	*a = (struct pass_all){ .nr = 0 };
	for (i = 0; p->needs[i]; i++)
		;
	a->readers = xreallocarray(NULL, i + 1, sizeof(*a->readers));
	a->records = xreallocarray(NULL, i + 1, sizeof(*a->records));
	for (i = 0; !status && p->needs[i]; i++) {
		at = is_named(p, p->needs[i]) ? pass_need(p, p->needs[i]) : PASS_NONE_SUCH;
		if (at == PASS_NONE_SUCH)
			continue;
		status = again ? pass_reader_open_whole_again(&a->readers[a->nr], p, at) :
				 pass_reader_open_whole(&a->readers[a->nr], p, at);
		a->nr++;
	}
	return status;
}

int pass_all_open_whole(struct pass_all *a, struct pass *p)
{
	return open_needs(a, p, false);
}

int pass_all_open_again(struct pass_all *a, struct pass *p)
{
	return open_needs(a, p, true);
}

static __u64 end_of(const struct pass_all *a, size_t i)
{
	return a->readers[i].measure.time + a->readers[i].measure.latency;
}

const void *pass_all_next(struct pass_all *a, struct pass_reader **reader)
{
	size_t i, first = a->nr;

	if (a->begun)
		a->records[a->current] = pass_next(&a->readers[a->current]);
	for (i = 0; i < a->nr; i++) {
		if (!a->begun)
			a->records[i] = pass_next(&a->readers[i]);
		if (a->records[i] && (first == a->nr || end_of(a, i) < end_of(a, first)))
			first = i;
	}
	a->begun = true;
	if (first == a->nr)
		return NULL;
	a->current = first;
	*reader = &a->readers[first];
	return a->records[first];
}

void pass_all_close(struct pass_all *a)
{
	size_t i;

	for (i = 0; i < a->nr; i++)
		pass_reader_close(&a->readers[i]);
}

void pass_all_free(struct pass_all *a)
{
	free(a->readers);
	free(a->records);
}

/* --- options -------------------------------------------------------------------- */

/* The options of the selection get the pass: it begins with the selection. */
_Static_assert(offsetof(struct pass, selection) == 0, "the selection is the first member of a pass");

void pass_take_categories(struct argp_state *state, void *to, const char *arg)
{
	struct pass *p = to;
	char *words = (char *)arg, *word;

	while ((word = strsep(&words, ","))) {
		const struct category *category = category_find(word, strlen(word));

		if (!category)
			cli_usage(state, "--categories: there is no category \"%s\" (there are: %s)",
				  word, category_names());
		if (p->nr_named && is_named(p, category))
			cli_usage(state, "--categories: %s twice", word);
		p->named[p->nr_named++] = category;
	}
}

static const struct cli_option options[] = {
	{ "categories", 'c', "NAME,...", "read only these categories (default: all of the trace); may be repeated",
	  OPTION_TAKE, .take = pass_take_categories, .values = VALUES_CATEGORY | VALUES_LIST },
	SELECTION_OPTIONS,
	{ "live", 0, NULL,
	  "instead of reading a trace, record one (category fs, or those of --categories) until Ctrl-C, or for --time, and delete it afterwards",
	  TO_FLAG(struct pass, record) },
	{ "time", 0, "SECONDS", "record for SECONDS (or minutes, hours, days: suffix m, h, d)",
	  TO_SECONDS(struct pass, seconds), .least = 1, .with = "live" },
	{ "partial", 0, NULL,
	  "exit with 0 even if the trace is damaged, truncated or has no end; what is missing is still reported",
	  TO_FLAG(struct pass, partial) },
	{ 0 }
};

const struct option_group pass_options = {
	.title = "Which events:", .options = options,
};
