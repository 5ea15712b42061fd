// SPDX-License-Identifier: GPL-2.0
/*
 * The directory of a target, with its files control and stats. log, stream and pipe have
 * source files of their own. The target outlives its directory (discard.c).
 */
#include <linux/seq_file.h>
#include "file/path.h"
#include "proc/procfile.h"
#include "proc/target.h"
#include "proc/target_log.h"
#include "proc/target_pipe.h"
#include "proc/target_proc.h"
#include "proc/text.h"

static int control_show(struct seq_file *m, void *v)
{
	struct iot_target_stats stats[IOT_LEVELS];
	struct iot_target *t = iot_procfile_shown(m);
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

static void show_level(struct seq_file *m, const char *name,
		       const struct iot_target_stats *s)
{
	seq_printf(m, "%s %llu %llu %llu %llu %llu\n", name, s->seen, s->stored,
		   s->overwritten, s->lost, s->missed);
}

static int stats_show(struct seq_file *m, void *v)
{
	struct iot_target_stats stats[IOT_LEVELS], total;
	struct iot_target *t = iot_procfile_shown(m);

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
	seq_printf(m, "all_operations %d\n", READ_ONCE(t->indexed.all_operations));
	seq_printf(m, "memory_bytes %zu\n", iot_target_bytes(t));
	seq_puts(m, "level seen stored overwritten lost missed\n");
	show_level(m, "vfs", &stats[IOT_LEVEL_VFS]);
	show_level(m, "blk", &stats[IOT_LEVEL_BLK]);
	show_level(m, "total", &total);
	return 0;
}

static const struct iot_procfile files[] = {
	{ "control", .show = control_show, .line = control_line },
	{ "log", .ops = &iot_target_log_ops },
	{ "pipe", .ops = &iot_target_pipe_ops },
	{ "stream", .ops = &iot_target_stream_ops },
	{ "stats", .show = stats_show },
};

/** iot_target_mkdir() - make a target's directory; after an error it may be incomplete */
int iot_target_mkdir(struct iot_target *t, struct iot_procdir *parent)
{
	t->parent = parent->entry;
	return iot_procfile_mkdir(&t->proc.dir, t->name.text, parent, t) ?:
	       iot_procfile_create(&t->proc.dir, files, ARRAY_SIZE(files));
}

static void release(struct iot_discard *d)
{
	iot_target_release(container_of(d, struct iot_target, proc));
}

/** iot_target_discard() - remove the directory of a target that was detached, and free both */
void iot_target_discard(struct iot_target *t)
{
	iot_discard(&t->proc, release);
}
