/* SPDX-License-Identifier: GPL-2.0 */
/* Durations by the clock of the records. */
#ifndef IOT_CLOCK_H
#define IOT_CLOCK_H

#include <linux/compiler.h>
#include <linux/types.h>

/**
 * iot_clock_since() - get the time from @start to @now, ns
 *
 * ktime_get_mono_fast_ns() can be read in any context, and may step back by some nanoseconds while
 * the kernel updates its clock, or between two CPUs (kernel/time/timekeeping.c). Such a duration is
 * 0. Context: any.
 */
static __always_inline u64 iot_clock_since(u64 start, u64 now)
{
	u64 duration = now - start;

	/* a branch that is never taken is cheaper than a comparison and a conditional move */
	if (unlikely((s64)duration < 0)) {
		duration = 0;
		OPTIMIZER_HIDE_VAR(duration);
	}
	return duration;
}

#endif /* IOT_CLOCK_H */
