// SPDX-License-Identifier: GPL-2.0
/*
 * The files of a category: control, error, log, stream and stats; its pipe is in
 * category_pipe.c.
 *
 * A category lives as long as the module; its folder is removed first, and that
 * waits for whoever is in a read or write.
 */
#include <linux/math64.h>
#include <linux/poll.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include "category.h"
#include "dirty.h"
#include "mask.h"
#include "param.h"
#include "paths.h"
#include "poller.h"
#include "procfile.h"
#include "refusal.h"
#include "schema.h"
#include "text.h"

/* control */

static int control_show(struct seq_file *m, void *v)
{
	struct iot_category *c = iot_procfile_data(m);
	const struct iot_filter *f;

	mutex_lock(&c->lock);
	seq_printf(m, "%s\n", c->started ? "start" : "stop");
	seq_printf(m, "size %llu\n", c->keep);
	seq_printf(m, "sample %u\n", c->sample);
	seq_printf(m, "mode %s\n", c->discard ? "discard" : "overwrite");
	f = rcu_dereference_protected(c->filter, lockdep_is_held(&c->lock));
	seq_puts(m, "filter");
	if (f)
		iot_filter_show(m, f, c->event_id);
	else
		seq_puts(m, " none");
	seq_putc(m, '\n');
	mutex_unlock(&c->lock);
	return 0;
}

static int set_size(struct iot_category *c, const char *value, struct iot_why *why)
{
	u64 keep;

	if (kstrtou64(value, 10, &keep) || !keep)
		return iot_why(why, -EINVAL, "say a number of events, 1 at least");
	if (keep == READ_ONCE(c->keep))
		return 0;
	return iot_category_resize(c, keep, why);
}

static int set_sample(struct iot_category *c, const char *value, struct iot_why *why)
{
	u32 sample;

	if (kstrtou32(value, 10, &sample) || !sample)
		return iot_why(why, -EINVAL, "say a number from 1 to 4294967295");
	iot_category_set_sample(c, sample);
	return 0;
}

static int set_mode(struct iot_category *c, const char *value, struct iot_why *why)
{
	if (!strcmp(value, "overwrite"))
		iot_category_set_discard(c, false);
	else if (!strcmp(value, "discard"))
		iot_category_set_discard(c, true);
	else
		return iot_why(why, -EINVAL, "say mode overwrite or mode discard");
	return 0;
}

static int run(void *data, char *line, struct iot_why *why)
{
	struct iot_category *c = data;

	if (!strcmp(line, "start"))
		return iot_category_start(c, 0, why);
	if (!strcmp(line, "start while-read"))
		return iot_category_start(c, current->tgid, why);
	if (!strcmp(line, "reset")) {
		iot_category_reset(c);
		return 0;
	}
	if (!strncmp(line, "size ", 5))
		return set_size(c, line + 5, why);
	if (!strncmp(line, "sample ", 7))
		return set_sample(c, line + 7, why);
	if (!strncmp(line, "mode ", 5))
		return set_mode(c, line + 5, why);
	if (!strncmp(line, "filter ", 7))
		return iot_category_set_filter(c, line + 7, why);
	if (!strcmp(line, "stop"))
		return iot_category_stop(c);
	return iot_why(why, -EINVAL,
		       "there is no such command; say start, start while-read, stop, reset, size N, sample N, mode overwrite, mode discard, filter KEY=VALUE or filter none");
}

static int control_line(void *data, char *line)
{
	struct iot_category *c = data;

	return iot_refusal_run(&c->refusal, line, c, run);
}

static int control_open(struct inode *inode, struct file *file)
{
	return iot_procfile_open(file, control_show, control_line, pde_data(inode));
}

IOT_PROCFILE_OPEN(control_open)

static const struct proc_ops control_ops = {
	.proc_open = control_open_checked,
	.proc_read_iter = seq_read_iter,
	.proc_write = iot_procfile_write,
	.proc_lseek = seq_lseek,
	.proc_release = iot_procfile_release,
};

