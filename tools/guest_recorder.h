/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keeps maps of the disk images of a virtual machine in its trace: from before the first event,
 * after the last, and where a trace follows another one, where a thread reads them meanwhile.
 */
#ifndef TOOL_GUEST_RECORDER_H
#define TOOL_GUEST_RECORDER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "guest.h"
#include "vm.h"

/* A trace that gets a map. */
struct guest_trace {
	int dir;		/* -1: none */
	char *name;		/* for messages */
};

struct guest_recorder {
	struct vm_files files;
	pid_t pid;			/* of the machine */
	int *held;			/* a descriptor of each file that is deleted; else -1 */
	struct guest_images images;	/* what they were at the start; without maps */
	struct guest_trace traces[2];	/* of the thread */
	pthread_t thread;
	bool running;
	atomic_bool done;
	unsigned int failed;		/* snapshots that could not be written, which was reported */
};

/*
 * @machine lives as long as the recorder. A file that was deleted can be read only by a descriptor,
 * also when the machine has ended: until the recorder is closed it keeps its place on the disk.
 */
void guest_recorder_open(struct guest_recorder *r, const json_t *machine);

/* Adds the maps to the trace with this directory, now. */
void guest_recorder_take(struct guest_recorder *r, int dir, const char *name);

/* Adds them to the trace that has ended and to the one that follows, in a thread. */
void guest_recorder_begin(struct guest_recorder *r, int old, const char *old_name, int next,
			  const char *next_name);

/* Waits for the thread. */
void guest_recorder_join(struct guest_recorder *r);
void guest_recorder_close(struct guest_recorder *r);

#endif /* TOOL_GUEST_RECORDER_H */
