/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A trace: a directory that iotracer record writes and other commands read.
 *
 *	metadata.json	what was recorded, when, where, how it ended; see metadata.h
 *	schema.json	a copy of the schema, for programs that do not know it
 *	paths.iot	the paths that records name by id
 *	<category>.iot	the records
 *
 * An .iot file is a struct trace_header and frames, each of which begins at a multiple
 * of TRACE_ALIGN, as direct writes require. A frame is a struct trace_frame and @stored
 * bytes, which hold @size bytes of content. In a category's file these are blocks as read
 * from the module (struct iot_stream_block) and then notes; in paths.iot they are struct
 * iot_path_record. Zeroes follow up to the next multiple. Every frame can be read by itself,
 * and paths are written before the records that name them.
 *
 * Checksums are CRC-32C (as in iSCSI, ext4 and btrfs), which is certain to find each flipped
 * bit and each damage within 32 bits. A frame has two: the checksum of its header lets a reader
 * find the next frame after a damaged one. Some damage leaves no sign in the file, for instance
 * when whole frames at its end are missing. metadata.json shows that: it has the frames, events
 * and bytes of each file and, for each CPU, the seq of the first event and the seq after the
 * last. @first and @gap of a CPU's blocks leave out no seq, so a reader knows for each hole
 * which events it held.
 *
 * Events of one CPU are in the order in which they ended. @until allows a reader to merge
 * the CPUs in little memory: each event that ended before it, on any CPU, is in an earlier
 * frame. Bytes are in host order.
 */
#ifndef TOOL_TRACE_TRACE_H
#define TOOL_TRACE_TRACE_H

#include <stddef.h>
#include <linux/types.h>

#include "core/schema.h"

/* Two of them differ in more than one bit: a flipped one makes none of another. */
#define TRACE_MAGIC		0x3446544f49ULL	/* "IOTF4" */
#define TRACE_MAGIC_OLD		0x3246544f49ULL	/* "IOTF2": without indexes; */
#define TRACE_MAGIC_OLDEST	0x3146544f49ULL	/* "IOTF1": without checksums */
/* The streams that a trace consists of have not changed since this version, see IOT_STREAM_VERSION. */
#define TRACE_STREAM_OLDEST	2
#define TRACE_FRAME_MAGIC	0x4d415246	/* "FRAM" */
#define TRACE_NOTE_MAGIC	0x45544f4e	/* "NOTE" */
#define TRACE_NOTE_MAX		4096		/* bytes of its text */
#define TRACE_RAW		0
#define TRACE_ZSTD		1
#define TRACE_ZSTD_TRANSPOSED	2	/* transpose.h */

#define TRACE_PATHS		"paths.iot"
#define TRACE_METADATA		"metadata.json"
#define TRACE_SCHEMA		"schema.json"

#define TRACE_ALIGN		4096u
#define TRACE_FRAME_MAX		(8u << 20)	/* bytes that a frame holds at most */

/* The first TRACE_ALIGN bytes of a file; the rest of them is 0. */
struct trace_header {
	struct iot_stream_header stream;	/* with TRACE_MAGIC, and the size of this struct */
	__u32 reserved;
	__u32 checksum;		/* of all before it */
};

/* All values of a kind are in it; @least > @most: there are none. */
struct trace_range {
	__u64 least, most;
};

/*
 * What the records of a frame have: a reader skips a frame that has nothing it is asked for. Values of
 * 0, which say that there is none, are left out.
 */
struct trace_index {
	struct trace_range time;	/* CLOCK_MONOTONIC ns: the events began and ended */
	struct trace_range device;	/* device and file_device */
	struct trace_range inode;
	struct trace_range path;	/* ids of path and path2 */
	__u64 ops;			/* bit n: a record has operation n; bit 63: it has 63 or more */
	__u64 lost;			/* sum of the blocks' gaps */
};

struct trace_frame {
	__u32 magic;		/* TRACE_FRAME_MAGIC */
	__u32 encoding;		/* TRACE_RAW, TRACE_ZSTD, TRACE_ZSTD_TRANSPOSED */
	__u32 stored;		/* bytes that follow */
	__u32 size;		/* bytes of content that the stored bytes hold */
	__u64 events;		/* or paths */
	__u64 until;		/* CLOCK_MONOTONIC ns */
	__u64 number;		/* frames before it in the file */
	struct trace_index index;	/* of frames without records: any value */
	__u32 data_checksum;	/* of the @stored bytes */
	__u32 checksum;		/* of all before it in this header */
};

/* The command line of the process that record @seq of @cpu is about. */
struct trace_note {
	__u32 magic;		/* TRACE_NOTE_MAGIC */
	__u32 length;		/* bytes of text that follow, then zeroes up to 8 */
	__u64 seq;
	__u64 cpu;
};

__u32 trace_checksum(const void *data, size_t size);

/* As above, without the CPU's instruction. */
__u32 trace_checksum_by_table(const void *data, size_t size);

static inline __u32 trace_frame_checksum(const struct trace_frame *f)
{
	return trace_checksum(f, offsetof(struct trace_frame, checksum));
}

static inline __u32 trace_header_checksum(const struct trace_header *h)
{
	return trace_checksum(h, offsetof(struct trace_header, checksum));
}

/* Bytes from the start of a frame to the start of the next. */
static inline __u64 trace_frame_length(const struct trace_frame *f)
{
	return (sizeof(*f) + (__u64)f->stored + TRACE_ALIGN - 1) & -(__u64)TRACE_ALIGN;
}

#endif /* TOOL_TRACE_TRACE_H */
