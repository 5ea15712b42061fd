// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "base/xalloc.h"
#include "trace/depth.h"

/* At one moment, ends are first: an interval is not at the same time as one that follows it. */
static bool is_before(const struct depth_change *a, const struct depth_change *b)
{
	return a->time < b->time || (a->time == b->time && !a->begins && b->begins);
}

static void swap(struct depth_change *a, struct depth_change *b)
{
	struct depth_change kept = *a;

	*a = *b;
	*b = kept;
}

static void push(struct depth *d, __u64 time, bool begins)
{
	size_t i = d->nr++;

	d->waiting[i] = (struct depth_change){ time < d->time ? d->time : time, begins };
	for (; i && is_before(&d->waiting[i], &d->waiting[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&d->waiting[i], &d->waiting[(i - 1) / 2]);
}

static struct depth_change pop(struct depth *d)
{
	struct depth_change first = d->waiting[0];
	size_t i = 0, child;

	d->waiting[0] = d->waiting[--d->nr];
	for (;; i = child) {
		child = 2 * i + 1;
		if (child + 1 < d->nr && is_before(&d->waiting[child + 1], &d->waiting[child]))
			child++;
		if (child >= d->nr || !is_before(&d->waiting[child], &d->waiting[i]))
			return first;
		swap(&d->waiting[i], &d->waiting[child]);
	}
}

void depth_add(struct depth *d, __u64 begin, __u64 end)
{
	if (!d->waiting)
		d->waiting = xreallocarray(NULL, DEPTH_WAITING + 2, sizeof(*d->waiting));
	push(d, begin, true);
	push(d, end, false);
}

bool depth_next(struct depth *d, bool all)
{
	struct depth_change change;

	if (d->nr <= (all ? 0 : DEPTH_WAITING))
		return false;
	change = pop(d);
	d->time = change.time;
	d->value += change.begins ? 1 : -1;
	return true;
}

void depth_free(struct depth *d)
{
	free(d->waiting);
	*d = (struct depth){ .nr = 0 };
}
