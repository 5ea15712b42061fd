/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where an access is: the position of a read, write or discard in a file, or on a disk.
 *
 *	fs	READ, WRITE, DIO_READ, DIO_WRITE of a file that has positions: of no pipe and no socket,
 *		and of none of kind OTHER (eventfd, timerfd ...)
 *	block	READ, WRITE, DISCARD; the position is that on the whole disk
 */
#ifndef TOOL_TRACE_POSITION_H
#define TOOL_TRACE_POSITION_H

#include <stdbool.h>
#include <linux/types.h>

#include "core/schema.h"
#include "trace/measure.h"

enum position_kind {
	POSITION_READ, POSITION_WRITE, POSITION_DISCARD,
	POSITION_MISSING,	/* a read or write of what has no positions */
	POSITION_NONE,		/* another operation */
};

/* Where the fields of an event are. */
struct positions {
	const struct iot_schema_event *event;
	const struct iot_schema_field *device, *inode, *thread, *start, *requested, *kind, *op;
};

struct position {
	enum position_kind kind;
	__u32 device;
	__u64 inode;		/* 0 of a disk */
	__u32 thread;		/* 0 of a disk */
	__u64 start, bytes;	/* bytes: 0 if it failed or moved nothing */
};

/* Whether records of the event can have a position. */
bool positions_has(const struct iot_schema_event *event);

void positions_open(struct positions *p, const struct iot_schema_event *event);
void position_of(const struct positions *p, const void *record, const struct measure *m,
		 struct position *to);

#endif /* TOOL_TRACE_POSITION_H */
