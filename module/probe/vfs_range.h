/* SPDX-License-Identifier: GPL-2.0 */
/* A call on a range of a target, in the data of the kretprobe that follows it. */
#ifndef IOT_VFS_RANGE_H
#define IOT_VFS_RANGE_H

#include <linux/kprobes.h>
#include "file/direct.h"

/**
 * struct iot_vfs_range - a call in progress
 * @direct:	what other probes look up during the call; its id is 0 if the call is not recorded
 * @start:	CLOCK_MONOTONIC ns
 * @requested:	bytes
 * @flags:	IOT_IO_*
 */
struct iot_vfs_range {
	struct iot_direct direct;
	u64 start;
	u64 requested;
	u16 flags;
};

bool iot_vfs_range_is_own(struct kretprobe_instance *ri, const void *func);
void iot_vfs_range_begin(struct kretprobe_instance *ri, struct iot_vfs_range *r, u64 id,
			 u64 offset, u64 len, u8 op, u16 flags);
void iot_vfs_range_end(struct iot_vfs_range *r, s64 result, bool wanted);

#endif /* IOT_VFS_RANGE_H */
