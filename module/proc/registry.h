/* SPDX-License-Identifier: GPL-2.0 */
/* The categories, bound to their probes, and their directories in /proc/iotracer. */
#ifndef IOT_REGISTRY_H
#define IOT_REGISTRY_H

struct iot_procdir;

int iot_registry_init(void);
int iot_registry_mkdir(struct iot_procdir *root);

#endif /* IOT_REGISTRY_H */
