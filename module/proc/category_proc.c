// SPDX-License-Identifier: GPL-2.0
/*
 * The directory of a category, with its files control, error, stats and dirty. log, stream,
 * pipe and waiting have source files of their own.
 *
 * A category lives as long as the module. Its directory is removed first, when no call on its
 * files holds the module any more.
 */
#include <linux/kernel.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include "core/refusal.h"
#include "core/schema.h"
#include "file/originator.h"
#include "file/paths.h"
#include "probe/socket_owner.h"
#include "record/categories.h"
#include "record/category.h"
#include "proc/category_files.h"
#include "proc/category_proc.h"
#include "proc/dirty.h"
#include "proc/log_files.h"
#include "proc/procfile.h"
#include "proc/text.h"

/*
 * control: its text can be written back, as the lines with T0 and with the process for which it is
 * traced (start while-read) are comments. T0 is in seconds of CLOCK_MONOTONIC, and 0 before the
 * first start.
 */

static int control_show(struct seq_file *m, void *v)
{
	struct iot_category *c = iot_log_category(iot_procfile_shown(m));
	const struct iot_filter *f;

	mutex_lock(&c->log.lock);
	seq_printf(m, "%s\n", c->started ? "start" : "stop");
	seq_printf(m, "size %llu\n", c->log.keep);
	seq_printf(m, "sample %u\n", c->sample);
	seq_printf(m, "mode %s\n", c->log.discard ? "discard" : "overwrite");
	f = rcu_dereference_protected(c->filter, lockdep_is_held(&c->log.lock));
	seq_puts(m, "filter");
	if (f)
		iot_filter_show(m, f, c->of.event_id);
	else
		seq_puts(m, " none");
	seq_puts(m, "\n# T0 ");
	iot_text_time(m, c->log.t0);
	seq_putc(m, '\n');
	if (c->started && c->while_read)
		seq_printf(m, "# while-read %d\n", pid_nr(c->while_read));
	mutex_unlock(&c->log.lock);
	return 0;
}

static int set_size(struct iot_category *c, const char *value, struct iot_why *why)
{
	u64 keep;

	if (kstrtou64(value, 10, &keep) || !keep)
		return iot_why(why, -EINVAL, "say a number of events, 1 at least");
	if (keep == READ_ONCE(c->log.keep))
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

	if (*line == '#')
		return 0;
	if (!strcmp(line, "start"))
		return iot_category_start(c, NULL, why);
	if (!strcmp(line, "start while-read"))
		return iot_category_start(c, task_tgid(current), why);
	if (!strcmp(line, "reset")) {
		iot_category_reset(c, true);
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
	struct iot_category *c = iot_log_category(data);

	return iot_refusal_run(&c->refusal, line, c, run);
}

/* error */

/** iot_category_error_show() - print the file error of a category, or of a scope */
int iot_category_error_show(struct seq_file *m, void *v)
{
	struct iot_category *c = iot_log_category(iot_procfile_shown(m));

	iot_refusal_show(m, &c->refusal);
	return 0;
}

/* stats */

static int stats_show(struct seq_file *m, void *v)
{
	struct iot_category *c = iot_log_category(iot_procfile_shown(m));
	struct iot_paths_stats p;
	struct iot_log_stats s;

	iot_log_stats(&c->log, &s);
	iot_paths_stats(&p);
	seq_printf(m, "seen %llu\nstored %llu\noverwritten %llu\nlost %llu\n",
		   s.rings.all.seen, s.rings.all.stored, s.rings.all.overwritten, s.rings.all.lost);
	seq_printf(m, "missed %llu\n", iot_category_missed(c));
	seq_printf(m, "t0_ns %llu\n", s.t0);
	seq_printf(m, "cpus %u\nsize %llu\nmemory_bytes %zu\nstart_bytes %zu\n",
		   s.rings.cpus, s.keep, s.bytes, s.start_bytes);
	seq_printf(m, "paths_entries %llu\npaths_resolved %llu\npaths_evicted %llu\npaths_missed %llu\npaths_bytes %zu\n",
		   p.entries, p.resolved, p.evicted, p.missed, p.bytes);
	if (c->traits & IOT_TRAIT_WRITEBACK)
		seq_printf(m, "originators_by_file %lu\n", iot_originator_by_file());
	if (c == &iot_category_block)
		seq_printf(m, "unattributed %lu\n", iot_originator_unattributed());
	if (c == &iot_category_conn)
		seq_printf(m, "owners_lost %lu\n", iot_socket_owners_lost());
	return 0;
}

/* dirty */

static int dirty_show(struct seq_file *m, void *v)
{
	struct iot_dirty sum;
	int err = iot_dirty_sum(iot_log_category(iot_procfile_shown(m)), &sum);

	if (!err)
		seq_printf(m, "dirty_bytes %llu\nwriteback_bytes %llu\nunknown_filesystems %u\n",
			   sum.dirty, sum.writeback, sum.unknown);
	return err;
}

static void show_line(struct seq_file *m, struct iot_log *log, const void *record, u64 t0)
{
	iot_text_event(m, log->event->id, record, t0);
}

static const struct iot_log_shown shown = {
	.of_category = true,
	.line = show_line,
};

static const struct iot_procfile files[] = {
	{ "control", .show = control_show, .line = control_line },
	{ "error", .show = iot_category_error_show },
	{ "log", .ops = &iot_log_text_ops },
	{ "pipe", .ops = &iot_log_pipe_ops },
	{ "stream", .ops = &iot_log_stream_ops },
	{ "stats", .show = stats_show },
};

static const struct iot_procfile dirty_file = { "dirty", .show = dirty_show };

static const struct iot_procfile waiting_file = { "waiting", .ops = &iot_category_waiting_ops };

static struct iot_procdir dirs[IOT_EVENT_IDS];

/** iot_category_mkdir() - make a category's directory; removing the root removes it */
int iot_category_mkdir(struct iot_category *c, struct iot_procdir *root)
{
	struct iot_procdir *dir = &dirs[c->of.event_id];
	int err;

	c->log.shown = &shown;
	err = iot_procfile_mkdir(dir, c->of.name, root, &c->log);

	if (!err && (c->traits & IOT_TRAIT_WRITEBACK))
		err = iot_procfile_create(dir, &dirty_file, 1);
	if (!err && c->probes && c->probes->waiting)
		err = iot_procfile_create(dir, &waiting_file, 1);
	return err ?: iot_procfile_create(dir, files, ARRAY_SIZE(files));
}
