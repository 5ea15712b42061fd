// SPDX-License-Identifier: GPL-2.0
/*
 * The directory of a target, with its files control and stats. log, stream and pipe have
 * source files of their own.
 *
 * The target outlives its directory, which is removed first. After that a read of an open
 * descriptor fails with EIO. The removal waits for tasks that are inside a file, and a read or
 * write may last for ever. So no more reads and writes may begin, and a worker removes the
 * directory when the last one has ended. Until then the target, its log and its name are kept.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include "file/path.h"
#include "proc/poller.h"
#include "proc/procfile.h"
#include "proc/target.h"
#include "proc/target_log.h"
#include "proc/target_pipe.h"
#include "proc/target_proc.h"
#include "proc/text.h"

static int control_show(struct seq_file *m, void *v)
{
	struct iot_target_stats stats[IOT_LEVELS];
	struct iot_target *t = iot_procfile_data(m);
	u64 overwritten, stored;

	iot_target_stats(t, stats, &overwritten);
	stored = stats[IOT_LEVEL_VFS].stored + stats[IOT_LEVEL_BLK].stored;
	mutex_lock(&t->lock);
	seq_printf(m, "%d ", t->running);
	iot_text_time(m, t->t0);
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
	return iot_procfile_open(file, control_show, control_line, iot_procfile_owner(inode));
}

IOT_PROCFILE_OPEN(control_open)

static const struct proc_ops control_ops = {
	.proc_open = control_open_checked,
	.proc_read_iter = iot_procfile_read_iter,
	.proc_write = iot_procfile_write,
	.proc_lseek = seq_lseek,
	.proc_release = iot_procfile_release,
};

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
	iot_path_escape(m, t->name.text);
	seq_putc(m, '\n');
	iot_target_files_show(m, &t->files);
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
	{ "log", false, &iot_target_log_ops },
	{ "pipe", false, &iot_target_pipe_ops },
	{ "stream", false, &iot_target_stream_ops },
	{ "stats", false, &stats_ops },
};

/** iot_target_mkdir() - make a target's directory; after an error it may be incomplete */
int iot_target_mkdir(struct iot_target *t, struct iot_procdir *parent)
{
	t->parent = parent->entry;
	return iot_procfile_mkdir(&t->dir, t->name.text, parent, t) ?:
	       iot_procfile_create(&t->dir, files, ARRAY_SIZE(files));
}

static struct workqueue_struct *removals;
static atomic_t nr_discarded;	/* targets whose directories are not removed yet */

/* Context: no task is in a read or write of the directory's files, and none can begin. */
static void remove_dir(struct iot_target *t)
{
	proc_remove(t->dir.entry);
	iot_target_release(t);
	atomic_dec(&nr_discarded);
}

static void removal(struct work_struct *work)
{
	remove_dir(container_of(work, struct iot_target, removal));
}

/* The last task has left the directory. Context: atomic. */
static void last_left(struct iot_visited *at)
{
	struct iot_target *t = container_of(at, struct iot_target, dir.visited);

	INIT_WORK(&t->removal, removal);
	queue_work(removals, &t->removal);
}

/**
 * iot_target_discard() - remove the directory of a target that was detached, and free both
 *
 * This does not wait for a task that stays inside a file: see above. A read of the pipe that
 * waits for events ends. Context: task, may sleep.
 */
void iot_target_discard(struct iot_target *t)
{
	atomic_inc(&nr_discarded);
	iot_poller_wake();
	if (iot_visited_close(&t->dir.visited, last_left))
		remove_dir(t);
}

/** iot_target_proc_init() - set up at load. Return: 0 or -ENOMEM */
int iot_target_proc_init(void)
{
	removals = alloc_workqueue("iotracer_remove", WQ_UNBOUND, 0);
	return removals ? 0 : -ENOMEM;
}

/**
 * iot_target_proc_exit() - wait until the directories of discarded targets are removed
 *
 * Context: unload, no target is discarded any more. No read or write holds the module, so the
 * tasks that are still inside have been woken.
 */
void iot_target_proc_exit(void)
{
	while (atomic_read(&nr_discarded))
		msleep(20);
	destroy_workqueue(removals);
}
