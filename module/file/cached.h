/* SPDX-License-Identifier: GPL-2.0 */
/* Which file a text leads to, by the names that the kernel has in memory. */
#ifndef IOT_CACHED_H
#define IOT_CACHED_H

#include <linux/types.h>

struct path;

int iot_cached_find(const struct path *base, const char *text, bool follow, struct path *path);

#endif /* IOT_CACHED_H */
