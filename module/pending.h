/* SPDX-License-Identifier: GPL-2.0 */
/* What is known of a request of a block device until it is done. */
#ifndef IOT_PENDING_H
#define IOT_PENDING_H

#include <linux/types.h>

/**
 * struct iot_pending - a request, or a bio of a device without requests
 * @time:	when it was made; ns, CLOCK_MONOTONIC, like all times here
 * @insert:	when it was given to the queue, 0: it is not in it
 * @issue:	when the driver got it, 0: it has not
 * @queued:	time in the queue so far
 * @served:	time with the device so far
 * @sector:	of 512 bytes, on the whole disk
 * @requested:	bytes when the driver got it first
 * @done:	bytes that are done, of a request that ends in parts
 * @depth:	requests that the device had when it got this one, itself included
 * @device:	partition or disk that it was for, as in records
 * @flags:	IOT_REQ_*; a flush sequence takes some away from the request
 * @parts:	completions so far
 * @flushed:	a part of a flush sequence
 * @silent:	it will have no event
 * @error:	of the first part that failed, -errno
 */
struct iot_pending {
	u64 time;
	u64 insert;
	u64 issue;
	u64 queued;
	u64 served;
	u64 sector;
	u64 requested;
	u64 done;
	u64 inode;
	u64 path;
	u64 offset;
	u64 file_size;
	u64 cgroup;
	u32 file_device;
	u32 device;
	u32 pid;
	u32 tid;
	u32 ppid;
	u32 uid;
	u32 origin_pid;
	u32 depth;
	u32 flags;
	u16 partition;
	u16 class;
	u16 cpu;
	u16 bios;
	u16 requeues;
	u16 ioprio;
	u16 hint;
	u16 parts;
	bool flushed;
	bool silent;
	int error;
	char comm[16];
	char origin_comm[16];
};

#endif /* IOT_PENDING_H */
