// SPDX-License-Identifier: GPL-2.0
/*
 * Wakes those who poll a stream or a pipe, or wait in a read of a pipe. Writers of events
 * run in any context and must not wake anybody, so a timer does, every PERIOD while one
 * is open; who finds nothing sleeps on.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include "hook/redirect.h"
#include "proc/poller.h"

#define PERIOD	msecs_to_jiffies(20)

static DECLARE_WAIT_QUEUE_HEAD(queue);
static DEFINE_MUTEX(users_lock);
static unsigned int users;
static atomic_t ticks;
static bool closed;

static void tick(struct work_struct *work);
static DECLARE_DELAYED_WORK(timer, tick);

static void tick(struct work_struct *work)
{
	iot_poller_wake();
	schedule_delayed_work(&timer, PERIOD);
}

/** iot_poller_wake() - let all who wait look again */
void iot_poller_wake(void)
{
	atomic_inc(&ticks);
	wake_up_interruptible_all(&queue);
}

/** iot_poller_ticks() - for iot_poller_sleep(); what is looked at afterwards is newer */
unsigned int iot_poller_ticks(void)
{
	return atomic_read_acquire(&ticks);
}

/**
 * iot_poller_sleep() - until somebody may have something new
 * @seen:	iot_poller_ticks() from before the look that found nothing
 *
 * Context: task, which holds a file that did iot_poller_get(). Return: 0 or
 * -ERESTARTSYS.
 */
int iot_poller_sleep(unsigned int seen)
{
	return wait_event_interruptible(queue, atomic_read(&ticks) != seen);
}

/** iot_poller_close() - the module goes: who waits in a read has to leave */
void iot_poller_close(void)
{
	WRITE_ONCE(closed, true);
	iot_poller_wake();
}

/**
 * iot_poller_closed() - has who waits in a read to leave?
 *
 * Also where somebody tries to unload the module: that waits for calls that are
 * redirected, and a read of a file in /proc may be one.
 */
bool iot_poller_closed(void)
{
	return READ_ONCE(closed) || READ_ONCE(iot_redirect_closed);
}

/** iot_poller_get() - a stream or pipe was opened */
void iot_poller_get(void)
{
	mutex_lock(&users_lock);
	if (!users++)
		schedule_delayed_work(&timer, PERIOD);
	mutex_unlock(&users_lock);
}

/** iot_poller_put() - it was closed; after the last one no timer is left */
void iot_poller_put(void)
{
	mutex_lock(&users_lock);
	if (!--users)
		cancel_delayed_work_sync(&timer);
	mutex_unlock(&users_lock);
}

/**
 * iot_poller_exit() - send those away who still poll what is there no more
 *
 * Their entries are in a queue of ours: poll(2) takes them off once it is awake, and
 * finds the file gone; epoll does so for POLLFREE (fs/eventpoll.c), also at once where
 * it is about to do it itself, which RCU covers. Context: task, sleeps; no file is left
 * that can be polled.
 */
void iot_poller_exit(void)
{
	/* nobody can join them, so a late look is only one round more */
	while (waitqueue_active(&queue)) {
		__wake_up(&queue, TASK_NORMAL, 0, poll_to_key(EPOLLHUP | POLLFREE));
		fsleep(1000);
	}
	synchronize_rcu();
	/* who was seen to be off has let go of the lock */
	spin_lock_irq(&queue.lock);
	spin_unlock_irq(&queue.lock);
}

/** iot_poller_wait() - for a poll method */
void iot_poller_wait(struct file *file, struct poll_table_struct *wait)
{
	poll_wait(file, &queue, wait);
}
