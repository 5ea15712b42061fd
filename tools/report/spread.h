/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the rows of statistics are over time: sums for each row and bucket of a grid, and of some kinds of
 * keys also the latencies and sizes in each bucket, how many requests were in the device, and which parts
 * of a file or disk were accessed.
 *
 * Memory is that of the rows, which are limited, and of the buckets; it does not grow with the records.
 */
#ifndef TOOL_REPORT_SPREAD_H
#define TOOL_REPORT_SPREAD_H

#include <jansson.h>

#include "report/grid.h"
#include "report/places.h"
#include "trace/position.h"
#include "trace/stats.h"

#define SPREAD_SCALES	496	/* buckets of spread_scale() */
#define SPREAD_DISK	32	/* bytes of the name of a disk */
#define SPREAD_FILES	6	/* files whose positions are shown */
#define SPREAD_PACKED	60000	/* most counts of the packed latencies of all rows */

/* What is collected beside the sums. */
enum spread_parts {
	SPREAD_HISTOGRAMS = 1 << 0,	/* of latencies and sizes */
	SPREAD_DEPTH	  = 1 << 1,	/* requests in the device */
	SPREAD_POSITIONS  = 1 << 2,
	SPREAD_LATENCIES  = 1 << 4,	/* histograms of latencies alone, packed */
	SPREAD_TIMES	  = 1 << 3,	/* of the sums, only the time in the device, or without that the latency */
};

struct spread_cell {
	__u64 count, bytes, failed;
	__u64 latency, most;	/* ns: the sum, and the longest */
	__u64 device;		/* ns with driver and device; 0 if the events have none */
};

/* Set before spread_open(): the first part. */
struct spread {
	struct stats *stats;	/* finished */
	const struct grid *grid;
	unsigned int parts;	/* enum spread_parts */

	size_t nr;		/* rows */
	__u32 *row_of;		/* by number of the key */
	size_t nr_keys;
	struct spread_cell *cells;	/* by row and bucket */
	__u64 *latencies, *sizes;	/* by row, bucket and spread_scale() */
	__u64 *inside;			/* ns in the device, by row and bucket */
	const struct iot_schema_field *disk;	/* beside @inside: its name; else NULL */
	char (*disks)[SPREAD_DISK];		/* that of the first record of each row */
	struct positions positions;
	struct places *files;	/* by row */
};

/*
 * The bucket of a value: eight for each power of two, so a bucket's values differ by an eighth at most.
 * Values below 16 have one each.
 */
unsigned int spread_scale(__u64 value);

void spread_open(struct spread *s);
void spread_close(struct spread *s);

/* A record that the statistics are of; @time: when it began, ns since 1970. */
void spread_add(struct spread *s, const void *record, const struct measure *m, __u64 time);

/*
 * Members of the object, an element for each row:
 *
 *	cells		[bucket, count, bytes, errors, latency, longest, device]...
 *	times		[bucket, ns]... instead, with SPREAD_TIMES
 *	latencies	[bucket, scale, count]..., also sizes
 *	packed		[bucket, n, scale, count, more, count...]...: n counts, each behind its
 *			scale >> pack, of which only the first is whole; the others are how much
 *			more it is than the one before. Also pack: the least for which all rows have
 *			SPREAD_PACKED counts at most. Neither is there if none is enough.
 *	inside		[bucket, ns]..., also disks: the name of each row's
 *	positions	{row, range_bytes, at: [bucket, range, read, written]...} of some rows
 *
 * All arrays are flat, and have only what is not 0.
 */
void spread_json(const struct spread *s, json_t *object);

#endif /* TOOL_REPORT_SPREAD_H */
