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

#include "trace/durable_state.h"

/*
 * Records in the order in which they ended. @wanted: whether bytes that the record writes are
 * followed; what it syncs is in either case.
 */
void durable_call(struct durable *d, const struct iot_fs *fs, const struct source *source, bool wanted);
void durable_page(struct durable *d, const struct iot_cache *page, const struct source *source, bool wanted);
void durable_request(struct durable *d, const struct iot_block *request, const struct source *source);

void durable_free(struct durable *d);

#endif /* TOOL_TRACE_DURABLE_H */
