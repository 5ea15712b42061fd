// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "trace/finding.h"

#define QUIET 16	/* events: subjects with fewer are dropped first */

bool finding_is_most(struct finding_row *row, const struct finding_tally *tally, __u64 of, __u64 least,
		     unsigned int percent)
{
	row->tally = *tally;
	row->of = of;
	return tally->count >= least && finding_share(tally->count, of, percent);
}

/* --- subjects ------------------------------------------------------------------- */

static struct finding_subject *subject_at(const struct finding_table *t, size_t i)
{
	return finding_at(t, i);
}

/* Keeps the subjects that have @least events or more. */
static void keep(struct finding_table *t, __u64 least)
{
	struct intern keys = { .nr = 0 };
	size_t from, length;

	for (from = 0; from < t->nr; from++) {
		const char *key = intern_bytes(&t->keys, from, &length);

		if (subject_at(t, from)->events < least)
			continue;
		memmove(finding_at(t, keys.nr), finding_at(t, from), t->size);
		intern_add(&keys, key, length);
	}
	t->dropped += t->nr - keys.nr;
	t->nr = keys.nr;
	intern_free(&t->keys);
	t->keys = keys;
}

/* Drops subjects with few events, until a quarter of the table is free. */
static void make_room(struct finding_table *t)
{
	__u64 least;

	for (least = QUIET; t->nr > FINDING_SUBJECTS / 4 * 3; least *= 2)
		keep(t, least);
}

static struct finding_subject *new_subject(struct finding_table *t)
{
	struct finding_subject *s;

	if (t->nr == t->room) {
		t->room = 2 * t->room + 64;
		t->subjects = xreallocarray(t->subjects, t->room, t->size);
	}
	s = finding_at(t, t->nr++);
	memset(s, 0, t->size);
	return s;
}

static void add_event(struct finding_subject *s, const struct measure *m, __u32 pid,
		      const char *comm)
{
	__u64 end = m->time + m->latency;

	if (!s->events || m->time < s->first)
		s->first = m->time;
	if (end > s->last)
		s->last = end;
	if (!s->events++) {
		s->pid = pid;
		memcpy(s->comm, comm, sizeof(s->comm));
	}
	s->several |= pid != s->pid;
}

void *finding_find(struct finding_events *e, unsigned int table, const void *key, size_t length,
		   const struct measure *m, __u32 pid, const char *comm)
{
	struct finding_table *t = &e->tables[table];
	struct finding_subject *s;
	__u32 number = intern_add(&t->keys, key, length);

	if (number == t->nr && t->nr == FINDING_SUBJECTS) {
		/* The key that was just added has no subject yet: it is added again. */
		make_room(t);
		number = intern_add(&t->keys, key, length);
	}
	s = number == t->nr ? new_subject(t) : finding_at(t, number);
	add_event(s, m, pid, comm);
	return s;
}

void finding_name(struct finding_events *e, struct finding_subject *s, const void *record)
{
	if (!s->text)
		s->text = intern_add(&e->texts, e->text,
				     stats_keys_put(&e->keys, e->text, record) - e->text) + 1;
}

void *finding_find_text(struct finding_events *e, unsigned int table, const void *record,
			const struct measure *m, __u32 pid, const char *comm)
{
	size_t length = stats_keys_put(&e->keys, e->text, record) - e->text;
	struct finding_subject *s = finding_find(e, table, e->text, length, m, pid, comm);

	finding_name(e, s, record);
	return s;
}

void finding_table_free(struct finding_table *t)
{
	intern_free(&t->keys);
	free(t->subjects);
}
