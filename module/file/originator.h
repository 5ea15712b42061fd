/* SPDX-License-Identifier: GPL-2.0 */
/* Which thread made a page of a file dirty, for data that is written back much later. */
#ifndef IOT_ORIGINATOR_H
#define IOT_ORIGINATOR_H

#include <linux/types.h>

struct address_space;
struct task_struct;

/**
 * struct iot_originator - the thread that changed a page in memory, or had it read
 * @tid:	id of the thread
 * @pid:	id of its process
 * @uid:	effective uid
 * @stamp:	iot_originator_stamp()
 * @cgroup:	id of its cgroup (v2)
 * @comm:	its name, padded with zeroes
 *
 * All as they were when the page was changed or read, in the initial
 * namespaces.
 */
struct iot_originator {
	u32 tid;
	u32 pid;
	u32 uid;
	u32 stamp;
	u64 cgroup;
	char comm[16] __aligned(8);
};

u32 iot_originator_stamp(const struct task_struct *task);

int iot_originator_get(void);
void iot_originator_put(void);
void iot_originator_exit(void);

void iot_originator_read(const struct address_space *mapping, unsigned long index,
			 unsigned long pages);
bool iot_originator_find(const struct address_space *mapping, unsigned long index,
			 struct iot_originator *who);
bool iot_originator_peek(const struct address_space *mapping, unsigned long index,
			 struct iot_originator *who);
unsigned long iot_originator_by_file(void);
bool iot_originator_is_kernel(const struct iot_originator *who);
void iot_originator_count_unattributed(void);
unsigned long iot_originator_unattributed(void);

#endif /* IOT_ORIGINATOR_H */
