/* SPDX-License-Identifier: GPL-2.0 */
/* The files of a target in /proc/iotracer/<target>/. */
#ifndef IOT_LOG_H
#define IOT_LOG_H

#include <linux/types.h>

struct iot_io;
struct iot_target;
struct proc_dir_entry;
struct proc_ops;
struct seq_file;

int iot_log_create(struct iot_target *t, struct proc_dir_entry *parent);
void iot_log_remove(struct iot_target *t);
void iot_log_line(struct seq_file *m, const struct iot_io *r, u64 t0);

/* target_pipe.c */
extern const struct proc_ops iot_target_pipe_ops;

#endif /* IOT_LOG_H */
