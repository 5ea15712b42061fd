/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Write amplification: the bytes that each layer wrote, beside those that programs asked for.
 *
 *	calls		fs: what WRITE and DIO_WRITE of files on real filesystems have moved
 *	dirtied		cache: pages that became dirty
 *	written back	cache: pages whose writeback ended
 *	a disk		block: its WRITE and ZONE_APPEND requests. Each disk has its own sum: a disk that is
 *			made of others (dm, md) passes the same bytes on to them
 *
 * Programs also write by mappings, and filesystems write their own metadata and journals: so the sums
 * of the lower layers may be larger. Direct I/O makes no page dirty.
 */
#ifndef TOOL_TRACE_AMPLIFICATION_H
#define TOOL_TRACE_AMPLIFICATION_H

#include <jansson.h>
#include <stdbool.h>
#include <linux/types.h>

#include "core/schema.h"
#include "trace/basis.h"
#include "trace/measure.h"

#define AMPLIFICATION_DISKS 64

struct amplification {
	/* Set by the caller: which categories were read, and all of them together. */
	bool has_fs, has_cache, has_block;
	struct basis basis;

	__u64 calls, dirtied, written_back;	/* bytes */
	struct amplification_disk {
		char name[32];
		__u64 bytes;
	} disks[AMPLIFICATION_DISKS];
	unsigned int nr_disks;
	__u64 others;		/* bytes of disks beyond these */
};

/* Takes a record of fs, cache or block; those of other events are nothing. */
void amplification_add(struct amplification *a, const struct iot_schema_event *event, const void *record,
		       const struct measure *m);

/* Each on standard output, but for the JSON. */
void amplification_text(const struct amplification *a);
json_t *amplification_json(const struct amplification *a);
void amplification_csv(const struct amplification *a);

#endif /* TOOL_TRACE_AMPLIFICATION_H */
