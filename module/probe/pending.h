/* SPDX-License-Identifier: GPL-2.0 */
/* What is known of a block request until it completes. */
#ifndef IOT_PENDING_H
#define IOT_PENDING_H

#include <linux/atomic.h>
#include <linux/types.h>
#include "file/paths.h"
#include "uapi/iotracer.h"

/**
 * struct iot_pending - a request, or a bio of a device without requests
 * @e:		its event as far as it is known; @e.parts, @e.queue_latency and @e.device_latency
 *		are those up to now
 * @insert:	when it was inserted into the queue, CLOCK_MONOTONIC ns; 0 if it is not
 *		in the queue
 * @issue:	when it was issued to the driver, CLOCK_MONOTONIC ns; 0 if the driver does
 *		not have it
 * @done:	bytes done so far; a request may complete in parts
 * @error:	-errno of the first part that failed, 0 if none did
 * @flushed:	it was part of a flush sequence, which clears some of its request flags
 * @silent:	it is not recorded
 * @syncs:	it flushes, and a sync submitted it: @synced is filled in
 * @synced:	file of that sync
 * @synced_size: size of that file, bytes
 * @depth:	number of requests that its device has; valid while the device has this one
 */
struct iot_pending {
	struct iot_block e;
	u64 insert;
	u64 issue;
	u64 done;
	int error;
	bool flushed;
	bool silent;
	bool syncs;
	struct iot_paths_file synced;
	u64 synced_size;
	atomic_t *depth;
};

#endif /* IOT_PENDING_H */
