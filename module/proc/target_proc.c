// SPDX-License-Identifier: GPL-2.0
/*
 * The directory of a target, with its files control and stats. log, stream and pipe have
 * source files of their own. The target outlives its directory (discard.c).
 */
#include <linux/seq_file.h>
#include "core/line.h"
#include "file/path.h"
#include "record/io.h"
#include "proc/log_files.h"
#include "proc/procfile.h"
#include "proc/target.h"
#include "proc/target_proc.h"
#include "proc/target_stats.h"
#include "proc/text.h"

static struct iot_target *target_of(const struct iot_log *log)
{
	return container_of(log, struct iot_target, log);
}

static void complete_record(const struct iot_log *log, void *record)
{
	iot_io_complete(record, target_of(log)->dev);
}

static void show_line(struct seq_file *m, struct iot_log *log, const void *record, u64 t0)
{
	const struct iot_io *r = record;
	const struct iot_line line = iot_line_of_io(r);

	iot_text_line(m, &line, r->time > t0 ? r->time - t0 : 0, r->comm, r->pid);
	seq_putc(m, '\n');
}

static const struct iot_log_shown shown = {
	.sorted = true,
	.complete = complete_record,
	.line = show_line,
};

static int control_show(struct seq_file *m, void *v)
{
	struct iot_log *log = iot_procfile_shown(m);

	iot_target_state_show(m, log, READ_ONCE(target_of(log)->running));
	return 0;
}

static int control_line(void *data, char *line)
{
	struct iot_target *t = target_of(data);

	if (!strcmp(line, "stop")) {
		iot_target_stop(t);
		return 0;
	}
	if (!strcmp(line, "start"))
		return iot_target_start(t);
	if (strcmp(line, "reset") && strcmp(line, "timereset"))
		return -EINVAL;
	iot_log_reset(&t->log, !strcmp(line, "timereset"));
	return 0;
}

static int stats_show(struct seq_file *m, void *v)
{
	struct iot_log *log = iot_procfile_shown(m);
	struct iot_target *t = target_of(log);
	struct iot_log_stats stats;
	u64 missed[IOT_LEVELS];

	iot_log_stats(log, &stats);
	iot_target_missed(t, missed);
	seq_puts(m, "target ");
	iot_path_escape(m, t->name.text);
	seq_putc(m, '\n');
	iot_target_files_show(m, &t->files);
	seq_printf(m, "max_events %llu\n", stats.keep);
	seq_printf(m, "all_operations %d\n", READ_ONCE(t->indexed.all_operations));
	seq_printf(m, "memory_bytes %zu\n", sizeof(*t) + stats.bytes);
	iot_target_counts_show(m, &stats.rings, missed);
	return 0;
}

static const struct iot_procfile files[] = {
	{ "control", .show = control_show, .line = control_line },
	{ "log", .ops = &iot_log_text_ops },
	{ "pipe", .ops = &iot_log_pipe_ops },
	{ "stream", .ops = &iot_log_stream_ops },
	{ "stats", .show = stats_show },
};

/** iot_target_mkdir() - make a target's directory; after an error it may be incomplete */
int iot_target_mkdir(struct iot_target *t, struct iot_procdir *parent)
{
	t->parent = parent->entry;
	t->log.shown = &shown;
	return iot_procfile_mkdir(&t->proc.dir, t->name.text, parent, &t->log) ?:
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
