/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Samples of the CPU time of processes in the last hour: every 5 seconds for the last two minutes,
 * every 2 minutes for the rest. They take about half a KiB per process.
 */
#ifndef TOOL_MACHINE_PROCESSES_H
#define TOOL_MACHINE_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

#define PROCESSES_PERIOD_S	5
#define PROCESSES_FINE		26	/* samples, */
#define PROCESSES_COARSE_S	120
#define PROCESSES_COARSE	32

/* Fields of /proc/PID/stat. */
struct process_stat {
	pid_t pid, parent;
	char comm[64];
	char state;
	__u64 ticks;		/* of the CPU: user and system */
	__u64 start;		/* CLOCK_BOOTTIME, ns */
	__u64 threads, virtual_bytes, rss_pages;
};

struct processes {
	struct process_history *at;	/* ordered by pid */
	size_t nr;
	__u64 fine[PROCESSES_FINE], coarse[PROCESSES_COARSE];	/* CLOCK_BOOTTIME ns; 0: none */
	unsigned int nr_fine, nr_coarse;	/* samples so far: the next is at nr modulo size */
};

/* CLOCK_BOOTTIME in ns, the clock of the processes' start times. */
__u64 processes_now(void);

/* Whether the next sample is due. */
bool processes_is_due(const struct processes *p, __u64 now);

/* Takes a sample of all processes. */
void processes_sample(struct processes *p);
void processes_free(struct processes *p);

/*
 * The share of one CPU, in percent, that a process used in the @seconds before @now, at which @st
 * was read. Time before the start of the process counts as idle. False if there is no sample that
 * old.
 */
bool processes_share(const struct processes *p, const struct process_stat *st, __u64 now,
		     unsigned int seconds, double *percent);

/* Parses "PID (COMM) STATE PARENT ..."; false if it is damaged. */
bool process_parse(struct process_stat *st, const char *text);

/* All processes, sorted by PID; @dir is /proc. */
struct process_list {
	int dir;
	pid_t *at;
	size_t nr;
};

bool process_list(struct process_list *list);
void process_list_free(struct process_list *list);

/*
 * Reads a file of an open directory, size - 1 bytes at most, and ends it with a NUL. Returns its
 * length or a negative errno.
 */
ssize_t process_read(int dir, const char *file, char *text, size_t size);

#endif /* TOOL_MACHINE_PROCESSES_H */
