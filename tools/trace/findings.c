// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "trace/findings.h"

const struct finding_watch *const finding_watches[] = {
	&finding_fs, &finding_block, &finding_cache, &finding_uring, &finding_net, &finding_epoll,
	&finding_drop,
};

const size_t nr_finding_watches = sizeof(finding_watches) / sizeof(finding_watches[0]);

const struct finding_watch *finding_watch_find(const char *category)
{
	size_t i;

	for (i = 0; i < nr_finding_watches; i++)
		if (!strcmp(finding_watches[i]->category, category))
			return finding_watches[i];
	return NULL;
}

const struct finding_rule *finding_rule_find(const char *id)
{
	size_t i, j;

	for (i = 0; i < nr_finding_watches; i++)
		for (j = 0; j < finding_watches[i]->nr_rules; j++)
			if (!strcmp(finding_watches[i]->rules[j].id, id))
				return &finding_watches[i]->rules[j];
	return NULL;
}

bool finding_is_wanted(const struct findings *f, const struct finding_rule *rule)
{
	size_t i;

	for (i = 0; i < f->nr_wanted; i++)
		if (!strcmp(f->wanted[i], rule->id))
			return true;
	return !f->nr_wanted;
}

const char *finding_severity_name(enum finding_severity severity)
{
	static const char *const names[] = {
		[FINDING_NOTICE] = "notice", [FINDING_WARNING] = "warning",
		[FINDING_CRITICAL] = "critical",
	};

	return names[severity];
}

/* --- events --------------------------------------------------------------------- */

void findings_begin(struct findings *f, const struct finding_watch *watch,
		    const struct iot_schema_event *event)
{
	size_t i;

	f->events = (struct finding_events){ .watch = watch };
	for (i = 0; i < FINDING_TABLES; i++)
		f->events.tables[i].size = watch->sizes[i];
	f->events.text = xreallocarray(NULL, STATS_KEYS, STATS_KEY_MAX);
	if (!watch->key)
		return;
	f->events.keys.merged = f->merged;
	free(stats_keys_add(&f->events.keys, watch->key));
	stats_keys_open(&f->events.keys, event, f->names);
}

/* --- what was found ------------------------------------------------------------- */

/* What a row is of: a path, a text of its own, a disk, or a process only. */
static char *name_of(const struct findings *f, const struct finding_row *row, const struct finding_subject *s)
{
	__u64 path = row->path ? row->path : s->path;
	const struct name *name = path ? names_find(f->names, path) : NULL;
	size_t length;

	if (name)
		return xstrdup(name->text);
	if (s->text)
		return xstrdup(intern_bytes(&f->events.texts, s->text - 1, &length));
	return text_show(s->disk, strnlen(s->disk, sizeof(s->disk)));
}

static char *process_of(const struct finding_subject *s)
{
	char *comm, *process;

	if (!s->pid)
		return xstrdup("");
	comm = text_show(s->comm, strnlen(s->comm, sizeof(s->comm)));
	process = xasprintf("%s (%u)%s", comm, s->pid, s->several ? " and others" : "");
	free(comm);
	return process;
}

static int fall(__u64 x, __u64 y)
{
	return (x < y) - (x > y);
}

/* Those that cost most time first, then most events. */
static int compare_rows(const void *a, const void *b)
{
	const struct finding_row *x = a, *y = b;
	int order = fall(x->tally.time, y->tally.time);

	if (!order)
		order = fall(x->tally.count, y->tally.count);
	return order ? order : fall(y->subject, x->subject);
}

#define FEW_MISSING 10000	/* percent: the rows' events for each that is missing */

static bool proves(const struct finding_rule *rule, const void *subject, const struct finding_context *c,
		   struct finding_row *row)
{
	return rule->look(subject, c, row) &&
	       (!rule->needs_all || finding_share(row->tally.count, c->missing, FEW_MISSING));
}

