// SPDX-License-Identifier: GPL-2.0
/*
 * Work that may wait for a filesystem indefinitely: a look-up, or a release of a file's reference
 * that may be the last one. A disk or a server may stop answering at any moment, and a worker
 * cannot be killed.
 *
 * So each such piece of work has its own worker, and nothing waits for it. It is a visit (visit.c):
 * the module is not unloaded before the work has ended, and the kernel log names it.
 */
#include <linux/errno.h>
#include "core/aside.h"

/* One for each way to begin: who waits in the one keeps no worker from the other. */
static struct workqueue_struct *workers, *borrowers;

static void queue(struct iot_aside *a, struct workqueue_struct *by, work_func_t fn)
{
	INIT_WORK(&a->work, fn);
	queue_work(by, &a->work);
}

/**
 * iot_aside_begin() - have a worker do something
 * @a:		stays until iot_aside_end()
 * @fn:		calls iot_aside_end() when it has done it
 * @what:	for the message that names it: "a worker ..."
 * @name:	what follows that, or NULL; stays as long as @a
 *
 * Context: a worker. Return: 0, or -EIO and nothing is done, as the module is being unloaded.
 */
int iot_aside_begin(struct iot_aside *a, work_func_t fn, const char *what, const char *name)
{
	int err = iot_visit_begin_worker(&a->visit, what, name);

	if (!err)
		queue(a, workers, fn);
	return err;
}

/** iot_aside_lend() - as above. Context: task, inside a visit of its own, so it cannot fail */
void iot_aside_lend(struct iot_aside *a, work_func_t fn, const char *what, const char *name)
{
	iot_visit_lend(&a->visit, what, name);
	queue(a, borrowers, fn);
}

/** iot_aside_init() - at load. Return: 0 or -ENOMEM */
int iot_aside_init(void)
{
	workers = alloc_workqueue("iotracer_aside", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (!workers)
		return -ENOMEM;
	borrowers = alloc_workqueue("iotracer_release", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (borrowers)
		return 0;
	destroy_workqueue(workers);
	return -ENOMEM;
}

/** iot_aside_exit() - wait for workers that return. Context: unload, all work has ended */
void iot_aside_exit(void)
{
	destroy_workqueue(borrowers);
	destroy_workqueue(workers);
}
