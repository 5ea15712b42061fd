/* SPDX-License-Identifier: GPL-2.0 */
/* The command whose doing is recorded. */
#ifndef TOOL_WORKLOAD_H
#define TOOL_WORKLOAD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct workload {
	pid_t pid;		/* 0: there is none */
	bool waits;		/* until it is let go */
	bool ended;
	int status;		/* its exit status as the shell tells it: 128 + signal */
};

/* Starts it, waiting; signals there are blocked as in @mask. An exit code. */
int workload_start(struct workload *w, char **argv, const sigset_t *mask);

/* Lets it go. */
void workload_go(struct workload *w);

/* Whether it has ended; @wait: until it has. */
bool workload_ended(struct workload *w, bool wait);

/*
 * What it started and left: processes whose parents have ended are this one's children
 * then. Whether there are any; those that have ended are forgotten.
 */
bool workload_left(const struct workload *w);

/* Their names and ids, "sleep (123), ...", or NULL; the caller frees it. */
char *workload_left_names(void);

/* If it never went, it is gone after this. */
void workload_cancel(struct workload *w);

#endif /* TOOL_WORKLOAD_H */
