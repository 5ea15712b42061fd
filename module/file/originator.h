/* SPDX-License-Identifier: GPL-2.0 */
/* Who made a page of a file dirty: for what is written back long after. */
#ifndef IOT_ORIGINATOR_H
#define IOT_ORIGINATOR_H

#include <linux/types.h>

struct address_space;

/**
 * struct iot_originator - the thread that changed a page in memory, or brought it there
 * @tid:	of it
 * @pid:	of its process
 * @uid:	effective
 * @cgroup:	id (v2)
 * @comm:	its name, padded with zeroes
 *
 * As they were then, in the initial namespaces.
 */
struct iot_originator {
	u32 tid;
	u32 pid;
	u32 uid;
	u64 cgroup;
	char comm[16] __aligned(8);
};

int iot_origin_get(void);
void iot_origin_put(void);
void iot_origin_exit(void);

void iot_originator_read(const struct address_space *mapping, unsigned long index,
			unsigned long pages);
bool iot_origin_find(const struct address_space *mapping, unsigned long index,
		     struct iot_originator *who);

#endif /* IOT_ORIGINATOR_H */
