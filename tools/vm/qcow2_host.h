/* SPDX-License-Identifier: GPL-2.0 */
/* Maps a qcow2 file to the guest's disk: the use of each range of the file. */
#ifndef TOOL_VM_QCOW2_HOST_H
#define TOOL_VM_QCOW2_HOST_H

#include "vm/qcow2.h"

/* If a cluster has several uses, the first one counts. */
enum qcow2_use {
	USE_HEADER,		/* header, its extensions and the name of the backing file */
	USE_L1,
	USE_L2,
	USE_REFCOUNT_TABLE,
	USE_REFCOUNT_BLOCK,
	USE_SNAPSHOT_TABLE,
	USE_SNAPSHOT_L1,
	USE_SNAPSHOT_L2,
	USE_DATA,
	USE_COMPRESSED,
	USE_ZERO,		/* space for a cluster that reads as zeros */
	USE_SNAPSHOT_DATA,	/* data of a snapshot only */
	USE_STATE,		/* a VM's state, saved with a snapshot */
	USE_UNALLOCATED,	/* space for a subcluster that is not allocated */
	USE_OTHER,		/* in use otherwise, as by a bitmap, or leaked */
	USE_UNUSED,
	QCOW2_USES
};

struct qcow2_region {
	__u64 host, length;
	enum qcow2_use use;
	bool has_guest;
	__u64 guest, guest_length;	/* for an L2 table the range that it describes */
};

/* "data", "l2" and so on. */
const char *qcow2_use_name(enum qcow2_use use);

/* Extends @last by @next, which follows it, if both have the same use. */
bool qcow2_region_join(struct qcow2_region *last, const struct qcow2_region *next);

/*
 * Calls @put for the regions of the file from @host to @end, in order. A region is part of a cluster
 * or table, or a run of unused clusters. All L2 tables are read once, and those with entries in the
 * present range once more per 2^19 pieces. Returns NULL, or an error message.
 */
char *qcow2_regions(struct qcow2 *q, __u64 host, __u64 end,
		    void (*put)(const struct qcow2_region *region, void *data), void *data);

#endif /* TOOL_VM_QCOW2_HOST_H */
