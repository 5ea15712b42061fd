/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rules about a trace: each finds one known cause of slow or wasted I/O, with the rows that prove
 * it.
 *
 * A category's events are added once to the subjects that they are about: a file, a process, a
 * disk ... Each subject has the counts that the rules of the category need. In the end each rule
 * looks at each subject. So a pass costs the same whichever rules are wanted, and memory is that
 * of the subjects, which are limited (FINDING_SUBJECTS).
 *
 * What a rule says is proved by the events: where it cannot be known exactly (which bytes were
 * read again), it is a lower bound. Events that are missing can hide a finding. Where they could
 * make one, as a write between two fsyncs, the rule has @needs_all.
 */
#ifndef TOOL_TRACE_FINDING_H
#define TOOL_TRACE_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "trace/intern.h"
#include "trace/measure.h"
#include "trace/paths.h"
#include "trace/stats_key.h"

#define FINDING_SUBJECTS	65536	/* most subjects of a table */
#define FINDING_TABLES		2	/* most tables of a category */
#define FINDING_NOTE		256	/* bytes of a note */
#define FINDING_COMM		16
#define FINDING_DISK		32
#define FINDING_MS		1000000ULL
#define FINDING_S		1000000000ULL
#define FINDING_KIB		1024ULL
#define FINDING_MIB		(1024 * FINDING_KIB)
#define FINDING_PAGE		4096
#define FINDING_UNKNOWN		(~0ULL)

enum finding_severity { FINDING_NOTICE, FINDING_WARNING, FINDING_CRITICAL };

/* What events are about. The first member of a category's own struct, which begins zeroed. */
struct finding_subject {
	__u64 events;		/* records */
	__u64 first, last;	/* CLOCK_MONOTONIC ns: the first begin, the last end */
	__u64 path;		/* id of its latest path; 0: none */
	__u32 text;		/* number of its text + 1; 0: it has a path, or none */
	__u32 pid;		/* of its first event; 0: none */
	bool several;		/* events of other processes, too */
	char comm[FINDING_COMM];	/* as the records have it */
	char disk[FINDING_DISK];	/* of a disk; else empty */
};

/* The subjects of a kind. */
struct finding_table {
	struct intern keys;
	char *subjects;
	size_t size, nr, room;	/* size: bytes of a subject */
	__u64 dropped;		/* subjects that were dropped to make room */
};

/* A kind of events, of a subject. */
struct finding_tally {
	__u64 count, bytes;
	__u64 time;		/* ns */
};

/* What the rules may use beside the subject. */
struct finding_context {
	__u64 duration;		/* ns: of what is selected; 0: not known */
	__u64 missing;		/* events; FINDING_UNKNOWN: any number, as some were left out */
	const struct finding_table *tables;
	const struct paths *names;
	const void *own;	/* of the watch, as in struct finding_events */
};

/* What proves a finding: one subject, with its figures. */
struct finding_row {
	size_t subject;		/* number in its table */
	struct finding_tally tally;	/* of the events that prove it */
	__u64 of;		/* events that could have */
	__u64 path;		/* id of the path to show; 0: the subject's */
	char note[FINDING_NOTE];	/* more figures; may be empty */
};

struct finding_rule {
	const char *id;
	unsigned int table;	/* whose subjects it looks at */
	enum finding_severity severity;
	const char *subjects;	/* "file": what a row is */
	const char *events;	/* "reads": "9 of 12 reads moved less than 4 KiB" */
	const char *predicate;
	const char *advice;	/* a sentence or two */
	/* Fills in a zeroed row, and returns whether the subject proves the finding. */
	bool (*look)(const void *subject, const struct finding_context *c, struct finding_row *row);
	/*
	 * An event that is missing could make another one prove the finding. So those that prove it
	 * have to be a hundred times as many.
	 */
	bool needs_all;
};

/* While the events of a category are read. */
struct finding_events {
	const struct finding_watch *watch;
	struct finding_table tables[FINDING_TABLES];
	const void *source;	/* of a merged trace: where the record is from; set by the caller */
	struct stats_keys keys;	/* of the subjects that are known by a text */
	struct intern texts;
	char *text;		/* room for one */
	void *own;		/* what the watch keeps beside the subjects; NULL at first */
};

/* The rules of a category. */
struct finding_watch {
	const char *category;
	size_t sizes[FINDING_TABLES];	/* of the structs of its subjects; 0: no such table */
	const char *key;	/* of stats_key.h: the subjects' text; NULL: they have none */
	void (*add)(struct finding_events *e, const void *record, const struct measure *m);
	void (*finish)(void *own);	/* before the rules look; NULL: nothing to do */
	void (*release)(void *own);
	const struct finding_rule *rules;
	size_t nr_rules;
};

extern const struct finding_watch finding_fs, finding_block, finding_cache, finding_uring, finding_net,
	finding_epoll, finding_drop;

/*
 * The subject of this key, made if there is none; @key has no holes. It is valid until the next
 * call. @pid is the process that the event is of, which may be 0.
 */
void *finding_find(struct finding_events *e, unsigned int table, const void *key, size_t length,
		   const struct measure *m, __u32 pid, const char *comm);

/* Gives a subject the text of the watch's key, if it has none yet. */
void finding_name(struct finding_events *e, struct finding_subject *s, const void *record);

/* As finding_find() and finding_name(), by that text. */
void *finding_find_text(struct finding_events *e, unsigned int table, const void *record,
			const struct measure *m, __u32 pid, const char *comm);

void finding_table_free(struct finding_table *t);

static inline void *finding_at(const struct finding_table *t, size_t i)
{
	return t->subjects + i * t->size;
}

/* Counts an event. */
static inline void finding_count(struct finding_tally *t, const struct measure *m)
{
	t->count += m->weight;
	t->bytes += m->weight * m->bytes;
	t->time += m->weight * m->latency;
}

static inline double finding_mean(const struct finding_tally *t)
{
	return t->count ? (double)t->time / t->count : 0;
}

/* Whether @part is @percent of @all or more; both may be any numbers. */
static inline bool finding_share(__u64 part, __u64 all, unsigned int percent)
{
	return (__uint128_t)part * 100 >= (__uint128_t)all * percent;
}

/* For rules of the usual kind: @least of them, and @percent of @of or more. */
bool finding_is_most(struct finding_row *row, const struct finding_tally *tally, __u64 of, __u64 least,
		     unsigned int percent);

#endif /* TOOL_TRACE_FINDING_H */
