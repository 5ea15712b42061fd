/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One I/O, whatever its category: a call (fs), a page fault (fault) or a request (block); and
 * which requests a call or fault waited for.
 *
 * A request belongs to a call or fault if it completed during it, on the same machine, and one of
 * these holds, the first one that does:
 *
 *	OWN	The thread of the call submitted it during the call.
 *	DATA	It reads bytes of the file that the call needs: a buffered read or a fault returns
 *		only when they are in memory, whoever had them read. Or it writes bytes of the
 *		file, and the call returns only when they are on the disk: FSYNC, FDATASYNC, MSYNC
 *		and SYNC_FILE_RANGE (the whole file), buffered writes with O_SYNC or O_DSYNC
 *		(their own range), SYNCFS and SYNC (any file of the filesystem; of any
 *		filesystem).
 *	SYNC	It is of the journal or a flush, on the device of the file, and the call is one of
 *		those that put data on the disk. SYNC: on any device.
 *
 * A request that was made before the trace (flag EARLY) belongs to none, as its times are not
 * known. Nor does one that completed after the call had returned: the call did not wait for it.
 */
#ifndef TOOL_TRACE_IO_EVENT_H
#define TOOL_TRACE_IO_EVENT_H

#include <stdbool.h>
#include <linux/types.h>

#include "trace/category.h"

struct source;

#define IO_COMM		16
#define IO_DISK		32
#define IO_PAGE		4096

enum io_kind { IO_CALL, IO_FAULT, IO_REQUEST, IO_KINDS };

enum io_relation { IO_UNRELATED, IO_OWN, IO_DATA, IO_SYNC, IO_RELATIONS };

struct io_event {
	const struct category *category;
	const struct source *source;	/* of a merged trace; else NULL */
	enum io_kind kind;
	unsigned int cpu;		/* with @seq, which event of its category it is */
	__u64 seq;
	__u64 begin, end;		/* CLOCK_MONOTONIC ns; begin <= end */
	__u64 offset, size;		/* bytes of the file */
	__u64 path, inode, cgroup;
	__u32 device;			/* of the file's filesystem */
	__u32 pid, tid;
	__u32 flags;
	__s64 result;
	__u16 op;
	char comm[IO_COMM];

	/* Of a request: */
	__u64 queue, in_device;		/* ns; @queue + @in_device <= end - begin */
	__u32 disk_device;		/* device number of the partition or disk */
	__u32 origin_pid;		/* 0: not known */
	__u16 class;
	char origin_comm[IO_COMM];
	char disk[IO_DISK];
};

/* The kind of a category's events. False if they are none of these. */
bool io_event_kind(const struct category *category, enum io_kind *kind);

/* @category is one of those. */
void io_event_read(struct io_event *e, const struct category *category, unsigned int cpu,
		   const struct source *source, const void *record);

/* When the driver got a request. */
static inline __u64 io_event_issued(const struct io_event *request)
{
	return request->end - request->in_device;
}

static inline __u64 io_event_latency(const struct io_event *e)
{
	return e->end - e->begin;
}

/* The end of a range of bytes: the largest number if it would be larger. */
static inline __u64 io_range_end(__u64 offset, __u64 size)
{
	return offset + size < offset ? ~0ULL : offset + size;
}

/* Whether two ranges of bytes have bytes in common. */
bool io_ranges_meet(__u64 offset, __u64 size, __u64 other, __u64 other_size);

/* Whether both are of the same file, which is known, on the same machine. */
bool io_event_same_file(const struct io_event *a, const struct io_event *b);

/* Whether after this operation of category fs an fsync has no more to do than before. */
bool io_op_only_looks(unsigned int op);

/* How a request belongs to a call or fault. */
enum io_relation io_event_relate(const struct io_event *call, const struct io_event *request);

/* "own", "data", "sync" */
extern const char *const io_relation_names[IO_RELATIONS];

/*
 * Whom a request is for: who made its data dirty, if that is known, else who submitted it.
 */
static inline __u32 io_event_owner(const struct io_event *e)
{
	return e->kind == IO_REQUEST && e->origin_pid ? e->origin_pid : e->pid;
}

static inline const char *io_event_owner_comm(const struct io_event *e)
{
	return e->kind == IO_REQUEST && e->origin_pid ? e->origin_comm : e->comm;
}

#endif /* TOOL_TRACE_IO_EVENT_H */
