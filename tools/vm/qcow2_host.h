/* SPDX-License-Identifier: GPL-2.0 */
/* What the bytes of a qcow2 file are for: the way back from the file to the guest's disk. */
#ifndef TOOL_VM_QCOW2_HOST_H
#define TOOL_VM_QCOW2_HOST_H

#include "vm/qcow2.h"

/* Where several hold for a cluster, the first one counts. */
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
	USE_ZERO,		/* room for data of a cluster that reads as zeros */
	USE_SNAPSHOT_DATA,	/* data of a snapshot only */
	USE_STATE,		/* state of a virtual machine, kept with a snapshot */
	USE_UNALLOCATED,	/* room for a subcluster that the image does not have */
	USE_OTHER,		/* in use, as of a bitmap, or leaked */
	USE_UNUSED,
	QCOW2_USES
};

struct qcow2_region {
	__u64 host, length;
	enum qcow2_use use;
	bool has_guest;
	__u64 guest, guest_length;	/* of an L2 table: what it describes */
};

/* "data", "l2" and so on. */
const char *qcow2_use_name(enum qcow2_use use);

/* Makes @last longer by @next, which begins where it ends, if that is one region. */
bool qcow2_region_join(struct qcow2_region *last, const struct qcow2_region *next);

/*
 * Calls @put for the parts of the file from @host to @end, in order. Each is a part of a cluster
 * or of a table, or of many that are not in use. It reads all L2 tables, and for each 2^19 pieces
 * again those that have something there. Returns what is wrong with the image, or NULL.
 */
char *qcow2_regions(struct qcow2 *q, __u64 host, __u64 end,
		    void (*put)(const struct qcow2_region *region, void *data), void *data);

#endif /* TOOL_VM_QCOW2_HOST_H */
