/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long devices were busy: the time in which at least one request was with the driver and the device. It is
 * the union of the requests' times, whatever their number.
 *
 * Requests come in the order in which they ended. The last BUSY_KEPT times that a device was busy are kept; a
 * request that began before them counts from the first of these on.
 */
#ifndef TOOL_TRACE_BUSY_H
#define TOOL_TRACE_BUSY_H

#include <stddef.h>
#include <linux/types.h>

#include "trace/intern.h"

#define BUSY_KEPT 4096

struct busy_period {
	__u64 begin, end;	/* ns */
};

struct busy_device {
	__u32 device;
	__u64 source;
	__u64 time;		/* ns: with the driver and the device, of all requests together */
	__u64 before;		/* ns: busy in periods that are not kept any more */
	__u64 floor;		/* when the last of these ended */
	struct busy_period *periods;	/* in order; apart from each other */
	size_t nr, room;
};

/* Start from a zeroed struct. */
struct busy {
	struct intern names;
	struct busy_device *devices;	/* by number of the name */
	size_t room;
};

/* @source: of a merged trace, what identifies the trace; else 0. @weight: requests that it stands for */
void busy_add(struct busy *b, __u32 device, __u64 source, __u64 begin, __u64 end, __u64 weight);

/* ns that a device was busy. */
__u64 busy_time(const struct busy_device *d);
void busy_free(struct busy *b);

static inline size_t busy_devices(const struct busy *b)
{
	return b->names.nr;
}

#endif /* TOOL_TRACE_BUSY_H */
