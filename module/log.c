// SPDX-License-Identifier: GPL-2.0
/*
 * The files of a target: control, log, stream and stats; its pipe is in target_pipe.c.
 *
 * The target outlives them: its folder is removed first, and removing waits for
 * whoever is in a read or write. A descriptor that stays open reads EIO then.
 *
 * log and stream show a view (view.c), taken at the first read. At its end a
 * reader gets EOF; if he reads on, a new view shows what has come since, as with
 * a file that grows. So cat ends, even if its own output is traced.
 */
#include <linux/math64.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include "escape.h"
#include "log.h"
#include "param.h"
#include "path.h"
#include "poller.h"
#include "procfile.h"
#include "schema.h"
#include "target.h"
#include "view.h"

/**
 * struct reader - an open log or stream; seq_file's lock serialises its use
 * @t:		the target
 * @view:	what is being shown
 * @base:	position of the view's first record
 * @taken:	there is a view
 * @ended:	its reader was told so; the next read takes another
 */
struct reader {
	struct iot_target *t;
	struct iot_view view;
	loff_t base;
	bool taken;
	bool ended;
};

static int take_view(struct reader *rd, loff_t pos, u64 from_seq, bool sorted)
{
	struct iot_view view = {};
	int err = iot_view_take(&view, rd->t, from_seq);

	if (!err && sorted)
		err = iot_view_sort(&view);
	if (err) {
		/* the next try begins where this one did */
		iot_view_drop(&view);
		return err;
	}
	iot_view_drop(&rd->view);
	rd->view = view;
	rd->base = pos;
	rd->taken = true;
	rd->ended = false;
	return 0;
}

/* Make sure that there is a view for a read at @pos, in records. */
static int update_view(struct reader *rd, loff_t pos, bool sorted)
{
	if (!rd->taken || (!pos && rd->ended) || pos < rd->base)
		return take_view(rd, 0, 0, sorted);
	if (rd->ended && pos >= rd->base + rd->view.nr)
		return take_view(rd, pos, rd->view.next_seq, sorted);
	return 0;
}

static struct iot_io *record_at(struct reader *rd, loff_t pos)
{
	size_t i = pos - rd->base;

	return i < rd->view.nr ? &rd->view.records[rd->view.order[i]] : NULL;
}

