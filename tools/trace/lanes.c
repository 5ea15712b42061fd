// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "trace/lanes.h"

/* How many lanes end at @time or before: the first that many. */
static size_t count_ended(const struct lanes *l, __u64 time)
{
	size_t low = 0, high = l->nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (l->lanes[middle].end <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void insert(struct lanes *l, struct lane lane)
{
	size_t at = count_ended(l, lane.end);

	memmove(l->lanes + at + 1, l->lanes + at, (l->nr - at) * sizeof(*l->lanes));
	l->lanes[at] = lane;
	l->nr++;
}

/* Of the lanes that are free, that which was used last: so the number of lanes is the least. */
static __u32 take_free(struct lanes *l, __u64 begin, __u64 end)
{
	size_t free = count_ended(l, begin);
	struct lane lane = { .end = end, .number = l->nr };

	if (free) {
		lane.number = l->lanes[free - 1].number;
		l->nr--;
		memmove(l->lanes + free - 1, l->lanes + free, (l->nr - free + 1) * sizeof(*l->lanes));
	} else {
		if (l->nr == LANES_MOST)
			return LANES_NONE;
		l->lanes = xreallocarray(l->lanes, l->nr + 1, sizeof(*l->lanes));
	}
	insert(l, lane);
	return lane.number;
}

/*
 * Whether the interval fits into lane 0, which takes it: it lies around intervals there, or behind
 * them. One that begins when another one did lies around it, but a reader that sorts by begin sees
 * the other one first.
 */
static bool take_first(struct lanes *l, __u64 begin, __u64 end)
{
	unsigned int nr = l->nr_kept;

	if (nr && end < l->kept[nr - 1].end)
		return false;
	while (nr && l->kept[nr - 1].begin > begin)
		nr--;
	if (begin < (nr ? l->kept[nr - 1].end : l->forgotten))
		return false;
	if (nr == LANES_KEPT) {
		l->forgotten = l->kept[0].end;
		memmove(l->kept, l->kept + 1, (LANES_KEPT - 1) * sizeof(l->kept[0]));
		nr--;
	}
	l->kept[nr].begin = begin;
	l->kept[nr].end = end;
	l->nr_kept = nr + 1;
	return true;
}

__u32 lanes_take(struct lanes *l, __u64 begin, __u64 end)
{
	__u32 lane;

	if (!l->nests)
		return take_free(l, begin, end);
	if (take_first(l, begin, end))
		return 0;
	lane = take_free(l, begin, end);
	return lane == LANES_NONE ? LANES_NONE : lane + 1;
}

void lanes_free(struct lanes *l)
{
	free(l->lanes);
	*l = (struct lanes){ .nests = l->nests };
}
