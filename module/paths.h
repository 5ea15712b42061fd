/* SPDX-License-Identifier: GPL-2.0 */
/* Paths that records name by number: resolved once, kept in a bounded table. */
#ifndef IOT_PATHS_H
#define IOT_PATHS_H

#include <linux/types.h>

struct path;
struct seq_file;
struct proc_ops;

/** struct iot_paths_stats - of the table, since the module was loaded */
struct iot_paths_stats {
	u64 entries;	/* paths it holds */
	u64 resolved;	/* paths it was given */
	u64 evicted;	/* paths that made room for others */
	u64 missed;	/* events without path: no memory, or not to be had then */
	size_t bytes;
};

int iot_paths_get(void);
void iot_paths_put(void);
void iot_paths_exit(void);

u64 iot_paths_of(const struct path *path, bool may_sleep);
u64 iot_paths_text(const char *text, size_t len, dev_t dev, u64 ino, bool may_sleep);
void iot_paths_show(struct seq_file *m, u64 id);
void iot_paths_stats(struct iot_paths_stats *stats);

extern const struct proc_ops iot_paths_ops;

#endif /* IOT_PATHS_H */
