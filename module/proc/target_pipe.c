// SPDX-License-Identifier: GPL-2.0
/* The pipe of a target (pipe.c). Lines are as in its log, in the order in which calls ended. */
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "proc/pipe.h"
#include "proc/poller.h"
#include "proc/procfile.h"
#include "proc/target.h"
#include "proc/target_log.h"
#include "proc/target_pipe.h"

/** struct target_pipe - an open pipe; the target outlives its files */
struct target_pipe {
	struct iot_pipe pipe;
	struct iot_target *t;
};

static struct target_pipe *pipe_of(struct iot_pipe *p)
{
	return container_of(p, struct target_pipe, pipe);
}

static const struct iot_ring *ring_of(struct iot_target *t)
{
	return rcu_dereference_protected(t->indexed.ring, lockdep_is_held(&t->lock));
}

/* Skip records that are gone. @end: set to the index after the last. Return: the next index. */
static u64 next_index(struct iot_target *t, u64 *end)
{
	u64 from = iot_ring_window(ring_of(t), end) + t->shift;

	if (t->pipe_next < from) {
		t->pipe_gap += from - t->pipe_next;
		t->pipe_next = from;
	}
	return t->pipe_next - t->shift;
}

static void pass_over(struct iot_target *t)
{
	t->pipe_next++;
	t->pipe_gap++;
}

/*
 * Skip lost records. A record that is not there after all writers that were active have
 * finished was lost: see ring.c.
 */
static void settle(struct iot_target *t)
{
	u64 end, i = next_index(t, &end);

	if (i >= end || iot_ring_holds(ring_of(t), i))
		return;
	synchronize_rcu();
	while (t->pipe_next - t->shift < end &&
	       !iot_ring_holds(ring_of(t), t->pipe_next - t->shift))
		pass_over(t);
}

static bool put_line(struct iot_target *t, struct seq_file *text, const struct iot_io *r)
{
	size_t mark = text->count;

	if (t->pipe_gap)
		seq_printf(text, "# %llu events are gone: overwritten, lost or reset before they were read\n",
			   t->pipe_gap);
	iot_target_line(text, r, t->t0);
	if (!iot_pipe_fits(text, mark))
		return false;
	t->pipe_gap = 0;
	t->pipe_next++;
	return true;
}

/* Print records as lines. Context: the target's lock is held. A line is shorter than the buffer. */
static void put_lines(struct iot_target *t, struct seq_file *text, size_t wanted)
{
	struct iot_io record;

	while (text->count < wanted) {
		u64 end, i = next_index(t, &end);
		enum iot_ring_state state;

		if (i >= end)
			return;
		state = iot_ring_read(ring_of(t), i, (u64 *)&record);
		if (state == IOT_RING_PENDING)
			return;
		if (state == IOT_RING_GONE)
			pass_over(t);
		else if (!put_line(t, text, &record))
			return;
		cond_resched();
	}
}

static int fill(struct iot_pipe *p, struct seq_file *text, size_t wanted)
{
	struct iot_target *t = pipe_of(p)->t;

	if (mutex_lock_interruptible(&t->lock))
		return -ERESTARTSYS;
	settle(t);
	put_lines(t, text, wanted);
	mutex_unlock(&t->lock);
	return 0;
}

static bool has_news(struct iot_pipe *p)
{
	struct iot_target *t = pipe_of(p)->t;
	bool news;
	u64 end;

	mutex_lock(&t->lock);
	news = next_index(t, &end) < end;
	mutex_unlock(&t->lock);
	return news;
}

static bool is_gone(struct iot_pipe *p)
{
	return iot_life_has_ended(&pipe_of(p)->t->life) || iot_poller_closed();
}

static const struct iot_pipe_ops ops = {
	.fill = fill,
	.has_news = has_news,
	.is_gone = is_gone,
};

/* Records that disappeared while no pipe was open are not reported as a gap. */
static void begin(struct iot_target *t)
{
	u64 end;

	mutex_lock(&t->lock);
	if (atomic_inc_return(&t->pipes) == 1) {
		next_index(t, &end);
		t->pipe_gap = 0;
	}
	mutex_unlock(&t->lock);
}

static int pipe_open(struct inode *inode, struct file *file)
{
	struct target_pipe *tp = kzalloc(sizeof(*tp), GFP_KERNEL_ACCOUNT);

	if (!tp)
		return -ENOMEM;
	tp->t = iot_procfile_owner(inode);
	if (iot_pipe_init(&tp->pipe, &ops)) {
		kfree(tp);
		return -ENOMEM;
	}
	begin(tp->t);
	file->private_data = &tp->pipe;
	return stream_open(inode, file);
}

static int pipe_release(struct inode *inode, struct file *file)
{
	struct target_pipe *tp = pipe_of(file->private_data);

	atomic_dec(&tp->t->pipes); /* without the lock: start may hold it for long */
	iot_pipe_destroy(&tp->pipe);
	kfree(tp);
	return 0;
}

const struct iot_procfile_ops iot_target_pipe_ops = {
	.open = pipe_open,
	.release = pipe_release,
	.read = iot_pipe_read,
	.poll = iot_pipe_poll,
};
