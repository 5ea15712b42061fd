/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether a trace is whole: what is read of it is compared with what metadata.json says was
 * recorded. What is damaged or missing is reported.
 */
#ifndef TOOL_TRACE_CHECK_H
#define TOOL_TRACE_CHECK_H

#include <stdbool.h>

#include "base/wall.h"
#include "trace/cpu_merge.h"
#include "trace/metadata.h"
#include "trace/paths.h"

struct check {
	const char *trace;		/* directory, as the user named it */
	struct metadata metadata;
	struct wall_clock clock;
	bool is_recorded;		/* set by the caller: the trace is being recorded */
	bool shows_counts;		/* set by the caller: it shows what was lost or missed itself */
	bool damaged;			/* the trace is not whole, which was reported */
};

/* The counts of a category's file, while it is read. */
struct check_file {
	struct check *check;
	const char *category;
	struct metadata_file expected;
	bool known;			/* metadata.json has the counts */
};

/* Whether the trace is being recorded: its recorder holds a lock on the directory. */
bool check_is_recorded(const char *trace);

/* Loads metadata.json. Returns an exit code; errors are reported. */
int check_open(struct check *c, const char *trace);
void check_close(struct check *c);

/* Reports how recording ended, and whether the files beside the records are whole. */
void check_state(struct check *c);

/* Does paths_load(), and checks the paths. */
int check_names(struct check *c, struct paths *names, const struct anonymizer *anonymizer);

/* Call these before the first cpu_merge_next() of the @i-th category, and after the last. */
void check_begin(struct check *c, struct check_file *file, const char *category, size_t i,
		 struct cpu_merge *m);
void check_end(const struct check_file *file, struct cpu_merge *m);

/* The exit code for a trace that could be read; reports what is not CLI_OK. @partial: damage is none. */
int check_judge(const struct check *c, bool partial);

#endif /* TOOL_TRACE_CHECK_H */
