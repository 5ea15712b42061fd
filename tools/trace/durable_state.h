/* SPDX-License-Identifier: GPL-2.0 */
/* What is known of the files of a trace: see durable.h. */
#ifndef TOOL_TRACE_DURABLE_STATE_H
#define TOOL_TRACE_DURABLE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/types.h>

#include "trace/distribution.h"
#include "trace/extents.h"
#include "trace/paths.h"
#include "uapi/iotracer.h"

struct source;

#define DURABLE_ALL	INT64_MAX	/* no file is larger */
#define DURABLE_EXTENTS	1000000
#define DURABLE_FILES	200000
#define DURABLE_DISKS	256
#define DURABLE_DISK	32

/* What a power cut may do to the name that a file has. */
enum durable_name {
	DURABLE_NAME_OLD,	/* nothing: it had the name before the trace, or it was synced since */
	DURABLE_NAME_NEW,	/* the file was created: it may be gone as a whole */
	DURABLE_NAME_MOVED,	/* renamed or linked: it may have the old name */
	DURABLE_NAME_REMOVED,	/* its last known name was removed: it may be back */
};

struct durable_file {
	const struct source *source;
	__u64 inode, path;
	__u32 device;
	struct extents pending;	/* exposed, with versions */
	struct extents unknown, synced;	/* synced: durable by a call, and not truncated since */
	__u64 end;		/* of all that was written */
	__u64 writes, written;	/* calls, and their bytes */
	__u64 mapped_pages;	/* made dirty by stores to a mapping */
	__u64 unplaced, unplaced_since;	/* bytes that were copied to offsets that are not known */
	__u64 syncs, idle_syncs, failed_syncs;
	enum durable_name name;
	__u64 name_since;
	bool mapped;		/* a shared mapping that can be written */
	bool changed, has_synced;	/* since the last sync; there was one */
	bool crowded;
	bool listed;		/* in the list of those that have something exposed */
	__u64 longest;		/* exposure of bytes that became durable, ns */
	struct distribution exposures;	/* of each byte, rounded up to three digits */
};

/* A filesystem and its disk, as requests show. */
struct durable_disk {
	const struct source *source;
	__u32 device;
	char disk[DURABLE_DISK];
	bool several;		/* it has several disks: its flushes prove nothing */
};

struct durable_flush {
	__u64 issued, end;
};

/* The flushes of a disk that succeeded, by their end. */
struct durable_flushes {
	const struct source *source;
	char disk[DURABLE_DISK];
	struct durable_flush *at;
	size_t nr, room;
};

/* Set all of the first part; the rest is zero. */
struct durable {
	const struct paths *names;
	bool in_place;		/* files are overwritten in place */
	bool no_cache;		/* devices have no volatile cache */
	bool has_requests;	/* the trace has category block: failed writebacks are seen */

	__u32 *slots;		/* numbers of files + 1 by hash of their key; 0: free */
	__u64 seed;
	struct durable_file *files;
	size_t nr, room;
	__u64 beyond;		/* writes to files that were too many */
	__u32 *list;		/* files that have something exposed */
	size_t nr_list, room_list;
	__u64 extents;		/* ranges of all files */
	bool swept;		/* flushes made no room for more */
	struct durable_disk disks[DURABLE_DISKS];
	struct durable_flushes flushes[DURABLE_DISKS];
	size_t nr_disks, nr_flushes;
	__u64 async_writes, failed_requests;
};

static inline __u64 durable_lesser(__u64 a, __u64 b)
{
	return a < b ? a : b;
}

#endif /* TOOL_TRACE_DURABLE_STATE_H */
