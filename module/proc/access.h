/* SPDX-License-Identifier: GPL-2.0 */
/* Which processes may use the files in /proc/iotracer, and what they see. */
#ifndef IOT_ACCESS_H
#define IOT_ACCESS_H

#include <linux/types.h>

struct file;

bool iot_access_open(const struct file *file);
bool iot_access_write(const struct file *file);
bool iot_access_addresses(const struct file *file);

#endif /* IOT_ACCESS_H */
