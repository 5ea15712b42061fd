// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/iotracer/<category>/log: the records of all CPUs as text, merged by the time at
 * which events ended. Each CPU records its events in this order. One record of each CPU is
 * read ahead.
 */
#include <linux/cpumask.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include "core/schema.h"
#include "record/branch.h"
#include "proc/access.h"
#include "proc/category_files.h"
#include "proc/wide_line.h"
#include "proc/mask.h"
#include "proc/procfile.h"
#include "proc/text.h"

/**
 * struct cursor - position of a log reader in the ring of one CPU
 * @next:	index of the next record to read
 * @end:	index after the last record of the view
 * @record:	the record that was read ahead, if @full
 */
struct cursor {
	u64 next;
	u64 end;
	bool full;
	u64 *record;
};

/**
 * struct log_reader - an open log; seq_file's lock serialises its use
 * @masked:	the opener may not see addresses
 * @rings:	a reference is held while there is a view, else NULL
 * @t0:		T0 of the view
 * @pos:	position in the file of the record of @best
 * @best:	the CPU whose record is next, nr_cpu_ids at the end
 * @ended:	a read has reported the end; the next one takes a new view
 * @seen:	by CPU, seq after the last record that a view has shown
 * @records:	memory for one record of each CPU
 */
struct log_reader {
	struct iot_category *c;
	bool masked;
	struct iot_rings *rings;
	u64 t0;
	loff_t pos;
	unsigned int best;
	bool ended;
	u64 *seen;
	u64 *records;
	struct cursor cursor[];
};

static void look_ahead(struct log_reader *rd, unsigned int cpu)
{
	const struct iot_shard *shard = &rd->rings->shard[cpu];
	struct cursor *cur = &rd->cursor[cpu];

	cur->full = false;
	while (!cur->full && cur->next < cur->end) {
		u64 i = cur->next++;

		if (iot_ring_read(iot_shard_ring(shard), i, cur->record) != IOT_RING_OK)
			continue;
		cur->record[0] = i + shard->shift;
		if (rd->masked)
			iot_mask_record(rd->c->event, cur->record);
		cur->full = true;
	}
	rd->seen[cpu] = cur->next + shard->shift;
}

/* Get when an event ended. All records begin with seq, time and latency (record/categories.c). */
static u64 end_time(const struct cursor *cur)
{
	return cur->record[1] + cur->record[2];
}

static void find_best(struct log_reader *rd)
{
	unsigned int cpu;

	rd->best = nr_cpu_ids;
	for_each_possible_cpu(cpu) {
		if (!rd->cursor[cpu].full)
			continue;
		if (rd->best == nr_cpu_ids ||
		    end_time(&rd->cursor[cpu]) < end_time(&rd->cursor[rd->best]))
			rd->best = cpu;
	}
}

static void drop_view(struct log_reader *rd)
{
	iot_rings_put(rd->rings);
	rd->rings = NULL;
}

/* Take a view of the present records; with @again, only of those that no view has shown yet. */
static void take_view(struct log_reader *rd, bool again)
{
	unsigned int cpu;

	drop_view(rd);
	rd->ended = false;
	rd->best = nr_cpu_ids;
	rd->rings = iot_category_rings(rd->c);
	if (!rd->rings)
		return;
	rd->t0 = READ_ONCE(rd->c->t0);
	for_each_possible_cpu(cpu) {
		const struct iot_shard *shard = &rd->rings->shard[cpu];
		struct cursor *cur = &rd->cursor[cpu];
		u64 from = iot_shard_window(shard, &cur->end);

		cur->next = from;
		if (again && rd->seen[cpu] > from + shard->shift)
			cur->next = min(rd->seen[cpu] - shard->shift, cur->end);
		look_ahead(rd, cpu);
	}
	find_best(rd);
}

static void *best_record(struct log_reader *rd)
{
	return rd->rings && rd->best < nr_cpu_ids ? rd->cursor[rd->best].record : NULL;
}

static void step(struct log_reader *rd)
{
	look_ahead(rd, rd->best);
	find_best(rd);
	rd->pos++;
}

static void *log_start(struct seq_file *m, loff_t *pos)
{
	struct log_reader *rd = m->private;

	if (*pos < rd->pos || !rd->rings) {
		take_view(rd, false);
		rd->pos = 0;
	} else if (rd->ended) {
		take_view(rd, *pos > 0);
	}
	while (rd->pos < *pos && best_record(rd)) {
		step(rd);
		cond_resched();
	}
	return best_record(rd);
}

static void *log_next(struct seq_file *m, void *v, loff_t *pos)
{
	step(m->private);
	++*pos;
	cond_resched();
	return best_record(m->private);
}

static void log_stop(struct seq_file *m, void *v)
{
}

/** iot_category_line() - print the line of an event of a category, or of a branch */
void iot_category_line(struct seq_file *m, struct iot_category *c, const void *record, u64 t0)
{
	if (c->stem)
		iot_wide_line(m, iot_branch_of(c), record, t0);
	else
		iot_text_event(m, c->of.event_id, record, t0);
}

static int log_show(struct seq_file *m, void *v)
{
	const struct log_reader *rd = m->private;

	iot_category_line(m, rd->c, v, rd->t0);
	return 0;
}

static const struct seq_operations log_seq_ops = {
	.start = log_start,
	.next = log_next,
	.stop = log_stop,
	.show = log_show,
};

static void log_free(struct log_reader *rd)
{
	drop_view(rd);
	kvfree(rd->records);
	kvfree(rd->seen);
	kvfree(rd);
}

static struct log_reader *log_alloc(struct iot_category *c)
{
	struct log_reader *rd;
	unsigned int cpu;

	rd = kvzalloc(struct_size(rd, cursor, nr_cpu_ids), GFP_KERNEL_ACCOUNT);
	if (!rd)
		return NULL;
	rd->c = c;
	rd->seen = kvcalloc(nr_cpu_ids, sizeof(u64), GFP_KERNEL_ACCOUNT);
	rd->records = kvcalloc(nr_cpu_ids, c->event->size, GFP_KERNEL_ACCOUNT);
	if (!rd->seen || !rd->records) {
		log_free(rd);
		return NULL;
	}
	for_each_possible_cpu(cpu)
		rd->cursor[cpu].record = rd->records + cpu * c->event->size / sizeof(u64);
	return rd;
}

static int log_open(struct inode *inode, struct file *file)
{
	struct log_reader *rd = log_alloc(iot_procfile_owner(inode));
	int err;

	if (!rd)
		return -ENOMEM;
	rd->masked = !iot_access_addresses(file);
	err = seq_open(file, &log_seq_ops);
	if (err)
		log_free(rd);
	else
		((struct seq_file *)file->private_data)->private = rd;
	return err;
}

static int log_release(struct inode *inode, struct file *file)
{
	log_free(((struct seq_file *)file->private_data)->private);
	return seq_release(inode, file);
}

/* A read that returns nothing reports the end: see target_log.c. */
static ssize_t log_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct seq_file *m = iocb->ki_filp->private_data;
	struct log_reader *rd = m->private;
	ssize_t n;

	if (!iov_iter_count(to))
		return 0;
	n = seq_read_iter(iocb, to);
	if (!n) {
		mutex_lock(&m->lock);
		rd->ended = true;
		mutex_unlock(&m->lock);
	}
	return n;
}

const struct iot_procfile_ops iot_category_log_ops = {
	.open = log_open,
	.release = log_release,
	.read_iter = log_read_iter,
};
