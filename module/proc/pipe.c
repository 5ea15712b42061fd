// SPDX-License-Identifier: GPL-2.0
/*
 * The file pipe of a target or a category: events as text, as they happen.
 *
 * A read waits until there is an event, unless the file is O_NONBLOCK. It takes events until
 * their text has the requested bytes, and then completes the line. All pipes of a target or
 * category share one position, so an event is given to one of their readers. log and stream
 * still show it. Events from while no pipe was open come first, as far as they are still there.
 *
 * Lines are made in a buffer of the open file, under the locks of its target or category.
 * They are copied to the reader under the open file's own lock only. So a reader that stops, or
 * whose memory is slow, delays only readers that share its descriptor. Text that was taken and
 * not read is dropped when the file is closed; that is one buffer at most.
 *
 * Writers of events wake no task. The timer of poller.c wakes the reader, which checks again.
 * A reader waits inside a read of a file in /proc, and the removal of that file waits for
 * reads. So before a file is removed its target has ended, and all readers are woken. A read that
 * is waiting then returns 0, as at the end of a file. A later read gets EIO from /proc. A reader
 * that waits does not hold the module (core/visit.c). If the module is being unloaded when it
 * wakes up, it takes no more events, as copying them to its memory could last for ever. The data
 * of the open file is freed when it is closed, or when the file is removed while it is open; no
 * read uses it then.
 */
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "core/visit.h"
#include "proc/pipe.h"
#include "proc/poller.h"
#include "proc/procfile.h"

/**
 * iot_pipe_init() - set up an open pipe
 *
 * The buffer is charged to the reader's memory cgroup. Return: 0 or -ENOMEM.
 */
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

/** iot_pipe_destroy() - clean up a pipe that is closed; no read or poll is in it */
void iot_pipe_destroy(struct iot_pipe *p)
{
	iot_poller_put();
	mutex_destroy(&p->lock);
	kvfree(p->text.buf);
}

/**
 * iot_pipe_fits() - check that there was room for the last print, or undo the print
 * @mark:	bytes that were in @text before the print
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

/* Context: the lock is held, and nothing is left in the buffer. */
static int refill(struct iot_pipe *p, size_t wanted)
{
	p->text.from = 0;
	p->text.count = 0;
	return p->ops->fill(p, &p->text, min_t(size_t, wanted, IOT_PIPE_BYTES));
}

/* Return: bytes, 0 if there are no events, or an error. */
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

/* Wait for events without holding the module. Return: as iot_visit_resume(). */
static int wait(struct iot_visit *visit, unsigned int seen)
{
	int err;

	iot_visit_pause(visit);
	err = iot_poller_sleep(seen);
	return err ?: iot_visit_resume(visit);
}

/**
 * iot_pipe_read() - a read method; the file's private data is its struct iot_pipe
 *
 * Return: bytes; 0: the target is being removed or the module unloaded; -EIO: that was so before
 * the read began; -EAGAIN: there are no events and the file is O_NONBLOCK; -ERESTARTSYS: a
 * signal came first.
 */
ssize_t iot_pipe_read(struct file *file, char __user *buf, size_t count, struct iot_visit *visit)
{
	struct iot_pipe *p = file->private_data;

	while (count) {
		unsigned int seen = iot_poller_ticks(); /* read before looking for events */
		bool gone = p->ops->is_gone(p);
		ssize_t n = take(p, buf, count);
		int err;

		if (n || gone)
			return n;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait(visit, seen);
		if (err)
			return err == -EIO ? 0 : err;
	}
	return 0;
}

/** iot_pipe_poll() - a poll method; the file's private data is as above */
__poll_t iot_pipe_poll(struct file *file)
{
	struct iot_pipe *p = file->private_data;

	if (p->ops->is_gone(p))
		return EPOLLIN | EPOLLRDNORM | EPOLLHUP;
	return unread(p) || p->ops->has_news(p) ? EPOLLIN | EPOLLRDNORM : 0;
}
