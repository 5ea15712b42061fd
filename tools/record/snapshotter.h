/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes snapshots while a trace is recorded: of the system at the start, of files at the start, at
 * the end and in between, of processes at the start and in between.
 *
 * It is a thread of the recorder, so that it ends with the recorder, and so that the module leaves
 * its I/O out of the trace. It has the lowest priority for CPUs and disks, and shares nothing with
 * the threads that record.
 */
#ifndef TOOL_RECORD_SNAPSHOTTER_H
#define TOOL_RECORD_SNAPSHOTTER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "machine/processes.h"
#include "machine/snapshot.h"

#define SNAPSHOTTER_FS_S	3600
#define SNAPSHOTTER_PROCESS_S	300

struct snapshotter {
	/* set before the thread is started */
	struct snapshot_fs fs;
	double fs_interval, process_interval;	/* seconds; 0: only at the start, and the end */

	struct snapshot snapshot;
	char *where;
	struct processes processes;
	__u64 next_fs, next_process;	/* CLOCK_BOOTTIME ns; 0: none */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t change;
	bool running;
	bool finish;			/* make the last snapshots; protected by @lock */
	atomic_bool cancelled;
	atomic_bool ready, done;	/* the first snapshots are made; all are */
	unsigned int nr_fs, nr_process, nr_system, failed;
};

/*
 * Starts with the first snapshots, in the directory of a trace. @anonymizer may be NULL. Returns
 * an exit code; errors are reported.
 */
int snapshotter_start(struct snapshotter *s, int trace, const char *name,
		      const struct anonymizer *anonymizer);

/* Makes the thread take the last snapshots and end. Does not wait. */
void snapshotter_finish(struct snapshotter *s);

/* Makes the thread delete unfinished snapshots and end. Does not wait. */
void snapshotter_cancel(struct snapshotter *s);

/* Waits for the thread's end, after one of the two above. May be called again. */
void snapshotter_join(struct snapshotter *s);

#endif /* TOOL_RECORD_SNAPSHOTTER_H */
