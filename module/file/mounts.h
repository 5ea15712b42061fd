/* SPDX-License-Identifier: GPL-2.0 */
/* Where filesystems are mounted, for the paths of files that were opened before tracing. */
#ifndef IOT_MOUNTS_H
#define IOT_MOUNTS_H

#include <linux/types.h>

struct dentry;

void iot_mounts_init(void);
void iot_mounts_exit(void);
void iot_mounts_get(void);
void iot_mounts_put(void);
u32 iot_mounts_current(void);
char *iot_mounts_text(const struct dentry *dentry, char *buf, int size);

#endif /* IOT_MOUNTS_H */
