/* SPDX-License-Identifier: GPL-2.0 */
/* Asynchronous reads and writes of targets, until they complete. */
#ifndef IOT_VFS_ASYNC_H
#define IOT_VFS_ASYNC_H

#include <linux/types.h>

struct kiocb;

/**
 * struct iot_async - a direct request of io_submit or io_uring
 * @id:		of the running file
 * @start:	when the call began, CLOCK_MONOTONIC ns
 * @submission:	duration of the call, ns; 0 while it has not returned
 * @offset:	bytes
 * @requested:	bytes
 * @done:	bytes that earlier calls of the same request moved
 * @tid:	thread that made the call
 * @pid:	its process
 * @uid:	its effective user, in the kernel's view
 * @run:	of the target, see struct iot_indexed_target
 * @op:		IOT_OP_*
 * @again:	io_uring makes the call again if this one would block
 * @flags:	IOT_IO_*
 * @comm:	name of the thread
 */
struct iot_async {
	u64 id;
	u64 start;
	u64 submission;
	u64 offset;
	u64 requested;
	u64 done;
	u32 tid;
	u32 pid;
	u32 uid;
	u32 run;
	u16 flags;
	u8 op;
	bool again;
	char comm[16];
};

int iot_async_start(void);
void iot_async_stop(void);
unsigned long iot_async_missed(void);
void iot_async_exit(void);

bool iot_async_begin(const struct kiocb *iocb, const struct iot_async *a);
void iot_async_queued(const struct kiocb *iocb, u64 start);
bool iot_async_cancel(const struct kiocb *iocb, u64 start);

#endif /* IOT_VFS_ASYNC_H */
