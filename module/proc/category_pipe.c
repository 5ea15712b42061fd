// SPDX-License-Identifier: GPL-2.0
/*
 * The pipe of a category (pipe.c). Its lines are as in the log. A read merges the records that
 * all CPUs have at that moment, by the time at which events ended. An event that another CPU
 * stores during the read comes with the next read, even if it ended before a merged one.
 */
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "core/param.h"
#include "core/schema.h"
#include "record/category.h"
#include "proc/access.h"
#include "proc/category_files.h"
#include "proc/mask.h"
#include "proc/pipe.h"
#include "proc/poller.h"
#include "proc/procfile.h"
#include "proc/text.h"

enum look { NOTHING, FULL, PENDING };

/**
 * struct front - the first record of a CPU that no pipe has shown
 * @look:	whether there is such a record, and whether it is complete
 * @end:	seq after the last record that existed before the grace period
 * @record:	a copy of it
 */
struct front {
	enum look look;
	u64 end;
	u64 *record;
};

/**
 * struct category_pipe - an open pipe
 * @masked:	the opener may not see addresses
 * @process:	the process that opened it, if its events are left out, else NULL; a reference is
 *		held
 * @rings:	a reference is held while the pipe is being filled, else NULL
 * @t0:		T0 of the category, valid while the pipe is being filled
 * @records:	memory for one record of each CPU
 * @front:	by CPU
 */
struct category_pipe {
	struct iot_pipe pipe;
	struct iot_category *c;
	bool masked;
	struct pid *process;
	struct iot_rings *rings;
	u64 t0;
	u64 *records;
	struct front front[];
};

static struct category_pipe *pipe_of(struct iot_pipe *p)
{
	return container_of(p, struct category_pipe, pipe);
}

/* Skip records that are gone. @end: set to the index after the last. Return: the next index. */
static u64 next_index(struct iot_pipe_position *position, const struct iot_shard *shard, u64 *end)
{
	u64 from = iot_shard_window(shard, end) + shard->shift;

	if (position->next < from) {
		position->gap += from - position->next;
		position->next = from;
	}
	return position->next - shard->shift;
}

static void pass_over(struct iot_pipe_position *position)
{
	position->next++;
	position->gap++;
}

static void look_at(struct category_pipe *cp, unsigned int cpu)
{
	const struct iot_shard *shard = &cp->rings->shard[cpu];
	struct iot_pipe_position *position = &cp->c->pipe_position[cpu];
	struct front *front = &cp->front[cpu];
	enum iot_ring_state state;
	u64 end, i;

	for (;;) {
		front->look = NOTHING;
		i = next_index(position, shard, &end);
		if (i >= end)
			return;
		front->end = end + shard->shift;
		state = iot_ring_read(iot_shard_ring(shard), i, front->record);
		if (state != IOT_RING_GONE)
			break;
		pass_over(position);
		cond_resched();
	}
	front->look = PENDING;
	if (state == IOT_RING_PENDING)
		return;
	front->look = FULL;
	front->record[0] = position->next;
	if (cp->masked)
		iot_mask_record(cp->c->event, front->record);
}

static bool look_at_all(struct category_pipe *cp)
{
	bool pending = false;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		look_at(cp, cpu);
		pending |= cp->front[cpu].look == PENDING;
	}
	return pending;
}

/* Skip records of a CPU that are from before a grace period and still incomplete: they are lost. */
static void pass_over_lost(struct category_pipe *cp, unsigned int cpu)
{
	const struct iot_ring *ring = iot_shard_ring(&cp->rings->shard[cpu]);
	struct iot_pipe_position *position = &cp->c->pipe_position[cpu];
	u64 shift = cp->rings->shard[cpu].shift;

	while (position->next < cp->front[cpu].end &&
	       !iot_ring_holds(ring, position->next - shift)) {
		pass_over(position);
		cond_resched();
	}
	look_at(cp, cpu);
}

/* Find the front of each CPU: a complete record, or none. */
static void find_fronts(struct category_pipe *cp)
{
	unsigned int cpu;

	if (!look_at_all(cp))
		return;
	synchronize_rcu();
	for_each_possible_cpu(cpu)
		if (cp->front[cpu].look == PENDING)
			pass_over_lost(cp, cpu);
}

/* Get when an event ended. All records begin with seq, time and latency (record/categories.c). */
static u64 end_time(const struct front *front)
{
	return front->record[1] + front->record[2];
}

/* Find the CPU whose front ended first, nr_cpu_ids if no CPU has a front. */
static unsigned int find_best(const struct category_pipe *cp)
{
	unsigned int cpu, best = nr_cpu_ids;

	for_each_possible_cpu(cpu)
		if (cp->front[cpu].look == FULL &&
		    (best == nr_cpu_ids || end_time(&cp->front[cpu]) < end_time(&cp->front[best])))
			best = cpu;
	return best;
}

static bool put_line(struct category_pipe *cp, struct seq_file *text, unsigned int cpu)
{
	struct iot_pipe_position *position = &cp->c->pipe_position[cpu];
	size_t mark = text->count;

	if (position->gap)
		seq_printf(text, "# %llu events of CPU %u are gone: overwritten, lost or reset before they were read\n",
			   position->gap, cpu);
	iot_category_line(text, cp->c, cp->front[cpu].record, cp->t0);
	if (iot_pipe_fits(text, mark)) {
		position->gap = 0;
		position->next++;
		return true;
	}
	/*
	 * Two paths fit, even with each byte as \ooo. Skip a longer line: it would block the
	 * pipe.
	 */
	if (!mark)
		pass_over(position);
	return false;
}

