/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stores maps of a VM's disk images in its trace: read before the first event, after the last, and,
 * by a thread, where one trace follows another.
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

/* A trace into which the thread writes maps. */
struct guest_trace {
	int dir;		/* -1: none */
	char *name;		/* for messages */
};

struct guest_recorder {
	struct keeper keeper;
	const json_t *machine;
	struct vm_files files;
	pid_t pid;			/* of the VM */
	int *held;			/* descriptors of deleted files; -1 for others */
	struct guest_images images;	/* as they were at the start; without maps */
	struct guest_trace traces[2];	/* of the thread */
	pthread_t thread;
	bool running;
	atomic_bool done;
};

/*
 * @machine must outlive the recorder. Deleted files are held open from open() to close(), so that they
 * can be read after the VM has ended; until then their space is not freed. begin() starts a
 * thread.
 */
void guest_recorder_init(struct guest_recorder *r, const json_t *machine);

#endif /* TOOL_VM_GUEST_RECORDER_H */
