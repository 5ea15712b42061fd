/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A trace: a directory that iotracer record writes and other commands read.
 *
 *	metadata.json	what was recorded, when, where, how it ended; see metadata.h
 *	schema.json	a copy of the schema, for programs that know it not
 *	paths.iot	the paths that records name by number
 *	<category>.iot	the records
 *
 * An .iot file is a struct iot_stream_header, with TRACE_MAGIC, and frames, each of
 * which begins at a multiple of TRACE_ALIGN, as direct writes want it. A frame is a
 * struct trace_frame and @stored bytes, which hold @size bytes: in a category's file
 * blocks as the module gives them (struct iot_block) and then notes; in paths.iot
 * struct iot_path_record. Every frame can be read by itself, and paths are written
 * before the records that name them. So a trace that was cut off anywhere can be
 * read up to its last whole frame.
 *
 * Events of one CPU stand in the order in which they ended. @until is the promise by
 * which the CPUs are merged in little memory: each event that ended before it, on
 * whatever CPU, is in a frame before this one. Bytes are in host order.
 */
#ifndef TOOL_TRACE_H
#define TOOL_TRACE_H

#include <linux/types.h>

#include "schema.h"

#define TRACE_MAGIC		0x3146544f49ULL	/* "IOTF1" */
#define TRACE_FRAME_MAGIC	0x4d415246	/* "FRAM" */
#define TRACE_NOTE_MAGIC	0x45544f4e	/* "NOTE" */
#define TRACE_NOTE_MAX		4096		/* bytes of its text */
#define TRACE_RAW		0
#define TRACE_ZSTD		1

#define TRACE_PATHS		"paths.iot"
#define TRACE_METADATA		"metadata.json"
#define TRACE_SCHEMA		"schema.json"

#define TRACE_ALIGN		4096u
#define TRACE_FRAME_MAX		(8u << 20)	/* bytes that a frame holds at most */

struct trace_frame {
	__u32 magic;		/* TRACE_FRAME_MAGIC */
	__u32 encoding;		/* TRACE_RAW, TRACE_ZSTD */
	__u32 stored;		/* bytes that follow */
	__u32 size;		/* bytes they hold */
	__u64 events;		/* or paths */
	__u64 until;		/* CLOCK_MONOTONIC ns */
};

/* The command line of the process that record @seq of @cpu is about. */
struct trace_note {
	__u32 magic;		/* TRACE_NOTE_MAGIC */
	__u32 length;		/* bytes of text that follow, then zeroes up to 8 */
	__u64 seq;
	__u64 cpu;
};

/* From the begin of a frame to that of the next. */
static inline __u64 trace_frame_length(const struct trace_frame *f)
{
	return (sizeof(*f) + (__u64)f->stored + TRACE_ALIGN - 1) & -(__u64)TRACE_ALIGN;
}

#endif /* TOOL_TRACE_H */
