/* SPDX-License-Identifier: GPL-2.0 */
/* The directory of a target, /proc/iotracer/<target>/. */
#ifndef IOT_TARGET_PROC_H
#define IOT_TARGET_PROC_H

struct iot_target;
struct proc_dir_entry;

int iot_target_mkdir(struct iot_target *t, struct proc_dir_entry *parent);
void iot_target_rmdir(struct iot_target *t);

#endif /* IOT_TARGET_PROC_H */
