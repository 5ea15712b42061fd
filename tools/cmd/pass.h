/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One pass over a trace, for the commands that compute something from it: the options that they share,
 * the trace's categories, and the records that are wanted of each.
 *
 *	struct env { struct cli_words words; struct pass pass; ... };
 *	struct env env = { .pass = PASS_NONE };
 *
 *	command_parse(&command, argc, argv, &env);	// its .group is &pass_options, .operands PASS_OPERANDS
 *	status = pass_open(&env.pass, &env.words);
 *	for (i = 0; !status && i < env.pass.nr; i++) {
 *		status = pass_reader_open(&reader, &env.pass, i);
 *		while (!status && (record = pass_next(&reader)))
 *			...				// reader.measure has its times and bytes
 *		pass_reader_close(&reader);
 *	}
 *	status = pass_close(&env.pass, status);
 */
#ifndef TOOL_CMD_PASS_H
#define TOOL_CMD_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "base/cli.h"
#include "base/option.h"
#include "cmd/live.h"
#include "cmd/selection.h"
#include "trace/anonymize.h"
#include "trace/basis.h"
#include "trace/category.h"
#include "trace/check.h"
#include "trace/cpu_merge.h"
#include "trace/measure.h"
#include "trace/paths.h"
#include "trace/sources.h"

#define PASS_CATEGORIES 64
#define PASS_NONE_SUCH (~(size_t)0)

/* A category of the trace that is wanted. */
struct pass_category {
	const struct category *category;
	size_t index;		/* in the trace's metadata */
};

/* Start from PASS_NONE. */
struct pass {
	struct selection selection;	/* the first member: its options are among those of the pass */
	bool partial;
	bool record;			/* no trace is given: record one first */
	double seconds;			/* how long; 0: until a signal */
	struct live live;
	const struct category *named[PASS_CATEGORIES];	/* by --categories */
	size_t nr_named;		/* 0: all of the trace */
	bool anonymize;			/* set by the caller: hash names, unless the trace has them hashed */
	const char *key_file;		/* with the key for that; NULL: a random one */

	/*
	 * Set by a command that reads more than what is selected: the categories that --live records
	 * beside the named ones, and of which it records all events. Ends with NULL. Or NULL.
	 */
	const struct category *const *needs;

	/* From pass_open() on: */
	char *trace;			/* the directory */
	struct pass_category at[PASS_CATEGORIES];
	size_t nr;
	struct check check;
	struct anonymizer anonymizer;	/* if @anonymize is still set */
	struct paths names;
	struct sources sources;
};

#define PASS_NONE { .selection = SELECTION_NONE }

/* --categories, --filter, --from, --to, --partial, --live and --time. Its environment is a struct pass. */
extern const struct option_group pass_options;

/* The argument of --categories, for a command with that option in its own table. @to: a struct pass. */
void pass_take_categories(struct argp_state *state, void *to, const char *arg);

/* The operands of a command that reads one trace, which --live replaces. */
#define PASS_OPERANDS { 0, 1, NULL, "one trace at a time", VALUES_TRACE | VALUES_DIRECTORY }

/*
 * @words: the trace, or with --live nothing: then one is recorded first, and deleted by pass_close().
 * Opens the trace: its metadata, its paths, and which of its categories are wanted. A category that was
 * named and that the trace does not have is a mistake; one that this tool does not know is reported, and
 * makes pass_close() return CLI_FAILED. Returns an exit code. Call pass_close() in either case.
 */
int pass_open(struct pass *p, const struct cli_words *words);

/* Reports whether the trace was whole, and frees all. @status: so far. Returns the command's exit code. */
int pass_close(struct pass *p, int status);

/* The category, if the trace has it and it is wanted: its place in p->at. Else p->nr. */
size_t pass_find(const struct pass *p, const struct category *category);

/*
 * As above, also if it is not wanted: it is added behind those that are, for pass_reader_open_whole().
 * PASS_NONE_SUCH if the trace does not have it.
 */
