// SPDX-License-Identifier: GPL-2.0
/*
 * The file pipe of a target or a category: events as text, as they come.
 *
 * A read waits until there is an event, unless the file is O_NONBLOCK, and takes what
 * there is up to the bytes that were asked for and the line that they end in. All pipes
 * of a target or category share one position, so an event is given to one of their
 * readers; log and stream show it all the same. What came while no pipe was open, and
 * is still there, comes first.
 *
 * Lines are made in a buffer of the open file, under the locks of its target or
 * category, and copied to the reader under the open file's own lock only: a reader that
 * stops, or whose memory is slow, holds up nobody but those who share its descriptor. What
 * it has taken and not read goes when the file is closed; that is one buffer at most.
 *
 * Whoever writes events wakes nobody. The timer of poller.c does, and the reader looks
 * again. It waits inside a read of a file in /proc, and removing that file waits for
 * reads: so whoever is about to remove it first says that it is gone and wakes all, and
 * a read that is waiting ends as at the end of a file. A later one gets EIO from /proc.
 * Closing, or the removal of a file that is open, frees what belongs to the open file,
 * when no read is in it.
 */
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "proc/pipe.h"
#include "proc/poller.h"

/** iot_pipe_init() - when it is opened; the reader's memory group pays. 0 or -ENOMEM */
int iot_pipe_init(struct iot_pipe *p, const struct iot_pipe_ops *ops)
{
	memset(p, 0, sizeof(*p));
	p->text.buf = kvmalloc(IOT_PIPE_BYTES, GFP_KERNEL_ACCOUNT);
	if (!p->text.buf)
		return -ENOMEM;
	p->text.size = IOT_PIPE_BYTES;
	p->ops = ops;
	mutex_init(&p->lock);
	iot_poller_get();
	return 0;
}

/** iot_pipe_destroy() - when it is closed; nobody is in a read or poll of it */
void iot_pipe_destroy(struct iot_pipe *p)
{
	iot_poller_put();
	mutex_destroy(&p->lock);
	kvfree(p->text.buf);
}

/**
 * iot_pipe_fits() - was there room for what was printed?
 * @mark:	bytes that were there before
 *
 * If not it is taken back.
 */
bool iot_pipe_fits(struct seq_file *text, size_t mark)
{
	if (!seq_has_overflowed(text))
		return true;
	text->count = mark;
	return false;
}

static size_t unread(const struct iot_pipe *p)
{
	return READ_ONCE(p->text.count) - READ_ONCE(p->text.from);
}

/* Nothing is left in the buffer. The lock is held. */
static int refill(struct iot_pipe *p, size_t wanted)
{
	p->text.from = 0;
	p->text.count = 0;
	return p->ops->fill(p, &p->text, min_t(size_t, wanted, IOT_PIPE_BYTES));
}

/* Return: bytes, 0 if nothing is there, or an error. */
static ssize_t take(struct iot_pipe *p, char __user *buf, size_t count)
{
	int err = 0;
	size_t n;

	if (mutex_lock_interruptible(&p->lock))
		return -ERESTARTSYS;
	if (!unread(p))
		err = refill(p, count);
	n = min(count, unread(p));
	if (!err && n && copy_to_user(buf, p->text.buf + p->text.from, n))
		err = -EFAULT;
	if (!err)
		p->text.from += n;
	mutex_unlock(&p->lock);
	return err ?: n;
}

/**
 * iot_pipe_read() - a read method; the file's private data is its struct iot_pipe
 *
 * Return: bytes; 0: the target or the module goes; -EAGAIN: nothing is there and the
 * file is O_NONBLOCK; -ERESTARTSYS: a signal came first.
 */
ssize_t iot_pipe_read(struct file *file, char __user *buf, size_t count, loff_t *ppos)
{
	struct iot_pipe *p = file->private_data;

	if (!count)
		return 0;
	for (;;) {
		unsigned int seen = iot_poller_ticks(); /* before the look */
		bool gone = p->ops->is_gone(p);
		ssize_t n = take(p, buf, count);

		if (n || gone)
			return n;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		n = iot_poller_sleep(seen);
		if (n)
			return n;
	}
}

/** iot_pipe_poll() - a poll method, likewise */
__poll_t iot_pipe_poll(struct file *file, struct poll_table_struct *wait)
{
	struct iot_pipe *p = file->private_data;

	iot_poller_wait(file, wait);
	if (p->ops->is_gone(p))
		return EPOLLIN | EPOLLRDNORM | EPOLLHUP;
	return unread(p) || p->ops->has_news(p) ? EPOLLIN | EPOLLRDNORM : 0;
}
