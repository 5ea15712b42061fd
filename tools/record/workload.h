/* SPDX-License-Identifier: GPL-2.0 */
/* The command that is recorded. */
#ifndef TOOL_RECORD_WORKLOAD_H
#define TOOL_RECORD_WORKLOAD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "machine/kernel_counts.h"

struct workload {
	pid_t pid;		/* 0: there is none */
	bool waits;		/* the child waits until it is let go */
	bool ended;
	int status;		/* exit status as in the shell: 128 + signal */
	struct kernel_io io;	/* of the command and its descendants that were reaped */
	bool io_unknown;	/* the counts of one could not be read */
};

/*
 * Checks that the command's file exists and may be executed. Returns 0, or the shell's exit code
 * for the error, which was reported.
 */
int workload_check(char **argv);

/* Starts a child that waits; the command gets the signal mask @mask. Returns an exit code. */
int workload_start(struct workload *w, char **argv, const sigset_t *mask);

/* Lets the child go: it executes the command. */
void workload_go(struct workload *w);

/* Whether the command has ended; @wait: waits until it has. */
bool workload_ended(struct workload *w, bool wait);

/*
 * Whether processes that the command started are still running. A process whose parent has
 * ended becomes a child of this process, which reaps it when it has ended.
 */
bool workload_left(struct workload *w);

/* The names and ids of these processes, "sleep (123), ...", or NULL; the caller frees it. */
char *workload_left_names(void);

/* Kills the child if it was never let go, and waits for its end. */
void workload_cancel(struct workload *w);

#endif /* TOOL_RECORD_WORKLOAD_H */