/* error */

static int error_show(struct seq_file *m, void *v)
{
	struct iot_category *c = m->private;

	iot_refusal_show(m, &c->refusal);
	return 0;
}

IOT_PROCFILE_SHOW(error);

/* stats */

static int stats_show(struct seq_file *m, void *v)
{
	struct iot_category *c = m->private;
	struct iot_category_stats s;
	struct iot_paths_stats p;

	iot_category_stats(c, &s);
	iot_paths_stats(&p);
	seq_printf(m, "seen %llu\nstored %llu\noverwritten %llu\nlost %llu\n",
		   s.seen, s.stored, s.overwritten, s.lost);
	seq_printf(m, "missed %llu\n", s.missed);
	seq_printf(m, "cpus %u\nsize %llu\nmemory_bytes %zu\nstart_bytes %zu\n",
		   s.cpus, READ_ONCE(c->keep), s.bytes, s.start_bytes);
	seq_printf(m, "paths_entries %llu\npaths_resolved %llu\npaths_evicted %llu\npaths_missed %llu\npaths_bytes %zu\n",
		   p.entries, p.resolved, p.evicted, p.missed, p.bytes);
	return 0;
}

IOT_PROCFILE_SHOW(stats);

/* dirty */

static int dirty_show(struct seq_file *m, void *v)
{
	struct iot_dirty sum;
	int err = iot_dirty_sum(m->private, &sum);

	if (!err)
		seq_printf(m, "dirty_bytes %llu\nwriteback_bytes %llu\n", sum.dirty,
			   sum.writeback);
	return err;
}

IOT_PROCFILE_SHOW(dirty);

/*
 * log: a merge of all CPUs by the end of events, which is the order in which a
 * CPU records them. One record a CPU is looked at ahead.
 */

/**
 * struct cursor - where a reader of log is in the ring of one CPU
 * @next:	index of the next record to look at
 * @end:	where the view ends
 * @record:	looked at, if @full
 */
struct cursor {
	u64 next;
	u64 end;
	bool full;
	u64 *record;
};

/**
 * struct log_reader - an open log; seq_file's lock serialises its use
 * @masked:	who opened it may not see addresses
 * @rings:	held while there is a view, else NULL
 * @t0:		of the view
 * @pos:	position of @best
 * @best:	the CPU whose record is next, nr_cpu_ids at the end
 * @ended:	the reader was told so; the next read takes another view
 * @seen:	by CPU, seq behind what a view has shown
 * @records:	room for one a CPU
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

/* All records of categories begin with seq, time, latency. */
#define BEGINS_ALIKE(event) (offsetof(struct iot_##event, time) == sizeof(u64) && \
			     offsetof(struct iot_##event, latency) == 2 * sizeof(u64))

static_assert(BEGINS_ALIKE(fs) && BEGINS_ALIKE(fault) && BEGINS_ALIKE(request) &&
	      BEGINS_ALIKE(cache) && BEGINS_ALIKE(uring));

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
	iot_category_rings_put(rd->rings);
	rd->rings = NULL;
}

/* A view of what there is now; @again: only what no view has shown yet. */
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

