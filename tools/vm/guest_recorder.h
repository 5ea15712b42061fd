/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keeps maps of the disk images of a virtual machine in its trace: from before the first event,
 * after the last, and where a trace follows another one, where a thread reads them meanwhile.
 */
#ifndef TOOL_VM_GUEST_RECORDER_H
#define TOOL_VM_GUEST_RECORDER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "record/keeper.h"
#include "vm/guest.h"
#include "vm/vm_find.h"
#include "vm/vm_find.h"

/* A trace that gets a map. */
struct guest_trace {
	int dir;		/* -1: none */
	char *name;		/* for messages */
};

struct guest_recorder {
	struct keeper keeper;
	const json_t *machine;
	struct vm_files files;
	pid_t pid;			/* of the machine */
	int *held;			/* a descriptor of each file that is deleted; else -1 */
	struct guest_images images;	/* what they were at the start; without maps */
	struct guest_trace traces[2];	/* of the thread */
	pthread_t thread;
	bool running;
	atomic_bool done;
};

/*
 * @machine lives as long as the recorder. A file that was deleted can be read only by a descriptor,
 * also when the machine has ended: from open() to close() it keeps its place on the disk. What is
 * begun is done by a thread.
 */
void guest_recorder_init(struct guest_recorder *r, const json_t *machine);

#endif /* TOOL_VM_GUEST_RECORDER_H */
