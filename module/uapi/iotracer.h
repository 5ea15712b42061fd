/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * What userspace sees of iotracer besides text: the records and the stream.
 *
 * A stream (/proc/iotracer/<target>/stream) is one struct iot_stream_header
 * followed by records of the size it names, in host byte order, in the order
 * of their seq. Compare magic, version and schema before decoding.
 */
#ifndef _UAPI_IOTRACER_H
#define _UAPI_IOTRACER_H

#include <linux/types.h>

#define IOT_STREAM_MAGIC	0x3152544f49ULL	/* "IOTR1" */
#define IOT_STREAM_VERSION	1

struct iot_stream_header {
	__u64 magic;		/* IOT_STREAM_MAGIC */
	__u32 version;		/* IOT_STREAM_VERSION */
	__u32 header_size;	/* bytes from here to the first record */
	__u64 schema;		/* iot_schema_hash() of the writer */
	__u32 event;		/* event id of the records that follow */
	__u32 record_size;	/* bytes */
	__u64 t0;		/* T0 of the target, CLOCK_MONOTONIC ns */
	__u64 reserved;		/* 0 */
};

/* struct iot_io: level */
#define IOT_LEVEL_VFS		0
#define IOT_LEVEL_BLK		1
#define IOT_LEVELS		2

/* struct iot_io: op */
#define IOT_OP_READ		0
#define IOT_OP_WRITE		1

/* struct iot_io: flags */
#define IOT_IO_DIRECT		(1u << 0)	/* O_DIRECT */
#define IOT_IO_ASYNC		(1u << 1)	/* queued: completes after the call */
#define IOT_IO_NOWAIT		(1u << 2)	/* RWF_NOWAIT asked for by the caller */
#define IOT_IO_APPEND		(1u << 3)	/* O_APPEND */
#define IOT_IO_SYNC		(1u << 4)	/* O_DSYNC or O_SYNC; blk: REQ_SYNC */
#define IOT_IO_SPLICE		(1u << 5)	/* sendfile, splice into a pipe */
#define IOT_IO_CLONE		(1u << 6)	/* moved by reference (reflink) or by the server */
#define IOT_IO_READAHEAD	(1u << 7)	/* blk: REQ_RAHEAD */
#define IOT_IO_FUA		(1u << 8)	/* blk: REQ_FUA */

/* The record structs: struct iot_io … */
#define IOT_TYPE_u8		__u8
#define IOT_TYPE_u16		__u16
#define IOT_TYPE_u32		__u32
#define IOT_TYPE_u64		__u64
#define IOT_TYPE_s64		__s64
#define IOT_EVENT(name, id, meaning)		struct iot_##name {
#define IOT_FIELD(event, type, name, kind, unit, text) IOT_TYPE_##type name;
#define IOT_CHARS(event, name, length, kind, text) char name[length];
#define IOT_EVENT_END(name)			};
#include "events.def"

/* Event ids: IOT_EVENT_ID_io … */
#define IOT_EVENT(name, id, meaning)		IOT_EVENT_ID_##name = (id),
enum iot_event_id {
#include "events.def"
};

#endif /* _UAPI_IOTRACER_H */
