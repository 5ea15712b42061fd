/* SPDX-License-Identifier: GPL-2.0 */
/* What the files control and stats of all targets have: of files, devices and scopes. */
#ifndef IOT_TARGET_STATS_H
#define IOT_TARGET_STATS_H

#include "record/log.h"
#include "uapi/iotracer.h"

struct seq_file;

void iot_target_state_show(struct seq_file *m, struct iot_log *log, bool running);
void iot_target_counts_show(struct seq_file *m, const struct iot_rings_stats *stats,
			    const u64 missed[IOT_LEVELS]);

#endif /* IOT_TARGET_STATS_H */
