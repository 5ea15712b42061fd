/* SPDX-License-Identifier: GPL-2.0 */
/* Directories as targets: what happens to anything below them. */
#ifndef IOT_DIR_TARGET_H
#define IOT_DIR_TARGET_H

#include <linux/types.h>

struct iot_procdir;
struct iot_why;
struct path;
struct seq_file;

int iot_dir_add(const struct path *path, u64 max_events, struct iot_procdir *parent,
		struct iot_why *why);
int iot_dir_remove(const char *text);
int iot_dir_is_listed(const char *text);
int iot_dirs_show(struct seq_file *m);

void iot_dirs_close(void);
void iot_dirs_remove_all(void);

#endif /* IOT_DIR_TARGET_H */
