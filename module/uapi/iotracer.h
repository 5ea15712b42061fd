/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The binary interface to userspace: the records and the streams.
 *
 * A stream is one struct iot_stream_header followed by data in the layout that it
 * names, in host byte order. Compare magic, version and schema before decoding.
 *
 *	/proc/iotracer/<category>/stream IOT_LAYOUT_BLOCKS: blocks. A block is a struct
 *	/proc/iotracer/<target>/stream	 iot_stream_block and its records, which are of
 *					 one CPU and have consecutive seqs. CPUs with
 *					 new records take turns, one block each. Records
 *					 of a file or device are all of CPU 0, in order
 *					 of seq.
 *	/proc/iotracer/paths		 IOT_LAYOUT_PATHS: struct iot_path_record
 */
#ifndef _UAPI_IOTRACER_H
#define _UAPI_IOTRACER_H

#include <linux/types.h>

#define IOT_STREAM_MAGIC	0x3152544f49ULL	/* "IOTR1" */
#define IOT_STREAM_VERSION	3

#define IOT_LAYOUT_BLOCKS	1	/* 0, until version 2: records without blocks */
#define IOT_LAYOUT_PATHS	2

struct iot_stream_header {
	__u64 magic;		/* IOT_STREAM_MAGIC */
	__u32 version;		/* IOT_STREAM_VERSION */
	__u32 header_size;	/* bytes from the start of the header to the first record */
	__u64 schema;		/* iot_schema_hash() of the writer */
	__u32 event;		/* event id of the records that follow */
	__u32 record_size;	/* bytes, 0 for paths */
	__u64 t0;		/* T0 of target or category, CLOCK_MONOTONIC ns */
	__u32 layout;		/* IOT_LAYOUT_* */
	__u32 cpus;		/* blocks: every cpu is below this number */
};

/*
 * A block of records. @first is the seq of its first record. @gap is the
 * number of events of this CPU that are missing between the previous block, or the
 * start of the reader, and this one. These events were lost, or overwritten before they were
 * read.
 */
#define IOT_STREAM_BLOCK_MAGIC		0x4b4c4249	/* "IBLK" */

struct iot_stream_block {
	__u32 magic;		/* IOT_STREAM_BLOCK_MAGIC */
	__u32 cpu;
	__u32 event;		/* event id */
	__u32 count;		/* records that follow; may be 0 after a gap */
	__u64 first;
	__u64 gap;
};

/*
 * One path that records name by @id. Ids only grow. A skipped id belongs to a path that was
 * evicted before it was read. @length bytes of text follow, without NUL, and then zero bytes up
 * to a multiple of 8.
 */
struct iot_path_record {
	__u64 id;
	__u64 inode;
	__u32 device;
	__u32 length;
};

/* struct iot_fs: kind */
#define IOT_KIND_NONE		0	/* the path led to no file */
#define IOT_KIND_FILE		1	/* on a real filesystem, like the next two */
#define IOT_KIND_DIR		2
#define IOT_KIND_SYMLINK	3
#define IOT_KIND_PIPE		4	/* also FIFO */
#define IOT_KIND_SOCKET		5
#define IOT_KIND_DEVICE		6	/* character or block */
#define IOT_KIND_PSEUDO		7	/* proc, sysfs, debugfs, cgroup ... */
#define IOT_KIND_OTHER		8	/* eventfd, epoll, memfd ... */
#define IOT_KIND_ALL		((2 << IOT_KIND_OTHER) - 1)	/* every bit 1 << IOT_KIND_* */

/* struct iot_io: level */
#define IOT_LEVEL_VFS		0
#define IOT_LEVEL_BLK		1
#define IOT_LEVELS		2

/* struct iot_io: op, IOT_OP_READ ... */
#define IOT_ACCESS(NAME, id, letter, shown, meaning)	IOT_OP_##NAME = (id),
enum iot_access {
#include "access.def"
};

