// SPDX-License-Identifier: GPL-2.0
/*
 * Wakes tasks that poll a stream or a pipe, or wait in a read of a pipe. Writers of events
 * run in any context and must not wake tasks. So a timer does, every PERIOD while a stream
 * or pipe is open. A task that finds nothing new goes back to sleep.
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

/** iot_poller_wake() - wake all waiting tasks, which then check for events */
void iot_poller_wake(void)
{
	atomic_inc(&ticks);
	wake_up_interruptible_all(&queue);
}

/** iot_poller_ticks() - get the count for iot_poller_sleep(), before checking for events */
unsigned int iot_poller_ticks(void)
{
	return atomic_read_acquire(&ticks);
}

/**
 * iot_poller_sleep() - sleep until there may be something new
 * @seen:	iot_poller_ticks() from before the check that found nothing
 *
 * Context: task, with a file open for which iot_poller_get() was called. Return: 0 or
 * -ERESTARTSYS.
 */
int iot_poller_sleep(unsigned int seen)
{
	return wait_event_interruptible(queue, atomic_read(&ticks) != seen);
}

/** iot_poller_close() - end reads that wait, as the module is being unloaded */
void iot_poller_close(void)
{
	WRITE_ONCE(closed, true);
	iot_poller_wake();
}

/**
 * iot_poller_closed() - check whether reads that wait have to end
 *
 * They also have to while a task tries to unload the module: unloading waits for redirected
 * calls in flight, and a read of a file in /proc may be one.
 */
bool iot_poller_closed(void)
{
	return READ_ONCE(closed) || READ_ONCE(iot_redirect_closed);
}

/** iot_poller_get() - count an opened stream or pipe; the first one starts the timer */
void iot_poller_get(void)
{
	mutex_lock(&users_lock);
	if (!users++)
		schedule_delayed_work(&timer, PERIOD);
	mutex_unlock(&users_lock);
}

/** iot_poller_put() - uncount a closed one; the last stops the timer and waits for it */
void iot_poller_put(void)
{
	mutex_lock(&users_lock);
	if (!--users)
		cancel_delayed_work_sync(&timer);
	mutex_unlock(&users_lock);
}

/**
 * iot_poller_exit() - remove tasks that still poll removed files
 *
 * Such a task has an entry in our queue. poll(2) removes its entry when it wakes up, and finds
 * the file gone. epoll removes its entry on POLLFREE (fs/eventpoll.c). RCU protects against
 * epoll removing the entry itself at the same time. Context: task, sleeps; no file can be polled
 * any more.
 */
void iot_poller_exit(void)
{
	/* no task can join the queue, so checking it too early only costs another round */
	while (waitqueue_active(&queue)) {
		__wake_up(&queue, TASK_NORMAL, 0, poll_to_key(EPOLLHUP | POLLFREE));
		fsleep(1000);
	}
	synchronize_rcu();
	/* wait until the tasks that removed their entries have released the lock */
	spin_lock_irq(&queue.lock);
	spin_unlock_irq(&queue.lock);
}

/** iot_poller_wait() - wait for events, for a poll method */
void iot_poller_wait(struct file *file, struct poll_table_struct *wait)
{
	poll_wait(file, &queue, wait);
}
