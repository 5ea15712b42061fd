/* SPDX-License-Identifier: GPL-2.0 */
/* The files of a target in /proc/iotracer/<target>/. */
#ifndef IOT_LOG_H
#define IOT_LOG_H

struct iot_target;
struct proc_dir_entry;

int iot_log_create(struct iot_target *t, struct proc_dir_entry *parent);
void iot_log_remove(struct iot_target *t);

#endif /* IOT_LOG_H */
