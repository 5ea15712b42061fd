/* SPDX-License-Identifier: GPL-2.0 */
/* Snapshots of files, of processes and of the system. */
#ifndef TOOL_MACHINE_SNAPSHOT_H
#define TOOL_MACHINE_SNAPSHOT_H

#include <stdbool.h>
#include <linux/types.h>

#include "trace/anonymize.h"

/* Where and how to write snapshots. */
struct snapshot {
	int in;			/* the directory in which they are made; -1: standard output */
	const char *where;	/* its name, for messages */
	__u64 rotate;		/* rows of a part; 0: all */
	const struct anonymizer *anonymizer;	/* NULL: names are not hashed */
	bool (*interrupted)(void *data);	/* true to abandon a snapshot, which is deleted */
	void *data;
	bool shows_progress;	/* on the terminal */
};

#define SNAPSHOT_DIRECTORY	"snapshots"	/* of a trace */
#define SNAPSHOT_ROTATE	500000
#define SNAPSHOT_DEPTH	3

struct snapshot_fs {
	const char *root;
	unsigned int depth;
	bool cross;		/* enter other filesystems */
	bool extents;		/* count them */
};

/*
 * Each makes a snapshot, and returns an exit code; errors were reported. An interrupted one returns
 * CLI_FAILED without a report.
 */
int snapshot_fs(const struct snapshot *s, const struct snapshot_fs *o);
int snapshot_system(const struct snapshot *s);

/* Computes shares of the CPU from the samples in @processes. */
struct processes;
int snapshot_process(const struct snapshot *s, const struct processes *processes);

#endif /* TOOL_MACHINE_SNAPSHOT_H */
