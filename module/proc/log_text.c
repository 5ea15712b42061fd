// SPDX-License-Identifier: GPL-2.0
/*
 * The file log of a log: its records as text.
 *
 * A reader sees a view, taken at the first read. At its end it gets EOF. If it reads on, a new view
 * shows the records that came since, as for a file that grows. So cat ends, even if its own output
 * is traced. The view of a file's log is a copy of its records (log_snapshot.c). The rings of a
 * category are too large for that: its records are merged (log_merge.c) while they are read.
 */
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include "proc/access.h"
#include "proc/log_files.h"
#include "proc/log_merge.h"
#include "proc/log_snapshot.h"
#include "proc/procfile.h"

/**
 * struct reader - an open log; seq_file's lock serialises its use
 * @merge:	what merges the records, if they are not sorted
 * @best:	the record that comes next, if they are merged; NULL at the end of the view
 * @snapshot:	the copies of the records, if they are sorted
 * @pos:	position in the file: of the next record to merge, or of the snapshot's first one
 * @taken:	there is a view
 * @ended:	a read has reported the end; the next one takes a new view
 */
struct reader {
	struct iot_log *log;
	struct iot_merge *merge;
	struct iot_front *best;
	struct iot_log_snapshot snapshot;
	loff_t pos;
	bool taken;
	bool ended;
};

/* Sorted copies */

static int take_snapshot(struct reader *rd, loff_t pos, u64 from_seq)
{
	struct iot_log_snapshot snapshot = {};
	int err = iot_log_snapshot_take(&snapshot, rd->log, from_seq);

	if (!err)
		err = iot_log_snapshot_sort(&snapshot);
	if (err) {
		/* the next try starts at the same place */
		iot_log_snapshot_drop(&snapshot);
		return err;
	}
	iot_log_snapshot_drop(&rd->snapshot);
	rd->snapshot = snapshot;
	rd->pos = pos;
	rd->taken = true;
	rd->ended = false;
	return 0;
}

/* Make sure that there is a snapshot for a read at @pos. */
static int update_snapshot(struct reader *rd, loff_t pos)
{
	if (!rd->taken || (!pos && rd->ended) || pos < rd->pos)
		return take_snapshot(rd, 0, 0);
	if (rd->ended && pos >= rd->pos + rd->snapshot.nr)
		return take_snapshot(rd, pos, rd->snapshot.next_seq);
	return 0;
}

static void *copy_at(struct reader *rd, loff_t pos)
{
	size_t i = pos - rd->pos;

	return i < rd->snapshot.nr ? &rd->snapshot.records[rd->snapshot.order[i]] : NULL;
}

static void *sorted_start(struct seq_file *m, loff_t *pos)
{
	struct reader *rd = m->private;
	int err = update_snapshot(rd, *pos);

	return err ? ERR_PTR(err) : copy_at(rd, *pos);
}

static void *sorted_next(struct seq_file *m, void *v, loff_t *pos)
{
	return copy_at(m->private, ++*pos);
}

/* Merging */

/* Take a view of the present records; with @again, only of those that no view has shown yet. */
static void take_view(struct reader *rd, bool again)
{
	struct iot_merge *m = rd->merge;
	unsigned int i;

	rd->ended = false;
	rd->taken = iot_merge_begin(m);
	for (i = 0; i < m->nr; i++) {
		struct iot_front *front = &m->front[i];
		const struct iot_shard *shard;

		front->state = IOT_FRONT_NONE;
		if (!rd->taken)
			continue;
		shard = &m->rings->shard[i];
		if (!again)
			front->at.next = 0; /* the oldest record */
		iot_shard_window(shard, &front->end);
		front->end += shard->shift;
		iot_merge_look(m, i, false);
	}
	rd->best = iot_merge_best(m);
}

static void *best_record(struct reader *rd)
{
	return rd->best ? rd->best->record : NULL;
}

static void step(struct reader *rd)
{
	rd->pos++;
	rd->best->at.next++;
	iot_merge_look(rd->merge, rd->best - rd->merge->front, false);
	rd->best = iot_merge_best(rd->merge);
	cond_resched();
}

static void *merged_start(struct seq_file *m, loff_t *pos)
{
	struct reader *rd = m->private;

	if (*pos < rd->pos || !rd->taken) {
		take_view(rd, false);
		rd->pos = 0;
	} else if (rd->ended) {
		take_view(rd, *pos > 0);
	}
	while (rd->pos < *pos && rd->best)
		step(rd);
	return best_record(rd);
}

static void *merged_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	step(m->private);
	return best_record(m->private);
}

static void reader_stop(struct seq_file *m, void *v)
{
}

static int show(struct seq_file *m, void *v)
{
	struct reader *rd = m->private;

	rd->log->shown->line(m, rd->log, v, rd->merge ? rd->merge->t0 : rd->snapshot.t0);
	return 0;
}

static const struct seq_operations sorted_ops = {
	.start = sorted_start,
	.next = sorted_next,
	.stop = reader_stop,
	.show = show,
};

static const struct seq_operations merged_ops = {
	.start = merged_start,
	.next = merged_next,
	.stop = reader_stop,
	.show = show,
};

static int reader_open(struct inode *inode, struct file *file)
{
	struct iot_log *log = iot_procfile_owner(inode);
	struct iot_merge *merge = NULL;
	struct reader *rd;

	if (!log->shown->sorted) {
		merge = iot_merge_new(log, !iot_access_addresses(file));
		if (!merge)
			return -ENOMEM;
	}
	rd = __seq_open_private(file, merge ? &merged_ops : &sorted_ops, sizeof(*rd));
	if (!rd) {
		if (merge)
			iot_merge_free(merge);
		return -ENOMEM;
	}
	rd->log = log;
	rd->merge = merge;
	return 0;
}

/*
 * A read that still returns a line may also reach the end of the view. So only a read that returns
 * nothing reports the end.
 */
static ssize_t reader_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct seq_file *m = iocb->ki_filp->private_data;
	struct reader *rd = m->private;
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

/* Close the file. Also runs when the directory is removed while a descriptor is open. */
static int reader_release(struct inode *inode, struct file *file)
{
	struct reader *rd = ((struct seq_file *)file->private_data)->private;

	iot_log_snapshot_drop(&rd->snapshot);
	if (rd->merge)
		iot_merge_free(rd->merge);
	return seq_release_private(inode, file);
}

const struct iot_procfile_ops iot_log_text_ops = {
	.open = reader_open,
	.release = reader_release,
	.read_iter = reader_read_iter,
};