static int log_show(struct seq_file *m, void *v)
{
	const struct log_reader *rd = m->private;

	iot_text_event(m, rd->c->event, v, rd->t0);
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
	struct log_reader *rd = log_alloc(pde_data(inode));
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

IOT_PROCFILE_OPEN(log_open)

static int log_release(struct inode *inode, struct file *file)
{
	log_free(((struct seq_file *)file->private_data)->private);
	return seq_release(inode, file);
}

/* A reader has been told the end by a read that gives him nothing: see log.c. */
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

static const struct proc_ops log_ops = {
	.proc_open = log_open_checked,
	.proc_read_iter = log_read_iter,
	.proc_lseek = seq_lseek,
	.proc_release = log_release,
};

/* stream */

/**
 * struct stream_reader - an open stream
 * @masked:	room for a record, if who opened it may not see addresses; else NULL
 * @lock:	one read at a time
 * @begun:	the header was shown
 * @cpu:	whose turn it is
 * @opener:	the process that opened it
 * @process:	likewise if it is left out of the events, else 0
 * @next:	by CPU, seq of the next record
 */
struct stream_reader {
	struct iot_category *c;
	u64 *masked;
	struct mutex lock;	/* of what follows */
	bool begun;
	unsigned int cpu;
	u32 opener;
	u32 process;
	u64 next[];
};

/* What is gone already is no gap of this reader's. */
static void begin_at_oldest(struct stream_reader *rd)
{
	struct iot_rings *rings = iot_category_rings(rd->c);
	unsigned int cpu;
	u64 end;

	if (!rings)
		return;
	for_each_possible_cpu(cpu)
		rd->next[cpu] = iot_shard_window(&rings->shard[cpu], &end) +
				rings->shard[cpu].shift;
	iot_category_rings_put(rings);
}

static int blocks_open(struct inode *inode, struct file *file)
{
	struct stream_reader *rd;

	rd = kvzalloc(struct_size(rd, next, nr_cpu_ids), GFP_KERNEL_ACCOUNT);
	if (!rd)
		return -ENOMEM;
	rd->c = pde_data(inode);
	if (!iot_access_addresses(file)) {
		rd->masked = kvmalloc(rd->c->event->size, GFP_KERNEL_ACCOUNT);
		if (!rd->masked) {
			kvfree(rd);
			return -ENOMEM;
		}
	}
	mutex_init(&rd->lock);
	file->private_data = rd;
	begin_at_oldest(rd);
	rd->opener = current->tgid;
	rd->process = iot_param_trace_reader() ? 0 : rd->opener;
	if (rd->process)
		iot_category_set_reader(rd->c, 0, rd->process);
	iot_poller_get();
	return nonseekable_open(inode, file);
}

IOT_PROCFILE_OPEN(blocks_open)

static int blocks_release(struct inode *inode, struct file *file)
{
	struct stream_reader *rd = file->private_data;

	iot_poller_put();
	if (rd->process)
		iot_category_set_reader(rd->c, rd->process, 0);
	iot_category_abandon(rd->c, rd->opener);
	mutex_destroy(&rd->lock);
	kvfree(rd->masked);
	kvfree(rd);
	return 0;
}

static ssize_t put_header(struct stream_reader *rd, char __user *buf)
{
	struct iot_stream_header header = {
		.magic = IOT_STREAM_MAGIC,
		.version = IOT_STREAM_VERSION,
		.header_size = sizeof(header),
		.schema = iot_schema_hash(),
		.event = rd->c->event_id,
		.record_size = rd->c->event->size,
		.t0 = READ_ONCE(rd->c->t0),
		.layout = IOT_LAYOUT_BLOCKS,
		.cpus = nr_cpu_ids,
	};

	if (copy_to_user(buf, &header, sizeof(header)))
		return -EFAULT;
	rd->begun = true;
	return sizeof(header);
}

/* Records that are copied with access to user memory opened once. */
#define BATCH	32

/*
 * Copy up to BATCH records, up to the first that is not there, straight from their
 * slots: one that was overwritten meanwhile is not counted, and is copied over.
 * Nothing is called here: the processor lets the kernel at user memory.
 * Return: how many are whole, or -EFAULT.
 */
static s64 copy_batch(const struct iot_shard *shard, u64 index, u64 nr,
		      u64 __user *to, size_t words)
{
	u64 done;
	size_t i;

	if (!user_access_begin(to, nr * words * sizeof(u64)))
		return -EFAULT;
	for (done = 0; done < nr; done++, index++, to += words) {
		const u64 *slot = iot_ring_slot(shard->ring, index);

		/* the look at the state before the copy */
		if (smp_load_acquire(slot) != iot_ring_committed(index))
			break;
		unsafe_put_user(index + shard->shift, to, fault);
		for (i = 1; i + 4 <= words; i += 4) {
			unsafe_put_user(READ_ONCE(slot[i]), to + i, fault);
			unsafe_put_user(READ_ONCE(slot[i + 1]), to + i + 1, fault);
			unsafe_put_user(READ_ONCE(slot[i + 2]), to + i + 2, fault);
			unsafe_put_user(READ_ONCE(slot[i + 3]), to + i + 3, fault);
		}
		for (; i < words; i++)
			unsafe_put_user(READ_ONCE(slot[i]), to + i, fault);
		smp_rmb(); /* the copy before the second look */
		if (READ_ONCE(*slot) != iot_ring_committed(index))
			break;
	}
	user_access_end();
	return done;

fault:
	user_access_end();
	return -EFAULT;
}

/* Likewise without their addresses. */
static s64 copy_masked(const struct stream_reader *rd, const struct iot_shard *shard,
		       u64 index, u64 nr, char __user *to)
{
	const struct iot_schema_event *event = rd->c->event;
	u64 done;

	for (done = 0; done < nr; done++, index++, to += event->size) {
		if (iot_ring_read(shard->ring, index, rd->masked) != IOT_RING_OK)
			break;
		rd->masked[0] = index + shard->shift;
		iot_mask_record(event, rd->masked);
		if (copy_to_user(to, rd->masked, event->size))
			return -EFAULT;
	}
	return done;
}

/* Likewise as many as there are. */
static s64 copy_records(const struct stream_reader *rd, const struct iot_shard *shard,
			u64 index, u64 end, char __user *buf)
{
	size_t size = rd->c->event->size;
	u64 from = index;
	s64 n;

	while (index < end) {
		u64 nr = min_t(u64, end - index, BATCH);

		if (rd->masked)
			n = copy_masked(rd, shard, index, nr, buf);
		else
			n = copy_batch(shard, index, nr, (u64 __user *)buf,
				       size / sizeof(u64));
		if (n < 0)
			return n;
		index += n;
		buf += n * size;
		if (n < nr)
			break;
		cond_resched();
	}
	return index - from;
}

/* Skip what is not there any more, or never will be. Return: how many. */
static u64 skip_gone(const struct iot_ring *ring, u64 *index, u64 end)
{
	u64 first = *index;

	while (*index < end && !iot_ring_holds(ring, *index))
		++*index;
	return *index - first;
}

/*
 * One block of a CPU's records. Records that a writer is still filling end it; in
 * the second place after an RCU grace period such a one is lost for good.
 * Return: bytes, 0 for nothing new, or -EFAULT.
 */
static ssize_t put_block(struct stream_reader *rd, const struct iot_shard *shard,
			 unsigned int cpu, char __user *buf, size_t room)
{
	size_t size = rd->c->event->size;
	struct iot_block block = { .magic = IOT_BLOCK_MAGIC, .cpu = cpu,
				   .event = rd->c->event_id };
	u64 end, index, from = iot_shard_window(shard, &end);
	s64 n;

	index = max(rd->next[cpu], from + shard->shift) - shard->shift;
	if (index < end && !iot_ring_holds(shard->ring, index)) {
		u64 begun = end;

		synchronize_rcu(); /* the writers of all records below begun have finished */
		from = iot_shard_window(shard, &end);
		index = max(index, from);
		skip_gone(shard->ring, &index, begun);
	}
	block.gap = index + shard->shift - rd->next[cpu];
	block.first = index + shard->shift;
	end = min(end, index + (room - sizeof(block)) / size);
	n = copy_records(rd, shard, index, end, buf + sizeof(block));
	if (n < 0)
		return n;
	if (!n && !block.gap)
		return 0;
	block.count = n;
	if (copy_to_user(buf, &block, sizeof(block)))
		return -EFAULT;
	rd->next[cpu] = block.first + n;
	/* mode discard: what was taken makes room */
	if (READ_ONCE(rd->c->discard) && end)
		iot_ring_hide(shard->ring, index + n);
	return sizeof(block) + n * size;
}

static ssize_t put_blocks(struct stream_reader *rd, char __user *buf, size_t count)
{
	size_t done = 0, least = sizeof(struct iot_block) + rd->c->event->size;
	struct iot_rings *rings = iot_category_rings(rd->c);
	unsigned int turn;
	ssize_t n = 0;

	if (!rings)
		return 0;
	for (turn = 0; turn < nr_cpu_ids && count - done >= least; turn++) {
		unsigned int cpu = rd->cpu;

		rd->cpu = (cpu + 1) % nr_cpu_ids;
		n = put_block(rd, &rings->shard[cpu], cpu, buf + done, count - done);
		if (n < 0)
			break;
		done += n;
		cond_resched();
	}
	iot_category_rings_put(rings);
	return done ?: n;
}

/* Whole blocks; the least that a buffer has to have is one record's block. */
static ssize_t blocks_read(struct file *file, char __user *buf, size_t count,
			   loff_t *ppos)
{
	struct stream_reader *rd = file->private_data;
	ssize_t ret = 0, n;

	if (count < sizeof(struct iot_stream_header) + sizeof(struct iot_block) +
	    rd->c->event->size)
		return -EINVAL;
	if (mutex_lock_interruptible(&rd->lock))
		return -EINTR;
	if (!rd->begun)
		ret = put_header(rd, buf);
	if (ret >= 0) {
		n = put_blocks(rd, buf + ret, count - ret);
		ret = n < 0 && !ret ? n : ret + max_t(ssize_t, n, 0);
	}
	mutex_unlock(&rd->lock);
	return ret;
}

static bool has_news(const struct stream_reader *rd, const struct iot_rings *rings)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		const struct iot_shard *shard = &rings->shard[cpu];
		u64 end;

		iot_shard_window(shard, &end);
		if (READ_ONCE(rd->next[cpu]) < end + shard->shift)
			return true;
	}
	return false;
}

