// SPDX-License-Identifier: GPL-2.0
/*
 * The pipe of a log (pipe.c). Its lines are as in the file log, in the order in which events ended.
 * A read merges the records that all rings have at that moment. An event that another CPU stores
 * during the read comes with the next read, even if it ended before a merged one.
 */
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "core/param.h"
#include "proc/access.h"
#include "proc/log_files.h"
#include "proc/log_merge.h"
#include "proc/pipe.h"
#include "proc/poller.h"
#include "proc/procfile.h"

/**
 * struct log_pipe - an open pipe
 * @process:	the process that opened it, if its events are left out, else NULL; a reference is
 *		held
 * @merge:	reads the rings, from the position that all pipes of the log share
 */
struct log_pipe {
	struct iot_pipe pipe;
	struct iot_log *log;
	struct pid *process;
	struct iot_merge *merge;
};

static struct log_pipe *pipe_of(struct iot_pipe *p)
{
	return container_of(p, struct log_pipe, pipe);
}

static bool look_at_all(struct iot_merge *m)
{
	bool pending = false;
	unsigned int i;

	for (i = 0; i < m->nr; i++) {
		iot_merge_look(m, i, true);
		pending |= m->front[i].state == IOT_FRONT_PENDING;
	}
	return pending;
}

/* Skip records of a ring that are incomplete although a grace period has passed: they are lost. */
static void pass_over_lost(struct iot_merge *m, unsigned int i)
{
	const struct iot_shard *shard = &m->rings->shard[i];
	struct iot_front *front = &m->front[i];

	while (front->at.next < front->end &&
	       !iot_ring_holds(iot_shard_ring(shard), front->at.next - shard->shift)) {
		iot_merge_pass(&front->at);
		cond_resched();
	}
	iot_merge_look(m, i, true);
}

/* Find the front of each ring: a complete record, or none. */
static void find_fronts(struct iot_merge *m)
{
	unsigned int i;

	if (!look_at_all(m))
		return;
	synchronize_rcu();
	for (i = 0; i < m->nr; i++)
		if (m->front[i].state == IOT_FRONT_PENDING)
			pass_over_lost(m, i);
}

static void put_gap(struct iot_merge *m, struct seq_file *text, const struct iot_front *front)
{
	if (m->log->of->by_cpu)
		seq_printf(text, "# %llu events of CPU %u are gone: overwritten, lost or reset before they were read\n",
			   front->at.gap, (unsigned int)(front - m->front));
	else
		seq_printf(text, "# %llu events are gone: overwritten, lost or reset before they were read\n",
			   front->at.gap);
}

static bool put_line(struct iot_merge *m, struct seq_file *text, struct iot_front *front)
{
	size_t mark = text->count;

	if (front->at.gap)
		put_gap(m, text, front);
	m->log->shown->line(text, m->log, front->record, m->t0);
	if (iot_pipe_fits(text, mark)) {
		front->at.gap = 0;
		front->at.next++;
		return true;
	}
	/*
	 * Two paths fit, even with each byte as \ooo. Skip a longer line: it would block the
	 * pipe.
	 */
	if (!mark)
		iot_merge_pass(&front->at);
	return false;
}

static void put_lines(struct iot_merge *m, struct seq_file *text, size_t wanted)
{
	struct iot_front *best;

	find_fronts(m);
	while (text->count < wanted) {
		best = iot_merge_best(m);
		if (!best || !put_line(m, text, best))
			break;
		iot_merge_look(m, best - m->front, true);
		cond_resched();
	}
}

/* In mode discard, records that were read make room for new ones. */
static void make_room(struct iot_merge *m)
{
	unsigned int i;
	u64 end;

	for (i = 0; i < m->nr; i++) {
		const struct iot_shard *shard = &m->rings->shard[i];

		if (iot_shard_ring(shard))
			iot_ring_hide(shard->ring,
				      iot_merge_catch_up(&m->front[i].at, shard, &end));
	}
}