static void *log_start(struct seq_file *m, loff_t *pos)
{
	struct reader *rd = m->private;
	int err = update_view(rd, *pos, true);

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

/* Seconds with nine decimals. */
static void show_time(struct seq_file *m, u64 ns)
{
	u32 rest;
	u64 seconds = div_u64_rem(ns, NSEC_PER_SEC, &rest);

	seq_printf(m, "%llu.%09u", seconds, rest);
}

/** iot_log_line() - print an event; times start at @t0 */
void iot_log_line(struct seq_file *m, const struct iot_io *r, u64 t0)
{
	bool blk = r->level == IOT_LEVEL_BLK;

	show_time(m, r->time > t0 ? r->time - t0 : 0);
	seq_printf(m, ";%c;%llu;%lld;%s;", r->op == IOT_OP_WRITE ? 'W' : 'R',
		   blk ? r->sector : r->offset, max_t(s64, r->result, 0),
		   blk ? "BLK" : "VFS");
	iot_escape(m, r->comm, sizeof(r->comm), ";");
	seq_printf(m, ";%u\n", r->pid);
}

static int log_show(struct seq_file *m, void *v)
{
	const struct reader *rd = m->private;

	iot_log_line(m, v, rd->view.t0);
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
	int err = update_view(rd, *pos ? *pos - 1 : 0, false);

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
		.event = IOT_EVENT_ID_io,
		.record_size = sizeof(struct iot_io),
		.t0 = rd->view.t0,
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
	rd->t = pde_data(inode);
	return 0;
}

static int log_open(struct inode *inode, struct file *file)
{
	return reader_open(inode, file, &log_seq_ops);
}

IOT_PROCFILE_OPEN(log_open)

static int records_open(struct inode *inode, struct file *file)
{
	return reader_open(inode, file, &records_seq_ops);
}

IOT_PROCFILE_OPEN(records_open)

/*
 * A read that still had a line to deliver meets the view's end too; its reader
 * has not been told before a read gives him nothing.
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

/* Runs also when the folder is removed under an open descriptor. */
static int reader_release(struct inode *inode, struct file *file)
{
	struct reader *rd = ((struct seq_file *)file->private_data)->private;

	iot_view_drop(&rd->view);
	return seq_release_private(inode, file);
}

static const struct proc_ops log_ops = {
	.proc_open = log_open_checked,
	.proc_read_iter = reader_read_iter,
	.proc_lseek = seq_lseek,
	.proc_release = reader_release,
};

static const struct proc_ops records_ops = {
	.proc_open = records_open_checked,
	.proc_read_iter = reader_read_iter,
	.proc_lseek = seq_lseek,
	.proc_release = reader_release,
};

/* control */

static int control_show(struct seq_file *m, void *v)
{
	struct iot_target_stats stats[IOT_LEVELS];
	struct iot_target *t = iot_procfile_data(m);
	u64 overwritten, stored;

	iot_target_stats(t, stats, &overwritten);
	stored = stats[IOT_LEVEL_VFS].stored + stats[IOT_LEVEL_BLK].stored;
	mutex_lock(&t->lock);
	seq_printf(m, "%d ", t->running);
	show_time(m, t->t0);
	mutex_unlock(&t->lock);
	seq_printf(m, " %llu %llu\n", iot_target_max_events(t), stored);
	return 0;
}

static int control_line(void *data, char *line)
{
	struct iot_target *t = data;

	if (!strcmp(line, "stop")) {
		iot_target_stop(t);
		return 0;
	}
	if (!strcmp(line, "start"))
		return iot_target_start(t);
	if (strcmp(line, "reset") && strcmp(line, "timereset"))
		return -EINVAL;
	iot_target_reset(t, !strcmp(line, "timereset"));
	return 0;
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

/* stats */

static void show_level(struct seq_file *m, const char *name,
		       const struct iot_target_stats *s)
{
	seq_printf(m, "%s %llu %llu %llu %llu %llu\n", name, s->seen, s->stored,
		   s->overwritten, s->lost, s->missed);
}

static int stats_show(struct seq_file *m, void *v)
{
	struct iot_target_stats stats[IOT_LEVELS], total;
	struct iot_target *t = m->private;

	iot_target_stats(t, stats, &total.overwritten);
	total.seen = stats[0].seen + stats[1].seen;
	total.stored = stats[0].stored + stats[1].stored;
	total.lost = stats[0].lost + stats[1].lost;
	total.missed = stats[0].missed + stats[1].missed;
	seq_puts(m, "target ");
	iot_path_escape(m, t->name);
	seq_putc(m, '\n');
	seq_printf(m, "device %u:%u\n", MAJOR(t->st_dev), MINOR(t->st_dev));
	seq_printf(m, "inode %llu\n", t->st_ino);
	seq_printf(m, "generation %u\n", t->key.generation);
	seq_printf(m, "max_events %llu\n", iot_target_max_events(t));
	seq_printf(m, "memory_bytes %zu\n", iot_target_bytes(t));
	seq_puts(m, "level seen stored overwritten lost missed\n");
	show_level(m, "vfs", &stats[IOT_LEVEL_VFS]);
	show_level(m, "blk", &stats[IOT_LEVEL_BLK]);
	show_level(m, "total", &total);
	return 0;
}

IOT_PROCFILE_SHOW(stats);

static const struct iot_procfile files[] = {
	{ "control", true, &control_ops },
	{ "log", false, &log_ops },
	{ "pipe", false, &iot_target_pipe_ops },
	{ "stream", false, &records_ops },
	{ "stats", false, &stats_ops },
};

/** iot_log_create() - make a target's folder; on error nothing is left */
int iot_log_create(struct iot_target *t, struct proc_dir_entry *parent)
{
	t->dir = iot_procfile_mkdir(t->name, parent);
	if (!t->dir)
		return -ENOMEM;
	if (iot_procfile_create(files, ARRAY_SIZE(files), t->dir, t)) {
		iot_log_remove(t);
		return -ENOMEM;
	}
	return 0;
}

/**
 * iot_log_remove() - remove it, and wait for who is reading or writing there
 *
 * A read of the pipe that waits for events ends first.
 */
void iot_log_remove(struct iot_target *t)
{
	WRITE_ONCE(t->gone, true);
	iot_poller_wake();
	proc_remove(t->dir);
	t->dir = NULL;
}
