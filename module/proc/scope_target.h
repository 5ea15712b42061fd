/* SPDX-License-Identifier: GPL-2.0 */
/* Targets that are wider than a file: directories, and processes. */
#ifndef IOT_SCOPE_TARGET_H
#define IOT_SCOPE_TARGET_H

#include <linux/types.h>

struct iot_named;
struct iot_procdir;
struct iot_why;
struct path;
struct seq_file;

int iot_scope_target_add(const struct path *path, u64 max_events, struct iot_procdir *parent,
			 struct iot_why *why);
int iot_scope_target_add_tasks(const char *text, u64 max_events, bool sockets,
			       struct iot_procdir *parent, struct iot_why *why);
int iot_scope_target_remove(const char *text, const struct iot_named *n);
int iot_scope_target_is_listed(const char *text, const struct iot_named *n);
int iot_scope_target_show(struct seq_file *m);

void iot_scope_target_close(void);
void iot_scope_target_remove_all(void);

#endif /* IOT_SCOPE_TARGET_H */
