/* SPDX-License-Identifier: GPL-2.0 */
/* Control groups, which are known by their paths. */
#ifndef IOT_CGROUP_H
#define IOT_CGROUP_H

#include <linux/list.h>
#include <linux/types.h>

struct iot_why;
struct task_struct;

/**
 * struct iot_cgroup - a control group and all below it
 * @list:	in the list of those that are followed, under RCU
 * @path:	below the root of the hierarchy
 * @level:	number of groups above it
 * @id:		of the group that has the path now; 0 if there is none
 * @last_id:	of the group that has the path now, or had it last
 */
struct iot_cgroup {
	struct list_head list;
	char *path;
	int level;
	u64 id;
	u64 last_id;
};

int iot_cgroup_find(const char *path, u64 *id, struct iot_why *why);

int iot_cgroup_follow(struct iot_cgroup *g, const char *path, struct iot_why *why);
void iot_cgroup_unfollow(struct iot_cgroup *g);
bool iot_cgroup_has_path(const struct iot_cgroup *g, const char *path);
bool iot_cgroup_has(const struct iot_cgroup *g, struct task_struct *task);

#endif /* IOT_CGROUP_H */
