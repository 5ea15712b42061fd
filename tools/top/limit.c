// SPDX-License-Identifier: GPL-2.0
#include "top/limit.h"

__u64 top_limit_sample(__u64 sample, double percent, const struct top_cost *cost)
{
	const double spent = 100.0 * cost->cpu / cost->wall;
	const double rate = 1e9 * cost->records / cost->wall;

	if (spent > percent && rate > TOP_LIMIT_RATE)
		return sample < TOP_LIMIT_SAMPLE ? 2 * sample : sample;
	if (spent < percent / 4 || rate < TOP_LIMIT_RATE / 4)
		return sample > 1 ? sample / 2 : 1;
	return sample;
}
