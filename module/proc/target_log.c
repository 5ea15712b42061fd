// SPDX-License-Identifier: GPL-2.0
/*
 * The log and the stream of a target: the records in its ring, as text and in binary.
 *
 * Both show a snapshot (log_snapshot.c), taken at the first read. At its end a reader gets EOF. If
 * it reads on, a new snapshot shows the records that came since, as for a file that grows. So cat
 * ends, even if its own output is traced.
 */
#include <linux/seq_file.h>
#include <linux/uio.h>
#include "core/line.h"
#include "core/schema.h"
#include "proc/log_snapshot.h"
#include "proc/procfile.h"
#include "proc/target.h"
#include "proc/target_log.h"
#include "proc/text.h"

/**
 * struct reader - an open log or stream; seq_file's lock serialises its use
 * @t:		the target
 * @snapshot:	what is being shown
 * @base:	position in the file of the snapshot's first record
 * @taken:	there is a snapshot
 * @ended:	a read has reported the end; the next one takes a new snapshot
 */
struct reader {
	struct iot_target *t;
	struct iot_log_snapshot snapshot;
	loff_t base;
	bool taken;
	bool ended;
};

static int take_snapshot(struct reader *rd, loff_t pos, u64 from_seq, bool sorted)
{
	struct iot_log_snapshot snapshot = {};
	int err = iot_log_snapshot_take(&snapshot, rd->t, from_seq);

	if (!err && sorted)
		err = iot_log_snapshot_sort(&snapshot);
	if (err) {
		/* the next try starts at the same place */
		iot_log_snapshot_drop(&snapshot);
		return err;
	}
	iot_log_snapshot_drop(&rd->snapshot);
	rd->snapshot = snapshot;
	rd->base = pos;
	rd->taken = true;
	rd->ended = false;
	return 0;
}

/* Make sure that there is a snapshot for a read at @pos, in records. */
static int update_snapshot(struct reader *rd, loff_t pos, bool sorted)
{
	if (!rd->taken || (!pos && rd->ended) || pos < rd->base)
		return take_snapshot(rd, 0, 0, sorted);
	if (rd->ended && pos >= rd->base + rd->snapshot.nr)
		return take_snapshot(rd, pos, rd->snapshot.next_seq, sorted);
	return 0;
}

static struct iot_io *record_at(struct reader *rd, loff_t pos)
{
	size_t i = pos - rd->base;

	return i < rd->snapshot.nr ? &rd->snapshot.records[rd->snapshot.order[i]] : NULL;
}

static void *log_start(struct seq_file *m, loff_t *pos)
{
	struct reader *rd = m->private;
	int err = update_snapshot(rd, *pos, true);

	if (err)
		return ERR_PTR(err);
	return record_at(rd, *pos);
}

static void *log_next(struct seq_file *m, void *v, loff_t *pos)
{
	return record_at(m->private, ++*pos);
}

static void reader_stop(struct seq_file *m, void *v)
{
}

/** iot_target_line() - print the line of an event, with times relative to @t0 */
void iot_target_line(struct seq_file *m, const struct iot_io *r, u64 t0)
{
	const struct iot_line line = iot_line_of_io(r);

	iot_text_line(m, &line, r->time > t0 ? r->time - t0 : 0, r->comm, r->pid);
	seq_putc(m, '\n');
}

static int log_show(struct seq_file *m, void *v)
{
	const struct reader *rd = m->private;

	iot_target_line(m, v, rd->snapshot.t0);
	return 0;
}

static const struct seq_operations log_seq_ops = {
	.start = log_start,
	.next = log_next,
	.stop = reader_stop,
	.show = log_show,
};

/* The stream: position 0 is the header, position i + 1 is record i. */

static void *records_start(struct seq_file *m, loff_t *pos)
{
	struct reader *rd = m->private;
	int err = update_snapshot(rd, *pos ? *pos - 1 : 0, false);

	if (err)
		return ERR_PTR(err);
	if (!*pos)
		return SEQ_START_TOKEN;
	return record_at(rd, *pos - 1);
}

static void *records_next(struct seq_file *m, void *v, loff_t *pos)
{
	return record_at(m->private, (*pos)++);
}

static void show_header(struct seq_file *m)
{
	const struct reader *rd = m->private;
	struct iot_stream_header header = {
		.magic = IOT_STREAM_MAGIC,
		.version = IOT_STREAM_VERSION,
		.header_size = sizeof(header),
		.schema = iot_schema_hash(),
		.event = IOT_EVENT_ID_IO,
		.record_size = sizeof(struct iot_io),
		.t0 = rd->snapshot.t0,
	};

	seq_write(m, &header, sizeof(header));
}

static int records_show(struct seq_file *m, void *v)
{
	if (v == SEQ_START_TOKEN)
		show_header(m);
	else
		seq_write(m, v, sizeof(struct iot_io));
	return 0;
}

static const struct seq_operations records_seq_ops = {
	.start = records_start,
	.next = records_next,
	.stop = reader_stop,
	.show = records_show,
};

static int reader_open(struct inode *inode, struct file *file,
		       const struct seq_operations *ops)
{
	struct reader *rd = __seq_open_private(file, ops, sizeof(*rd));

	if (!rd)
		return -ENOMEM;
	rd->t = iot_procfile_owner(inode);
	return 0;
}

static int log_open(struct inode *inode, struct file *file)
{
	return reader_open(inode, file, &log_seq_ops);
}

static int records_open(struct inode *inode, struct file *file)
{
	return reader_open(inode, file, &records_seq_ops);
}

/*
 * A read that still returns a line may also reach the end of the snapshot. So only a read that
 * returns nothing reports the end.
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
	return seq_release_private(inode, file);
}

const struct iot_procfile_ops iot_target_log_ops = {
	.open = log_open,
	.release = reader_release,
	.read_iter = reader_read_iter,
};

const struct iot_procfile_ops iot_target_stream_ops = {
	.open = records_open,
	.release = reader_release,
	.read_iter = reader_read_iter,
};