/* Rows that prove the rule, sorted; the caller frees them. */
static struct finding_row *look(const struct findings *f, const struct finding_rule *rule,
				const struct finding_context *c, size_t *nr)
{
	const struct finding_table *t = &f->events.tables[rule->table];
	struct finding_row *rows = NULL;
	size_t i, room = 0;

	*nr = 0;
	for (i = 0; i < t->nr; i++) {
		struct finding_row row = { .subject = i };

		if (!proves(rule, finding_at(t, i), c, &row))
			continue;
		if (*nr == room) {
			room = 2 * room + 16;
			rows = xreallocarray(rows, room, sizeof(*rows));
		}
		rows[(*nr)++] = row;
	}
	if (rows)
		qsort(rows, *nr, sizeof(*rows), compare_rows);
	return rows;
}

static struct finding *new_finding(struct findings *f)
{
	if (f->nr == f->room) {
		f->room = 2 * f->room + 16;
		f->at = xreallocarray(f->at, f->room, sizeof(*f->at));
	}
	return &f->at[f->nr++];
}

static void add_finding(struct findings *f, const struct finding_rule *rule,
			const struct finding_row *rows, size_t nr)
{
	struct finding *to = new_finding(f);
	size_t i;

	*to = (struct finding){
		.rule = rule, .category = f->events.watch->category, .subjects = nr,
		.nr = f->top && f->top < nr ? f->top : nr,
	};
	to->rows = xreallocarray(NULL, to->nr, sizeof(*to->rows));
	for (i = 0; i < nr; i++) {
		const struct finding_subject *s =
			finding_at(&f->events.tables[rule->table], rows[i].subject);

		to->tally.count += rows[i].tally.count;
		to->tally.bytes += rows[i].tally.bytes;
		to->tally.time += rows[i].tally.time;
		to->of += rows[i].of;
		if (i >= to->nr)
			continue;
		to->rows[i] = (struct finding_shown){
			.tally = rows[i].tally, .of = rows[i].of, .name = name_of(f, &rows[i], s),
			.process = process_of(s),
		};
		memcpy(to->rows[i].note, rows[i].note, sizeof(rows[i].note));
	}
}

void findings_end(struct findings *f, struct finding_context *c)
{
	const struct finding_watch *watch = f->events.watch;
	size_t i, nr;

	c->tables = f->events.tables;
	c->names = f->names;
	c->own = f->events.own;
	if (watch->finish)
		watch->finish(f->events.own);
	for (i = 0; i < watch->nr_rules; i++) {
		struct finding_row *rows;

		if (!finding_is_wanted(f, &watch->rules[i]))
			continue;
		rows = look(f, &watch->rules[i], c, &nr);
		if (nr)
			add_finding(f, &watch->rules[i], rows, nr);
		free(rows);
	}
	for (i = 0; i < FINDING_TABLES; i++) {
		f->dropped += f->events.tables[i].dropped;
		finding_table_free(&f->events.tables[i]);
	}
	if (watch->key)
		stats_keys_close(&f->events.keys);
	intern_free(&f->events.texts);
	free(f->events.text);
	if (watch->release)
		watch->release(f->events.own);
}

/* The most severe first, of these what cost most time; then as the rules are listed. */
static int compare_findings(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;

	if (x->rule->severity != y->rule->severity)
		return x->rule->severity < y->rule->severity ? 1 : -1;
	if (x->tally.time != y->tally.time)
		return fall(x->tally.time, y->tally.time);
	return fall(y->order, x->order);
}

void findings_sort(struct findings *f)
{
	size_t i;

	for (i = 0; i < f->nr; i++)
		f->at[i].order = i;
	if (f->nr)
		qsort(f->at, f->nr, sizeof(*f->at), compare_findings);
}

void findings_free(struct findings *f)
{
	size_t i, j;

	for (i = 0; i < f->nr; i++) {
		for (j = 0; j < f->at[i].nr; j++) {
			free(f->at[i].rows[j].name);
			free(f->at[i].rows[j].process);
		}
		free(f->at[i].rows);
	}
	free(f->at);
}
