// SPDX-License-Identifier: GPL-2.0
/* What the files control and stats of all targets have. Context: task, may sleep. */
#include <linux/seq_file.h>
#include "proc/target_stats.h"
#include "proc/text.h"

/** iot_target_state_show() - print the line of control: running, T0, max_events, records stored */
void iot_target_state_show(struct seq_file *m, struct iot_log *log, bool running)
{
	struct iot_log_stats stats;

	iot_log_stats(log, &stats);
	seq_printf(m, "%d ", running);
	iot_text_time(m, stats.t0);
	seq_printf(m, " %llu %llu\n", stats.keep, stats.rings.all.stored);
}

static void show_level(struct seq_file *m, const char *name, const struct iot_counts *counts,
		       u64 missed)
{
	seq_printf(m, "%s %llu %llu %llu %llu %llu\n", name, counts->seen, counts->stored,
		   counts->overwritten, counts->lost, missed);
}

/** iot_target_counts_show() - print the lines of stats with the counts of each level */
void iot_target_counts_show(struct seq_file *m, const struct iot_rings_stats *stats,
			    const u64 missed[IOT_LEVELS])
{
	seq_puts(m, "level seen stored overwritten lost missed\n");
	show_level(m, "vfs", &stats->by_class[IOT_LEVEL_VFS], missed[IOT_LEVEL_VFS]);
	show_level(m, "blk", &stats->by_class[IOT_LEVEL_BLK], missed[IOT_LEVEL_BLK]);
	show_level(m, "total", &stats->all, missed[IOT_LEVEL_VFS] + missed[IOT_LEVEL_BLK]);
}