/*
 * Flags and values of records, IOT_IO_DIRECT ... (flags.def):
 *
 *	IOT_IO_*	struct iot_io: flags; struct iot_fs: flags of reads and writes
 *	IOT_CALL_*	struct iot_fs: flags of all operations
 *	IOT_ENTER_*	struct iot_uring: flags of ENTER
 *	IOT_FAULT_*	struct iot_fault: flags; severity is IOT_FAULT_MINOR or _MAJOR
 *	IOT_CACHE_*	struct iot_cache: flags
 *	IOT_REQ_*	struct iot_block: flags. The first 14 are the kernel's, shifted right by
 *			REQ_OP_BITS
 *	IOT_CLASS_*	struct iot_block: class. Data of a file is classified by the file's size
 *	IOT_URING_*	struct iot_uring: flags of COMPLETE, in bits that a cqe does not use
 *	IOT_UNSURE_*	struct iot_fs, struct iot_uring: unsure
 *	IOT_SOCKOPT_*	struct iot_sockopt: flags
 *	IOT_RESEND_*	struct iot_drop: trigger
 *	IOT_EPOLL_*	struct iot_epoll: flags
 *	IOT_CONN_*	struct iot_conn: flags
 */
#define IOT_BIT(group, PREFIX, bit, name)	IOT_##PREFIX##_##name = 1 << (bit),
#define IOT_NUMBER(group, PREFIX, value, name)	IOT_##PREFIX##_##name = (value),
enum iot_flags_and_values {
#include "flags.def"
};

/* The bits that no operation of struct iot_fs has a meaning of its own for. */
#define IOT_CALL_COMMON		((__u32)(IOT_CALL_KERNEL | IOT_CALL_RESTARTED))

#define IOT_REQ_COMMON		0x3fffu		/* the bits of the kernel's flags in IOT_REQ_* */

/* struct iot_uring: opcode */
#define IOT_URING_NONE		0xffff
#define IOT_URING_READ_MULTISHOT	49	/* IORING_OP_READ_MULTISHOT, 6.7 */
#define IOT_URING_WAITID	50	/* IORING_OP_WAITID and the next three, 6.7 */
#define IOT_URING_FUTEX_WAIT	51
#define IOT_URING_FUTEX_WAKE	52
#define IOT_URING_FUTEX_WAITV	53
#define IOT_URING_READV_FIXED	60	/* IORING_OP_READV_FIXED and the next one, 6.15 */
#define IOT_URING_WRITEV_FIXED	61
#define IOT_URING_PIPE		62	/* IORING_OP_PIPE, 6.16 */
#define IOT_URING_NOP128	63	/* IORING_OP_NOP128 and the next, 6.19: of two entries */
#define IOT_URING_CMD128	64

/* The record structs: struct iot_io … */
#define IOT_TYPE_u8		__u8
#define IOT_TYPE_u16		__u16
#define IOT_TYPE_u32		__u32
#define IOT_TYPE_u64		__u64
#define IOT_TYPE_s32		__s32
#define IOT_TYPE_s64		__s64
#define IOT_EVENT(name, NAME, id, meaning)	struct iot_##name {
#define IOT_FIELD(event, type, name, kind, unit, text) IOT_TYPE_##type name;
#define IOT_CHARS(event, name, length, kind, text) char name[length];
#define IOT_EVENT_END(name)			};
#include "events.def"

/* Event ids: IOT_EVENT_ID_IO … */
#define IOT_EVENT(name, NAME, id, meaning)	IOT_EVENT_ID_##NAME = (id),
enum iot_event_id {
#include "events.def"
	IOT_EVENT_IDS
};

/* Operations of the events of a category: IOT_FS_READ, IOT_CACHE_HIT … */
#define IOT_OPS_MAX	128
#define IOT_OP(EVENT, name, id, flags, flags2)	IOT_##EVENT##_##name = (id),
enum iot_op_id {
#include "ops.def"
};

/* struct iot_sockopt: level, IOT_SOL_IP ... */
#define IOT_SOL(name, number, kind)		IOT_##name = (number),
enum iot_sol {
#include "sockopt.def"
};

/* Is an operation of struct iot_fs one of the block layer? */
static inline int iot_fs_is_block(__u16 op)
{
	return op >= IOT_FS_BLOCK_READ && op <= IOT_FS_BLOCK_WRITE_ZEROES;
}

/* Is an event of struct iot_fs a call of the network, in a log of processes? */
static inline int iot_fs_is_network(const struct iot_fs *e)
{
	if (e->op == IOT_FS_CLOSE)
		return e->kind == IOT_KIND_SOCKET && !e->device; /* else a file of that kind */
	return e->op >= IOT_FS_SEND && e->op <= IOT_FS_SHUTDOWN;
}

#endif /* _UAPI_IOTRACER_H */
