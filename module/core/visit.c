// SPDX-License-Identifier: GPL-2.0
/*
 * The tasks that are inside calls on the files in /proc/iotracer: open, read, write, lseek, poll
 * and close.
 *
 * Such a task may block indefinitely: while it copies to or from its own memory, which userfaultfd
 * or a FUSE server may never provide, or while it waits for a filesystem, or for a lock of another
 * task that does. Removing a file in /proc waits for the tasks inside. So no file is removed while
 * such a task may be inside:
 *
 * - The task holds a reference to the module, so the kernel refuses to unload it (EAGAIN). Where
 *   delete_module(2) is hooked, hook/unload.c asks here first, and names the task.
 * - The task is counted in its directory. A directory is closed before it is removed: tasks that
 *   enter then get EIO, and the directory is removed when the last task inside has left.
 *
 * A task that waits for events pauses its visit: it does not hold the module, and is woken before
 * its directory is removed or the module unloaded.
 *
 * At load, no task may enter before everything exists, so that loading can fail until then.
 *
 * A worker of ours that may wait for a filesystem is a visit without a directory. So unloading is
 * refused while it waits, and the kernel log names its work.
 */
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include "core/param.h"
#include "core/visit.h"

#define STEP_MS		10	/* between two checks */
#define STOP_MS		50	/* for which iot_visits_stop() keeps tasks out */
#define CLOSE_MS	50	/* for which iot_visited_close() waits */
#define MAX_SHOWN	256	/* bytes of a name that the log shows */

static DEFINE_SPINLOCK(lock);	/* protects what follows, and each struct iot_visited */
static LIST_HEAD(visits);
static bool allowed;	/* loading has succeeded */
static bool stopped;	/* no task may take hold of the module */
static const struct iot_visits_ops *ops;
static struct iot_visited nowhere;	/* of workers; never closed */

/*
 * Take a reference to the module. Waits while tasks are kept out: for STOP_MS, or until
 * unloading has succeeded or failed.
 */
static int hold(struct iot_visit *v)
{
	bool wait;

	do {
		spin_lock(&lock);
		wait = stopped && module_is_live(THIS_MODULE);
		v->holds = !wait && try_module_get(THIS_MODULE);
		if (v->holds)
			list_add_tail(&v->list, &visits);
		spin_unlock(&lock);
		if (!wait)
			break;
		msleep_interruptible(STEP_MS);
	} while (!signal_pending(current));
	if (v->holds)
		return 0;
	return wait ? -ERESTARTSYS : -EIO;
}

static int begin(struct iot_visit *v, struct iot_visited *at)
{
	bool closed;
	int err;

	v->at = at;
	v->task = current;
	v->since = jiffies;
	v->holds = false;
	spin_lock(&lock);
	closed = at->left || !allowed;
	if (!closed)
		at->nr++;
	spin_unlock(&lock);
	if (closed)
		return -EIO;
	err = hold(v);
	if (err)
		iot_visit_end(v);
	return err;
}

/**
 * iot_visit_begin() - begin a call on a file
 * @v:		on the stack of current
 * @at:		the directory of the file; stays until iot_visit_end()
 * @file:	the file
 *
 * Context: task, may sleep.
 * Return: 0; -EIO if the file is being removed, like from the kernel after that; -ERESTARTSYS.
 */
int iot_visit_begin(struct iot_visit *v, struct iot_visited *at, const struct file *file)
{
	v->file = file;
	return begin(v, at);
}

/**
 * iot_visit_begin_worker() - begin what a worker does that may never end
 * @v:		stays until iot_visit_end()
 * @what:	for the message that names it: "a worker ..."
 * @name:	what follows that, or NULL; stays as long as @v
 *
 * Context: a worker. Return: 0, or -EIO if the module is being unloaded.
 */
int iot_visit_begin_worker(struct iot_visit *v, const char *what, const char *name)
{
	v->file = NULL;
	v->what = what;
	v->name = name;
	return begin(v, &nowhere);
}

/**
 * iot_visit_lend() - as above, for a worker that current has yet to start
 *
 * Context: task, inside a visit of its own: so the module stays, and this cannot fail. The worker
 * calls iot_visit_end().
 */
void iot_visit_lend(struct iot_visit *v, const char *what, const char *name)
{
	v->at = &nowhere;
	v->task = NULL;
	v->file = NULL;
	v->what = what;
	v->name = name;
	v->since = jiffies;
	v->holds = true;
	__module_get(THIS_MODULE);
	spin_lock(&lock);
	nowhere.nr++;
	list_add_tail(&v->list, &visits);
	spin_unlock(&lock);
}

/* Context: the lock is held. Once the list is empty, no task has a reference to the module. */
static void let_go(struct iot_visit *v)
{
	if (!v->holds)
		return;
	v->holds = false;
	module_put(THIS_MODULE);
	list_del(&v->list);
}