/* In mode discard, records that were read make room for new ones. */
static void make_room(const struct category_pipe *cp)
{
	unsigned int cpu;
	u64 end;

	for_each_possible_cpu(cpu) {
		const struct iot_shard *shard = &cp->rings->shard[cpu];

		if (iot_shard_ring(shard))
			iot_ring_hide(shard->ring,
				      next_index(&cp->c->pipe_position[cpu], shard, &end));
	}
}

static void put_lines(struct category_pipe *cp, struct seq_file *text, size_t wanted)
{
	unsigned int cpu;

	find_fronts(cp);
	while (text->count < wanted) {
		cpu = find_best(cp);
		if (cpu == nr_cpu_ids || !put_line(cp, text, cpu))
			break;
		look_at(cp, cpu);
		cond_resched();
	}
	if (READ_ONCE(cp->c->discard))
		make_room(cp);
}

static int fill(struct iot_pipe *p, struct seq_file *text, size_t wanted)
{
	struct category_pipe *cp = pipe_of(p);

	if (mutex_lock_interruptible(&cp->c->pipe_lock))
		return -ERESTARTSYS;
	cp->rings = iot_category_rings(cp->c);
	if (cp->rings) {
		cp->t0 = READ_ONCE(cp->c->t0);
		put_lines(cp, text, wanted);
		iot_rings_put(cp->rings);
		cp->rings = NULL;
	}
	mutex_unlock(&cp->c->pipe_lock);
	return 0;
}

static bool has_news(struct iot_pipe *p)
{
	struct iot_category *c = pipe_of(p)->c;
	struct iot_rings *rings = iot_category_rings(c);
	bool news = false;
	unsigned int cpu;
	u64 end;

	if (!rings)
		return false;
	for_each_possible_cpu(cpu) {
		const struct iot_shard *shard = &rings->shard[cpu];

		if (iot_shard_window(shard, &end) < end)
			news |= READ_ONCE(c->pipe_position[cpu].next) < end + shard->shift;
	}
	iot_rings_put(rings);
	return news;
}

static bool is_gone(struct iot_pipe *p)
{
	return iot_life_has_ended(&pipe_of(p)->c->life) || iot_poller_closed();
}

static const struct iot_pipe_ops ops = {
	.fill = fill,
	.has_news = has_news,
	.is_gone = is_gone,
};

/* Records that disappeared while no pipe was open are not reported as a gap. */
static void begin(struct iot_category *c)
{
	struct iot_rings *rings;
	unsigned int cpu;
	u64 end;

	mutex_lock(&c->pipe_lock);
	rings = c->pipes++ ? NULL : iot_category_rings(c);
	if (rings) {
		for_each_possible_cpu(cpu) {
			next_index(&c->pipe_position[cpu], &rings->shard[cpu], &end);
			c->pipe_position[cpu].gap = 0;
		}
		iot_rings_put(rings);
	}
	mutex_unlock(&c->pipe_lock);
}

static void pipe_free(struct category_pipe *cp)
{
	kvfree(cp->records);
	kvfree(cp);
}

static struct category_pipe *pipe_alloc(struct iot_category *c)
{
	struct category_pipe *cp;
	unsigned int cpu;

	cp = kvzalloc(struct_size(cp, front, nr_cpu_ids), GFP_KERNEL_ACCOUNT);
	if (!cp)
		return NULL;
	cp->c = c;
	cp->records = kvcalloc(nr_cpu_ids, c->event->size, GFP_KERNEL_ACCOUNT);
	if (!cp->records || iot_pipe_init(&cp->pipe, &ops)) {
		pipe_free(cp);
		return NULL;
	}
	for_each_possible_cpu(cpu)
		cp->front[cpu].record = cp->records + cpu * c->event->size / sizeof(u64);
	return cp;
}

static int pipe_open(struct inode *inode, struct file *file)
{
	struct category_pipe *cp = pipe_alloc(iot_procfile_owner(inode));

	if (!cp)
		return -ENOMEM;
	cp->masked = !iot_access_addresses(file);
	begin(cp->c);
	if (!iot_param_trace_reader() && iot_category_offer_reader(cp->c, task_tgid(current)))
		cp->process = get_pid(task_tgid(current));
	file->private_data = &cp->pipe;
	return stream_open(inode, file);
}

static int pipe_release(struct inode *inode, struct file *file)
{
	struct category_pipe *cp = pipe_of(file->private_data);

	if (cp->process)
		iot_category_drop_reader(cp->c, cp->process);
	put_pid(cp->process);
	mutex_lock(&cp->c->pipe_lock);
	cp->c->pipes--;
	mutex_unlock(&cp->c->pipe_lock);
	iot_pipe_destroy(&cp->pipe);
	pipe_free(cp);
	return 0;
}

const struct iot_procfile_ops iot_category_pipe_ops = {
	.open = pipe_open,
	.release = pipe_release,
	.read = iot_pipe_read,
	.poll = iot_pipe_poll,
};
