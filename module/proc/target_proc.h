/* SPDX-License-Identifier: GPL-2.0 */
/* The directory of a target, /proc/iotracer/<target>/. */
#ifndef IOT_TARGET_PROC_H
#define IOT_TARGET_PROC_H

struct iot_procdir;
struct iot_target;

int iot_target_mkdir(struct iot_target *t, struct iot_procdir *parent);
void iot_target_discard(struct iot_target *t);

#endif /* IOT_TARGET_PROC_H */
