/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the rules of finding.h find in a trace, category by category; as text of 80 columns, or
 * JSON.
 */
#ifndef TOOL_TRACE_FINDINGS_H
#define TOOL_TRACE_FINDINGS_H

#include <jansson.h>

#include "trace/basis.h"
#include "trace/finding.h"
#include "trace/paths.h"

/* The ids of all rules. */
#define FINDING_RULE_WORDS \
	"small-reads small-writes unaligned-writes read-wait fsync-storm fsync-small fsync-idle " \
	"direct-reread reread rewritten many-opens eof-polling direct-misaligned " \
	"write-stall missing-files failing-calls metadata-storm io-errors deep-queue " \
	"queue-wait noisy-neighbour behind-others small-requests slow-flush slow-discard " \
	"readahead-wasted reclaimed-early cache-too-small uring-single small-sends poll-spin " \
	"retransmits"

/* A row as it is shown: what it is of, as text. */
struct finding_shown {
	struct finding_tally tally;
	__u64 of;
	char *name;		/* escaped by text_show(); "" if it is not known */
	char *process;		/* "fio (7)", "fio (7) and others"; "" if it is not known */
	char note[FINDING_NOTE];
};

struct finding {
	const struct finding_rule *rule;
	const char *category;
	struct finding_tally tally;	/* of all rows */
	__u64 of;
	size_t subjects;		/* rows that prove it */
	struct finding_shown *rows;	/* the first ones, those that cost most first */
	size_t nr;
	size_t order;			/* in which it was found */
};

/* Set before the first findings_begin(): all of the first part. */
struct findings {
	const char *const *wanted;	/* ids of rules */
	size_t nr_wanted;		/* 0: all */
	size_t top;			/* rows of a finding; 0: all */
	const struct paths *names;
	bool merged;			/* a merged trace */

	struct finding_events events;	/* of the present category */
	struct finding *at;		/* the most severe first, from findings_sort() on */
	size_t nr, room;
	__u64 dropped;			/* subjects that were dropped to make room */
};

/* The watches of all categories that have rules. */
extern const struct finding_watch *const finding_watches[];
extern const size_t nr_finding_watches;

/* NULL if there is none. */
const struct finding_rule *finding_rule_find(const char *id);
const struct finding_watch *finding_watch_find(const char *category);
bool finding_is_wanted(const struct findings *f, const struct finding_rule *rule);

/* NOTICE, WARNING, CRITICAL in small letters. */
const char *finding_severity_name(enum finding_severity severity);

/* The records of a category: begin, findings_add() each, end. @c: about the category. */
void findings_begin(struct findings *f, const struct finding_watch *watch,
		    const struct iot_schema_event *event);
void findings_end(struct findings *f, struct finding_context *c);

static inline void findings_add(struct findings *f, const void *record, const struct measure *m)
{
	f->events.watch->add(&f->events, record, m);
}

void findings_sort(struct findings *f);
void findings_free(struct findings *f);

/* "12 of 15 reads moved less than 4 KiB (3.00KiB, 1.20ms)"; the caller frees it. */
char *finding_sentence(const struct finding *f);

/* In lines of at most 80 columns, each indented; @text has no control characters, and is ASCII. */
void finding_put_wrapped(const char *text, unsigned int indent);

void finding_text(const struct finding *f);
json_t *finding_json(const struct finding *f);

#endif /* TOOL_TRACE_FINDINGS_H */
