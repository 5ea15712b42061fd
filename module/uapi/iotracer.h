/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The interface to userspace besides text: the records and the streams.
 *
 * A stream is one struct iot_stream_header followed by data in the layout that it
 * names, in host byte order. Compare magic, version and schema before decoding.
 *
 *	/proc/iotracer/<target>/stream	 IOT_LAYOUT_RECORDS: records, in order of seq
 *	/proc/iotracer/<category>/stream IOT_LAYOUT_BLOCKS: blocks. A block is a struct
 *					 iot_stream_block and its records, which are of
 *					 one CPU and have consecutive seqs. CPUs with
 *					 new records take turns, one block each.
 *	/proc/iotracer/paths		 IOT_LAYOUT_PATHS: struct iot_path_record
 */
#ifndef _UAPI_IOTRACER_H
#define _UAPI_IOTRACER_H

#include <linux/types.h>

#define IOT_STREAM_MAGIC	0x3152544f49ULL	/* "IOTR1" */
#define IOT_STREAM_VERSION	2

#define IOT_LAYOUT_RECORDS	0
#define IOT_LAYOUT_BLOCKS	1
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
 * A block of a category's stream. @first is the seq of its first record. @gap is the
 * number of events of this CPU that are missing between the previous block, or the
 * start of the reader, and this one. They were overwritten before they were read, or
 * lost.
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
 * One path that records name by @id. Ids rise. Paths whose ids are skipped were
 * forgotten before they were read. @length bytes of text follow, without NUL, and
 * then zero bytes up to a multiple of 8.
 */
struct iot_path_record {
	__u64 id;
	__u64 inode;
	__u32 device;
	__u32 length;
};

/* struct iot_fs: kind */
#define IOT_KIND_NONE		0	/* the path led to no file */
#define IOT_KIND_FILE		1	/* on a real filesystem, as the next two */
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

/* struct iot_io: op */
#define IOT_OP_READ		0
#define IOT_OP_WRITE		1

/* struct iot_io: flags */
#define IOT_IO_DIRECT		(1u << 0)	/* O_DIRECT */
#define IOT_IO_ASYNC		(1u << 1)	/* queued: completes after the call */
#define IOT_IO_NOWAIT		(1u << 2)	/* the caller set RWF_NOWAIT */
#define IOT_IO_APPEND		(1u << 3)	/* O_APPEND */
#define IOT_IO_SYNC		(1u << 4)	/* O_DSYNC or O_SYNC; blk: REQ_SYNC */
#define IOT_IO_SPLICE		(1u << 5)	/* by ->splice_read or _write: splice, sendfile */
#define IOT_IO_CLONE		(1u << 6)	/* moved by reference (reflink) or by the server */
#define IOT_IO_READAHEAD	(1u << 7)	/* blk: REQ_RAHEAD */
#define IOT_IO_FUA		(1u << 8)	/* blk: REQ_FUA */
#define IOT_IO_KERNEL		(1u << 9)	/* by the kernel itself: not a program's memory */
#define IOT_IO_SENDFILE		(1u << 10)	/* with KERNEL: for sendfile (SPLICE: for splice) */
#define IOT_IO_COPY		(1u << 11)	/* with KERNEL: for copy_file_range */
#define IOT_IO_URING		(1u << 12)	/* a request of io_uring; with KERNEL: its splice */
#define IOT_IO_NFSD		(1u << 13)	/* with KERNEL: the NFS server, for a client */
#define IOT_IO_AIO		(1u << 14)	/* a request of io_submit */

/* struct iot_fault: flags */
#define IOT_FAULT_SHARED	(1u << 0)	/* in a shared mapping */
#define IOT_FAULT_MKWRITE	(1u << 1)	/* the filesystem was notified: ->page_mkwrite */
#define IOT_FAULT_COW		(1u << 2)	/* a private copy was made */
#define IOT_FAULT_GUP		(1u << 3)	/* the kernel wanted the page */
#define IOT_FAULT_USER		(1u << 4)	/* in user mode */

/* struct iot_fault: severity */
#define IOT_FAULT_MINOR		0
#define IOT_FAULT_MAJOR		1

