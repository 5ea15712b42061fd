/* SPDX-License-Identifier: GPL-2.0 */
/* What is known of a request of a block device until it is done. */
#ifndef IOT_PENDING_H
#define IOT_PENDING_H

#include <linux/atomic.h>
#include <linux/types.h>
#include "uapi/iotracer.h"

/**
 * struct iot_pending - a request, or a bio of a device without requests
 * @e:		its event, as far as it is known: @e.parts completions so far,
 *		@e.queue_latency and @e.device_latency up to now
 * @insert:	when it was given to the queue, CLOCK_MONOTONIC ns, 0: it is not in it
 * @issue:	when the driver got it, likewise, 0: it has not
 * @done:	bytes that are done, of a request that ends in parts
 * @depth:	how many its device has, while it is one of them
 * @flushed:	a part of a flush sequence, that takes some of its flags away
 * @silent:	it will have no event
 * @error:	of the first part that failed, -errno
 */
struct iot_pending {
	struct iot_block e;
	u64 insert;
	u64 issue;
	u64 done;
	atomic_t *depth;
	bool flushed;
	bool silent;
	int error;
};

#endif /* IOT_PENDING_H */