size_t pass_need(struct pass *p, const struct category *category);

/* What hashes names, NULL if they are shown. */
const struct anonymizer *pass_anonymizer(const struct pass *p);

/* The trace's host, escaped or hashed; NULL if it is not recorded. The caller frees it. */
char *pass_host(const struct pass *p);

/* When the trace began, and CLOCK_MONOTONIC ns as ns since 1970. */
__u64 pass_origin(const struct pass *p);
__u64 pass_wall(const struct pass *p, __u64 monotonic);

/*
 * When what is selected began and ended, ns since 1970: the time that rates are of. @last: when the last
 * event ended, for a trace that has no end.
 */
void pass_times(const struct pass *p, __u64 last, __u64 *begin, __u64 *end);

/* The records of one category, in the order in which they ended. */
struct pass_reader {
	struct pass *pass;
	const struct category *category;
	const struct iot_schema_event *event;
	struct measure measure;		/* of the last record */
	const struct source *source;	/* of a merged trace: where the last record is from; else NULL */
	__u64 last;			/* when the last event ended, selected or not, ns since 1970; 0: none */
	struct basis basis;		/* whole from pass_reader_close() on */

	/* Private: */
	struct selection selection;	/* for this event: several readers may be open */
	struct selection_skips skips;
	struct cpu_merge merge;
	struct measurer measurer;
	struct check_file checked;
	bool whole;		/* selected or not */
	bool again;		/* an earlier reader reported what is wrong */
	bool open, ended;
};

/* Opens the i-th category. Returns an exit code; errors are reported. Close it in either case. */
int pass_reader_open(struct pass_reader *r, struct pass *p, size_t i);

/* As above, for all records, whatever is selected; and whether the last one of them is wanted. */
int pass_reader_open_whole(struct pass_reader *r, struct pass *p, size_t i);
bool pass_wants(struct pass_reader *r, const void *record);

/*
 * As the first one, for a category that was read to its end before: what is damaged or missing was reported,
 * and is not a second time.
 */
int pass_reader_open_again(struct pass_reader *r, struct pass *p, size_t i);

/* Both: all records of such a category. */
int pass_reader_open_whole_again(struct pass_reader *r, struct pass *p, size_t i);

/* The next record that is wanted, valid until the next call; NULL at the end. Shows progress. */
const void *pass_next(struct pass_reader *r);

/* If all records were read, reports what is damaged or missing. */
void pass_reader_close(struct pass_reader *r);

/* As above. Adds an object of the category to an array, and its basis to that of several. */
void pass_reader_end(struct pass_reader *r, json_t *read, struct basis *all);

/*
 * For commands whose output has no place for counts: reports what is missing in a category, or that
 * it is sampled. Returns whether there was anything to report.
 */
bool pass_say_basis(const struct pass *p, const struct category *category, const struct basis *b);

/* All wanted categories together, in the order in which their records ended. */
struct pass_all {
	struct pass_reader *readers;	/* in the order of the pass */
	const void **records;		/* the next of each; NULL: it is at its end */
	size_t nr, current;
	bool begun;
};

/* As for one reader. */
int pass_all_open(struct pass_all *a, struct pass *p);

/* As above, all records, wanted or not, of those of p->needs that the trace has and that --categories names. */
int pass_all_open_whole(struct pass_all *a, struct pass *p);

/* As above, if the pass has read these categories to their ends before: what is wrong was reported. */
int pass_all_open_again(struct pass_all *a, struct pass *p);

/* Also which reader it is of; those of other categories stay valid, too, until they were returned. */
const void *pass_all_next(struct pass_all *a, struct pass_reader **reader);

/* Closes the readers, whose basis can be read until pass_all_free(). */
void pass_all_close(struct pass_all *a);
void pass_all_free(struct pass_all *a);

#endif /* TOOL_CMD_PASS_H */