/* struct iot_cache: flags */
#define IOT_CACHE_WRITE		(1u << 0)	/* HIT, MISS: by a write */
#define IOT_CACHE_WAIT		(1u << 1)	/* HIT: the data is still being read */
#define IOT_CACHE_FAULT		(1u << 2)	/* HIT, MISS: by a page fault */
#define IOT_CACHE_INTERRUPT	(1u << 3)	/* in an interrupt, not by a task */
#define IOT_CACHE_ORIGINATOR	(1u << 4)	/* as IOT_REQ_ORIGINATOR, or had the page read */

/* struct iot_block: flags. The first 14 are the kernel's, shifted right by REQ_OP_BITS. */
#define IOT_REQ_COMMON		0x3fffu
#define IOT_REQ_FAILFAST_DEV	(1u << 0)
#define IOT_REQ_FAILFAST_TRANSPORT	(1u << 1)
#define IOT_REQ_FAILFAST_DRIVER	(1u << 2)
#define IOT_REQ_SYNC	(1u << 3)
#define IOT_REQ_META	(1u << 4)
#define IOT_REQ_PRIO	(1u << 5)
#define IOT_REQ_NOMERGE	(1u << 6)
#define IOT_REQ_IDLE	(1u << 7)
#define IOT_REQ_INTEGRITY	(1u << 8)
#define IOT_REQ_FUA	(1u << 9)
#define IOT_REQ_PREFLUSH	(1u << 10)
#define IOT_REQ_RAHEAD	(1u << 11)
#define IOT_REQ_BACKGROUND	(1u << 12)
#define IOT_REQ_NOWAIT	(1u << 13)
#define IOT_REQ_POLLED	(1u << 14)
#define IOT_REQ_ALLOC_CACHE	(1u << 15)
#define IOT_REQ_SWAP	(1u << 16)
#define IOT_REQ_DRV	(1u << 17)
#define IOT_REQ_FS_PRIVATE	(1u << 18)
#define IOT_REQ_ATOMIC	(1u << 19)
#define IOT_REQ_NOUNMAP	(1u << 20)
#define IOT_REQ_CGROUP_PUNT	(1u << 21)
#define IOT_REQ_FLUSH_SEQ	(1u << 24)	/* in a sequence with flushes */
#define IOT_REQ_EARLY		(1u << 25)	/* made before the trace, or not followed */
#define IOT_REQ_BIO		(1u << 26)	/* a bio of a device that has no requests */
/* The originator of the data meets the filter's conditions on tasks, the current task does not. */
#define IOT_REQ_ORIGINATOR	(1u << 27)

/* struct iot_block: class. Data of a file is classified by the size of the file. */
#define IOT_CLASS_NONE		0	/* not known */
#define IOT_CLASS_METADATA	1
#define IOT_CLASS_JOURNAL	2
#define IOT_CLASS_DIRECT	3	/* direct I/O */
#define IOT_CLASS_FILE_4K	4	/* a file up to this size, as the next ones */
#define IOT_CLASS_FILE_16K	5
#define IOT_CLASS_FILE_64K	6
#define IOT_CLASS_FILE_256K	7
#define IOT_CLASS_FILE_1M	8
#define IOT_CLASS_FILE_4M	9
#define IOT_CLASS_FILE_16M	10
#define IOT_CLASS_FILE_64M	11
#define IOT_CLASS_FILE_256M	12
#define IOT_CLASS_FILE_1G	13
#define IOT_CLASS_FILE_LARGER	14

/* struct iot_uring: flags of COMPLETE, in bits that a cqe does not use */
#define IOT_URING_OVERFLOW	(1u << 14)	/* no room in the ring: the kernel keeps the cqe */
#define IOT_URING_DROPPED	(1u << 15)	/* no memory either: the program does not get it */

/* struct iot_fs, struct iot_uring: unsure */
#define IOT_UNSURE_CHANGED	(1u << 0)	/* the program's memory changed during the call */

/* struct iot_uring: opcode */
#define IOT_URING_NONE		0xffff
#define IOT_URING_READ_MULTISHOT	49	/* IORING_OP_READ_MULTISHOT, 6.7 */
#define IOT_URING_WAITID	50	/* IORING_OP_WAITID and the next three, 6.7 */
#define IOT_URING_FUTEX_WAIT	51
#define IOT_URING_FUTEX_WAKE	52
#define IOT_URING_FUTEX_WAITV	53

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

#endif /* _UAPI_IOTRACER_H */
