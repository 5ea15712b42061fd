/* SPDX-License-Identifier: GPL-2.0 */
/* Looking a path up name by name, each of which is watched from before. */
#ifndef IOT_WALK_H
#define IOT_WALK_H

#include <linux/path.h>
#include <linux/types.h>

struct iot_link;

bool iot_walk_is_rooted(void);
int iot_walk(struct iot_link *link, bool by_worker, struct path *found);

#endif /* IOT_WALK_H */