/* Context: the pipe lock of the log is held. */
static void put_new(struct iot_merge *m, struct seq_file *text, size_t wanted)
{
	unsigned int i;

	for (i = 0; i < m->nr; i++)
		m->front[i].at = m->log->position[i];
	put_lines(m, text, wanted);
	if (READ_ONCE(m->log->discard))
		make_room(m);
	for (i = 0; i < m->nr; i++)
		m->log->position[i] = m->front[i].at;
}

static int fill(struct iot_pipe *p, struct seq_file *text, size_t wanted)
{
	struct iot_merge *m = pipe_of(p)->merge;

	if (mutex_lock_interruptible(&m->log->pipe_lock))
		return -ERESTARTSYS;
	if (iot_merge_begin(m)) {
		put_new(m, text, wanted);
		iot_merge_end(m);
	}
	mutex_unlock(&m->log->pipe_lock);
	return 0;
}

static bool has_news(struct iot_pipe *p)
{
	struct iot_log *log = pipe_of(p)->log;
	struct iot_rings *rings = iot_log_rings(log);
	bool news = false;
	unsigned int i;
	u64 end;

	if (!rings)
		return false;
	for (i = 0; i < rings->nr; i++) {
		const struct iot_shard *shard = &rings->shard[i];

		if (iot_shard_window(shard, &end) < end)
			news |= READ_ONCE(log->position[i].next) < end + shard->shift;
	}
	iot_rings_put(rings);
	return news;
}

static bool is_gone(struct iot_pipe *p)
{
	return iot_life_has_ended(&pipe_of(p)->log->life) || iot_poller_closed();
}

static const struct iot_pipe_ops ops = {
	.fill = fill,
	.has_news = has_news,
	.is_gone = is_gone,
};

/* Records that disappeared while no pipe was open are not reported as a gap. */
static void begin(struct iot_log *log)
{
	struct iot_rings *rings;
	unsigned int i;
	u64 end;

	mutex_lock(&log->pipe_lock);
	rings = log->pipes++ ? NULL : iot_log_rings(log);
	if (rings) {
		for (i = 0; i < rings->nr; i++) {
			iot_merge_catch_up(&log->position[i], &rings->shard[i], &end);
			log->position[i].gap = 0;
		}
		iot_rings_put(rings);
	}
	mutex_unlock(&log->pipe_lock);
}

static struct log_pipe *pipe_alloc(struct iot_log *log, bool masked)
{
	struct log_pipe *lp = kzalloc(sizeof(*lp), GFP_KERNEL_ACCOUNT);

	if (!lp)
		return NULL;
	lp->log = log;
	lp->merge = iot_merge_new(log, masked);
	if (lp->merge && !iot_pipe_init(&lp->pipe, &ops))
		return lp;
	if (lp->merge)
		iot_merge_free(lp->merge);
	kfree(lp);
	return NULL;
}

static int pipe_open(struct inode *inode, struct file *file)
{
	struct log_pipe *lp = pipe_alloc(iot_procfile_owner(inode), !iot_access_addresses(file));
	struct iot_category *c;

	if (!lp)
		return -ENOMEM;
	begin(lp->log);
	c = iot_log_category(lp->log);
	if (c && !iot_param_trace_reader() && iot_category_offer_reader(c, task_tgid(current)))
		lp->process = get_pid(task_tgid(current));
	file->private_data = &lp->pipe;
	return stream_open(inode, file);
}

static int pipe_release(struct inode *inode, struct file *file)
{
	struct log_pipe *lp = pipe_of(file->private_data);

	if (lp->process)
		iot_category_drop_reader(iot_log_category(lp->log), lp->process);
	put_pid(lp->process);
	mutex_lock(&lp->log->pipe_lock);
	lp->log->pipes--;
	mutex_unlock(&lp->log->pipe_lock);
	iot_pipe_destroy(&lp->pipe);
	iot_merge_free(lp->merge);
	kfree(lp);
	return 0;
}

const struct iot_procfile_ops iot_log_pipe_ops = {
	.open = pipe_open,
	.release = pipe_release,
	.read = iot_pipe_read,
	.poll = iot_pipe_poll,
};
