/* SPDX-License-Identifier: GPL-2.0 */
/* Sums over the records of a category, of what the kernel counts, too. */
#ifndef TOOL_TRACE_SUMS_H
#define TOOL_TRACE_SUMS_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#define SUMS_DISK 32	/* bytes of the name of a disk */
#define SUMS_OPS 16	/* operations of category cache, and some more */

/* As /proc/diskstats has them. */
enum sums_direction { SUMS_READ, SUMS_WRITE, SUMS_DISCARD, SUMS_FLUSH, SUMS_DIRECTIONS };

/* The requests of a partition, or of a disk that are of none of its partitions. */
struct sums_device {
	__u32 device;			/* major << 20 | minor */
	char disk[SUMS_DISK];
	__u64 requests[SUMS_DIRECTIONS], bytes[SUMS_DIRECTIONS];
	__u64 asked[SUMS_DIRECTIONS];	/* bytes of the requests, whatever became of them */
};

struct sums {
	__u64 events;
	/* fs: calls that /proc/PID/io counts, and what they moved */
	__u64 calls[2], moved[2];	/* SUMS_READ, SUMS_WRITE */
	__u64 direct_writes;		/* bytes */
	/* block */
	struct sums_device *devices;
	size_t nr_devices;
	__u64 submitted;		/* bytes of reads that the recorded processes submitted */
	__u64 swapped[2];		/* bytes */
	/* cache: pages by operation */
	__u64 pages[SUMS_OPS];
	/* fault: minor and major */
	__u64 faults[2];
};

/* Adds a record of an event (IOT_EVENT_ID_*) that has sums. */
void sums_add(struct sums *s, unsigned int event_id, const void *record);
void sums_free(struct sums *s);

#endif /* TOOL_TRACE_SUMS_H */