static __poll_t blocks_poll(struct file *file, struct poll_table_struct *wait)
{
	struct stream_reader *rd = file->private_data;
	struct iot_rings *rings;
	bool news;

	iot_poller_wait(file, wait);
	rings = iot_category_rings(rd->c);
	news = rings && has_news(rd, rings);
	iot_category_rings_put(rings);
	return news || !READ_ONCE(rd->begun) ? EPOLLIN | EPOLLRDNORM : 0;
}

static const struct proc_ops stream_ops = {
	.proc_open = blocks_open_checked,
	.proc_read = blocks_read,
	.proc_poll = blocks_poll,
	.proc_lseek = noop_llseek,
	.proc_release = blocks_release,
};

static const struct iot_procfile files[] = {
	{ "control", true, &control_ops },
	{ "error", false, &error_ops },
	{ "log", false, &log_ops },
	{ "pipe", false, &iot_category_pipe_ops },
	{ "stream", false, &stream_ops },
	{ "stats", false, &stats_ops },
};

static const struct iot_procfile dirty_file = { "dirty", false, &dirty_ops };

/** iot_category_mkdir() - make a category's folder; goes with the root's */
int iot_category_mkdir(struct iot_category *c, struct proc_dir_entry *root)
{
	c->dir = iot_procfile_mkdir(c->name, root);
	if (!c->dir)
		return -ENOMEM;
	if (c->writeback && iot_procfile_create(&dirty_file, 1, c->dir, c))
		return -ENOMEM;
	return iot_procfile_create(files, ARRAY_SIZE(files), c->dir, c);
}