/** iot_visit_pause() - let go of the module, to wait for events. Context: task */
void iot_visit_pause(struct iot_visit *v)
{
	spin_lock(&lock);
	let_go(v);
	spin_unlock(&lock);
}

/**
 * iot_visit_resume() - undo iot_visit_pause()
 *
 * Context: task, may sleep. Return: 0; -EIO if the module is being unloaded; -ERESTARTSYS. The
 * visit goes on in any case.
 */
int iot_visit_resume(struct iot_visit *v)
{
	v->since = jiffies;
	return hold(v);
}

/**
 * iot_visit_end() - end a call on a file
 *
 * The caller is still inside a call of /proc, which keeps the module's text. Context: task.
 */
void iot_visit_end(struct iot_visit *v)
{
	struct iot_visited *at = v->at;
	void (*left)(struct iot_visited *at);

	spin_lock(&lock);
	let_go(v);
	left = --at->nr ? NULL : at->left;
	spin_unlock(&lock);
	if (left)
		left(at); /* may free it */
}

static void do_nothing(struct iot_visited *at)
{
}

/**
 * iot_visited_close() - let no more tasks into a directory, and wait briefly for those inside
 * @left:	called when the last has left; must not sleep
 *
 * Context: task, sleeps for CLOSE_MS at most.
 * Return: true if no task is inside: @left will not be called.
 */
bool iot_visited_close(struct iot_visited *at, void (*left)(struct iot_visited *at))
{
	unsigned int waited;
	bool empty;

	spin_lock(&lock);
	at->left = do_nothing;
	spin_unlock(&lock);
	for (waited = 0; READ_ONCE(at->nr) && waited < CLOSE_MS; waited++)
		fsleep(USEC_PER_MSEC);
	spin_lock(&lock);
	empty = !at->nr;
	if (!empty)
		at->left = left;
	spin_unlock(&lock);
	return empty;
}

/** iot_visits_begin() - let tasks in from now on. Context: load, nothing can fail any more */
void iot_visits_begin(void)
{
	spin_lock(&lock);
	allowed = true;
	spin_unlock(&lock);
}

/** iot_visits_bind() - set what is called when unloading begins, and when it has failed; or NULL */
void iot_visits_bind(const struct iot_visits_ops *new)
{
	WRITE_ONCE(ops, new);
}

static void allow(void)
{
	WRITE_ONCE(stopped, false);
}

/**
 * iot_visits_stop() - keep tasks out, and wait briefly for those inside
 *
 * So a stream of new tasks cannot keep the module loaded. Tasks that are kept out wait.
 * Context: task, sleeps for STOP_MS at most.
 * Return: true if no task holds the module; tasks are then kept out until iot_visits_go_on(). If
 * false, tasks are let in again; it may be called again, or iot_visits_go_on().
 */
bool iot_visits_stop(void)
{
	const struct iot_visits_ops *o = READ_ONCE(ops);
	unsigned int waited;

	if (o && !o->stop())
		return false;
	spin_lock(&lock);
	WRITE_ONCE(stopped, true);
	spin_unlock(&lock);
	for (waited = 0; waited < STOP_MS; waited += STEP_MS) {
		if (list_empty_careful(&visits))
			return true;
		msleep(STEP_MS);
	}
	allow();
	return false;
}

/** iot_visits_go_on() - undo iot_visits_stop(): the module is not unloaded. Context: task */
void iot_visits_go_on(void)
{
	const struct iot_visits_ops *o = READ_ONCE(ops);

	allow();
	if (o)
		o->go_on();
}

/**
 * iot_visits_name() - report the tasks that have held the module for long
 * @most:	largest number of tasks to name
 *
 * Context: task. Return: number of such tasks.
 */
unsigned int iot_visits_name(unsigned int most)
{
	const struct iot_visit *v;
	unsigned int n = 0;

	spin_lock(&lock);
	list_for_each_entry(v, &visits, list) {
		if (time_before(jiffies, v->since + msecs_to_jiffies(STOP_MS)) || n++ >= most)
			continue;
		if (!v->file) {
			pr_err("cannot be unloaded yet: %s%s%*pE; it has to end first\n", v->what,
			       v->name ? " " : "",
			       v->name ? (int)strnlen(v->name, MAX_SHOWN) : 0, v->name);
			continue;
		}
		pr_err("cannot be unloaded yet: %*pE (process %d, thread %d) is inside a call on /proc%pD4; it has to return, or be killed, first\n",
		       (int)strnlen(v->task->comm, sizeof(v->task->comm)), v->task->comm,
		       task_tgid_nr(v->task), task_pid_nr(v->task), v->file);
	}
	spin_unlock(&lock);
	return n;
}
