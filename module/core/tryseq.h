/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A sequence count whose writers never wait: a writer that finds another one active gives up.
 *
 * The count is odd while a writer is active. A reader copies the protected data with READ_ONCE()
 * and then checks that the count is still the even one from before. Context: any.
 */
#ifndef IOT_TRYSEQ_H
#define IOT_TRYSEQ_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/types.h>

/** iot_tryseq_begin() - start to write. Return: false if another writer is active */
static __always_inline bool iot_tryseq_begin(u32 *seq)
{
	u32 now = READ_ONCE(*seq);

	return !(now & 1) && cmpxchg(seq, now, now + 1) == now;
}

/** iot_tryseq_end() - finish writing */
static __always_inline void iot_tryseq_end(u32 *seq)
{
	smp_store_release(seq, *seq + 1); /* fields first, then the count */
}

/** iot_tryseq_read() - read the count before copying */
static __always_inline u32 iot_tryseq_read(const u32 *seq)
{
	return smp_load_acquire(seq); /* read the count before the copy */
}

/** iot_tryseq_is_whole() - check that the copy made since iot_tryseq_read() is consistent */
static __always_inline bool iot_tryseq_is_whole(const u32 *seq, u32 before)
{
	smp_rmb(); /* finish the copy before the second read of the count */
	return !(before & 1) && READ_ONCE(*seq) == before;
}

#endif /* IOT_TRYSEQ_H */
