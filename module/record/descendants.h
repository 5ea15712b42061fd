/* SPDX-License-Identifier: GPL-2.0 */
/* A process and all its descendants. */
#ifndef IOT_DESCENDANTS_H
#define IOT_DESCENDANTS_H

#include <linux/bitops.h>
#include <linux/list.h>
#include <linux/threads.h>
#include <linux/types.h>

struct iot_why;
struct pid;
struct pid_namespace;

/**
 * struct iot_descendants - a process and all its descendants
 * @list:	in the list of all that are followed, under RCU
 * @root:	the process
 * @number:	its id in the initial pid namespace
 * @users:	filters and targets that have it
 * @adding:	processes that existed before are still being added
 * @members:	a bit for each process id
 */
struct iot_descendants {
	struct list_head list;
	struct pid *root;
	u32 number;
	unsigned int users;
	bool adding;
	DECLARE_BITMAP(members, PID_MAX_LIMIT);
};

struct pid *iot_process_get(u32 number, struct pid_namespace *ns);

struct iot_descendants *iot_descendants_get(u32 number, struct iot_why *why);
void iot_descendants_put(struct iot_descendants *d);
bool iot_descendants_lives(const struct iot_descendants *d);

/** iot_descendants_has() - is a process in it? Context: any; it is held, or preemption is off */
static __always_inline bool iot_descendants_has(const struct iot_descendants *d, u32 tgid)
{
	return arch_test_bit(tgid & (PID_MAX_LIMIT - 1), d->members);
}

#endif /* IOT_DESCENDANTS_H */
