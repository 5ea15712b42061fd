// SPDX-License-Identifier: GPL-2.0
/*
 * Wakes those who poll a stream. Writers of events run in any context and must
 * not wake anybody, so a timer does, every PERIOD while a stream is open; who
 * finds nothing sleeps on.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include "poller.h"

#define PERIOD	msecs_to_jiffies(20)

static DECLARE_WAIT_QUEUE_HEAD(queue);
static DEFINE_MUTEX(users_lock);
static unsigned int users;

static void tick(struct work_struct *work);
static DECLARE_DELAYED_WORK(timer, tick);

static void tick(struct work_struct *work)
{
	wake_up_interruptible_all(&queue);
	schedule_delayed_work(&timer, PERIOD);
}

/** iot_poller_get() - a stream was opened */
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
