// SPDX-License-Identifier: GPL-2.0
/*
 * Directories of /proc/iotracer that are removed although tasks may be inside their files.
 *
 * The owner of a directory outlives it. After the removal, a read from an open descriptor fails
 * with EIO. The removal waits for tasks that are inside a file, and a call may take forever. So new
 * calls are refused, and a worker removes the directory when the last call has ended. Until then
 * its owner and its name are kept. Closing a file is the exception: it may begin at any time, and
 * only takes moments.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/proc_fs.h>
#include "proc/discard.h"
#include "proc/poller.h"

static struct workqueue_struct *removals;
static atomic_t nr_discarded;	/* directories that are not removed yet */

/* Context: no task is in a call on the directory's files, and none can begin but closing them. */
static void remove_dir(struct iot_discard *d)
{
	proc_remove(d->dir.entry);
	d->release(d);
	atomic_dec(&nr_discarded);
}

static void removal(struct work_struct *work)
{
	remove_dir(container_of(work, struct iot_discard, work));
}

/* The last task has left the directory. Context: atomic. */
static void last_left(struct iot_visited *at)
{
	struct iot_discard *d = container_of(at, struct iot_discard, dir.visited);

	INIT_WORK(&d->work, removal);
	queue_work(removals, &d->work);
}

/**
 * iot_discard() - remove a directory, then release its owner
 *
 * This does not wait for a task that stays inside a file: see above. A read of a pipe that waits
 * for events ends. Context: task, may sleep.
 */
void iot_discard(struct iot_discard *d, void (*release)(struct iot_discard *d))
{
	d->release = release;
	atomic_inc(&nr_discarded);
	iot_poller_wake();
	if (iot_visited_close(&d->dir.visited, last_left))
		remove_dir(d);
}

/** iot_discard_init() - set up at load. Return: 0 or -ENOMEM */
int iot_discard_init(void)
{
	removals = alloc_workqueue("iotracer_remove", WQ_UNBOUND, 0);
	return removals ? 0 : -ENOMEM;
}

/**
 * iot_discard_exit() - wait until all discarded directories are removed
 *
 * Context: unload, none is discarded any more. No call holds the module, so the tasks that are
 * still inside have been woken.
 */
void iot_discard_exit(void)
{
	while (atomic_read(&nr_discarded))
		msleep(20);
	destroy_workqueue(removals);
}
