/* SPDX-License-Identifier: GPL-2.0 */
/* Reads and writes in progress, by the task that makes them. */
#ifndef IOT_DIRECT_H
#define IOT_DIRECT_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/types.h>
#include "uapi/iotracer.h"

struct file;
struct iot_direct_slot;
struct kretprobe;
struct super_block;

/**
 * struct iot_direct - a call in progress in the current task
 * @id:		of the target, 0 if there is none
 * @sb:		superblock of the file, valid during the call
 * @file:	valid during the call; NULL if it is not known
 * @offset:	byte where the call starts
 * @slot:	where it is tracked; valid with @tracked
 * @ki_flags:	IOCB_* of a read or write; 0 of any other call. With IOCB_DIRECT, bios that the
 *		task submits during the call hold the caller's pages
 * @op:		IOT_OP_*; of ->read_iter and ->write_iter always 0
 * @range:	a splice, copy or clone: a call that it makes may be recorded instead of it
 * @tracked:	the call has a slot
 * @inner:	a call that this one made was recorded instead of it
 */
struct iot_direct {
	u64 id;
	struct super_block *sb;
	const struct file *file;
	u64 offset;
	struct iot_direct_slot *slot;
	int ki_flags;
	u8 op;
	bool range;
	bool tracked;
	bool inner;
};

extern atomic_t iot_direct_calls;

/** iot_direct_any() - check whether a read or write of any task is tracked. Context: any */
static __always_inline bool iot_direct_any(void)
{
	return atomic_read(&iot_direct_calls);
}

void iot_direct_begin(struct iot_direct *call);
void iot_direct_own(struct iot_direct *call, const struct kretprobe *krp);
void iot_direct_forget(const struct kretprobe *krp);
void iot_direct_end_tracked(struct iot_direct *call);

/** iot_direct_end() - stop tracking a call. Context: the task that made it */
static __always_inline void iot_direct_end(struct iot_direct *call)
{
	if (call->tracked)
		iot_direct_end_tracked(call);
}

/** iot_direct_syncs() - check whether a call makes a file durable */
static inline bool iot_direct_syncs(const struct iot_direct *call)
{
	return call->op == IOT_OP_FSYNC || call->op == IOT_OP_FDATASYNC;
}

const struct iot_direct *iot_direct_now(void);
const struct iot_direct *iot_direct_other(bool (*wanted)(const struct iot_direct *call,
							 const void *data), const void *data);
bool iot_direct_is_within(u64 id);
void iot_direct_mark_outer(const struct iot_direct *call);
unsigned long iot_direct_missed(void);
void iot_direct_miss_by_block(void);
unsigned long iot_direct_missed_by_block(void);

#endif /* IOT_DIRECT_H */
