/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which writes of a trace are on the disk for sure, and since when.
 *
 * A write is acknowledged when its call returns; a store to a mapping, when its page became dirty.
 * From then on its bytes are *exposed*, until they are durable, in one of two ways:
 *
 *	call	A call that promises it returned 0: fsync, fdatasync or msync(MS_SYNC) that began
 *		after the acknowledgment, syncfs or sync, or the write itself if it has O_SYNC or
 *		O_DSYNC.
 *	device	The data was written to the place that the file has for it, and a FLUSH that was
 *		given to the device after that completed. Data is with the device (EXTENT_CACHE)
 *		when the writeback of its page ended, or when a direct write returned. The file has
 *		a place for it, which a power cut does not take, if these bytes were durable by a
 *		call before, and no truncation or hole came since. This counts only if the caller
 *		says that files are overwritten in place.
 *
 * Both are lower bounds: what is not proved durable may be lost. sync_file_range(2) proves nothing
 * but what the writeback that it starts does. FUA alone proves nothing either: a call with O_DSYNC
 * made it.
 *
 * A page that is made dirty anew while it is written back has two versions: the one on its way and
 * the one in memory. So each range has a list of versions, and "durable" is always about a version,
 * or a later one.
 *
 * What cannot be followed is *unknown*, and is not durable until bytes written anew are: an
 * asynchronous write, whose completion the trace does not have; all that was exposed when a request
 * or a sync failed, as pages whose writeback failed are clean; what a call copied to an offset that
 * the record does not tell.
 *
 * Memory: a range takes 176 bytes and a file 400, and there are DURABLE_EXTENTS and DURABLE_FILES
 * of them at most. Of a file beyond, or that has too many ranges, everything is unknown (crowded).
 */
#ifndef TOOL_TRACE_DURABLE_H
#define TOOL_TRACE_DURABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "trace/distribution.h"
#include "trace/extents.h"
#include "trace/paths.h"
#include "uapi/iotracer.h"

struct source;

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

/*
 * Records in the order in which they ended. @wanted: whether bytes that the record writes are
 * followed; what it syncs is in either case.
 */
void durable_call(struct durable *d, const struct iot_fs *fs, const struct source *source, bool wanted);
void durable_page(struct durable *d, const struct iot_cache *page, const struct source *source, bool wanted);
void durable_request(struct durable *d, const struct iot_block *request, const struct source *source);

/* Adds what flushes made durable since. */
void durable_finish(struct durable *d);
void durable_free(struct durable *d);

/* What of a file may be lost, and what is durable. */
enum durable_state {
	DURABLE_MEMORY,		/* acknowledged; no writeback is known */
	DURABLE_WRITEBACK,	/* its writeback began */
	DURABLE_CACHE,		/* the device has it; no flush since is known */
	DURABLE_UNPROVEN,	/* flushed; the file may not have a place for it */
	DURABLE_UNKNOWN,
	DURABLE_SAFE,
	DURABLE_STATES
};

extern const char *const durable_state_names[DURABLE_STATES];
extern const char *const durable_name_names[];

/*
 * A range; @since: from when on writes to it may be lost. 0 if nothing may, or if it is not known.
 */
struct durable_range {
	__u64 begin, end, since;
	enum durable_state state;
};

/* Calls @each for the ranges of a file: those that may be lost, unknown ones, durable ones. */
void durable_ranges(const struct durable *d, const struct durable_file *f,
		    void (*each)(const struct durable_range *r, void *data), void *data);

/* Whether bytes or the name of the file may be lost. */
bool durable_is_exposed(const struct durable_file *f);

#endif /* TOOL_TRACE_DURABLE_H */
