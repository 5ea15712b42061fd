// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "trace/busy.h"

/* There are no holes: it is a key as bytes. */
struct name {
	__u64 device, source;
};

static struct busy_device *find(struct busy *b, __u32 device, __u64 source)
{
	const struct name name = { .device = device, .source = source };
	size_t before = b->names.nr;
	__u32 number = intern_add(&b->names, &name, sizeof(name));

	if (b->names.nr == before)
		return &b->devices[number];
	if (number >= b->room) {
		b->room = 2 * b->room + 8;
		b->devices = xreallocarray(b->devices, b->room, sizeof(*b->devices));
	}
	b->devices[number] = (struct busy_device){ .device = device, .source = source };
	return &b->devices[number];
}

/* Forgets the earlier half of the periods. */
static void forget(struct busy_device *d)
{
	size_t half = d->nr / 2, i;

	for (i = 0; i < half; i++)
		d->before += d->periods[i].end - d->periods[i].begin;
	d->floor = d->periods[half - 1].end;
	d->nr -= half;
	memmove(d->periods, d->periods + half, d->nr * sizeof(*d->periods));
}

void busy_add(struct busy *b, __u32 device, __u64 source, __u64 begin, __u64 end, __u64 weight)
{
	struct busy_device *d = find(b, device, source);
	struct busy_period all = { begin, end };

	d->time += weight * (end - begin);
	if (all.begin < d->floor)
		all.begin = d->floor;
	if (all.begin >= all.end)
		return;
	/* It is one with the last periods that it touches. */
	for (; d->nr && d->periods[d->nr - 1].end >= all.begin; d->nr--) {
		const struct busy_period *last = &d->periods[d->nr - 1];

		if (last->begin < all.begin)
			all.begin = last->begin;
		if (last->end > all.end)
			all.end = last->end;
	}
	if (d->nr == BUSY_KEPT)
		forget(d);
	if (d->nr == d->room) {
		d->room = 2 * d->room + 16;
		d->periods = xreallocarray(d->periods, d->room, sizeof(*d->periods));
	}
	d->periods[d->nr++] = all;
}

__u64 busy_time(const struct busy_device *d)
{
	__u64 time = d->before;
	size_t i;

	for (i = 0; i < d->nr; i++)
		time += d->periods[i].end - d->periods[i].begin;
	return time;
}

void busy_free(struct busy *b)
{
	size_t i;

	for (i = 0; i < busy_devices(b); i++)
		free(b->devices[i].periods);
	free(b->devices);
	intern_free(&b->names);
}
