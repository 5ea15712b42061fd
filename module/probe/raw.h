/* SPDX-License-Identifier: GPL-2.0 */
/* Reads and writes of files that have ->read and ->write, such as many in /proc and debugfs. */
#ifndef IOT_PROBE_RAW_H
#define IOT_PROBE_RAW_H

#include <linux/fs.h>

struct iot_hook;

#define IOT_RAW_OPS	2

/**
 * struct iot_raw_hooks - hooks of a file_operations
 * @hook:	hooks of ->read and ->write, NULL for a function that does not exist
 */
struct iot_raw_hooks {
	struct iot_hook *hook[IOT_RAW_OPS];
};

int iot_raw_get(struct iot_raw_hooks *hooks, const struct file_operations *fop);
void iot_raw_put(struct iot_raw_hooks *hooks);
int iot_raw_enable(struct iot_raw_hooks *hooks);

#endif /* IOT_PROBE_RAW_H */
