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

/** struct iot_paths_file - what records say of a file, as stat(2) does */
struct iot_paths_file {
	u64 id;		/* of its path, 0 unknown */
	u64 ino;
	u32 dev;	/* as in records */
};

int iot_paths_init(void);
void iot_paths_exit(void);

void iot_paths_of(const struct path *path, bool may_sleep,
		  struct iot_paths_file *file);
u64 iot_paths_name(const char *text, size_t len, bool may_sleep);
void iot_paths_show(struct seq_file *m, u64 id);
void iot_paths_stats(struct iot_paths_stats *stats);

extern const struct proc_ops iot_paths_ops;

#endif /* IOT_PATHS_H */
