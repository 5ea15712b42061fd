/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a file, or a disk, is accessed over time: how many reads and writes began in each range of offsets, in
 * each interval. Its size is fixed: the first and the last offset and time are known before. What is outside of
 * them is left out: the trace has changed meanwhile.
 */
#ifndef TOOL_TRACE_ACCESS_MAP_H
#define TOOL_TRACE_ACCESS_MAP_H

#include <jansson.h>
#include <stdbool.h>
#include <linux/types.h>

#include "base/shade.h"

#define ACCESS_MAP_ROWS		16
#define ACCESS_MAP_COLUMNS	64
#define ACCESS_MAP_KINDS	2	/* reads, writes */

struct svg;

struct access_map {
	__u64 size;		/* bytes of a row: a power of two */
	__u64 first;		/* the first row begins at @first * @size */
	unsigned int rows;
	__u64 begin, interval;	/* ns: of the first column, of each */
	__u64 origin;		/* ns: the time that is shown as +0s */
	const char *since;	/* what that is: the title of an axis */
	__u64 sums[ACCESS_MAP_KINDS];
	__u64 counts[ACCESS_MAP_KINDS][ACCESS_MAP_ROWS][ACCESS_MAP_COLUMNS];
};

/* The first and last bytes at which an access began, and when it did, as for access_map_add(). */
void access_map_open(struct access_map *m, __u64 lowest, __u64 highest, __u64 earliest, __u64 latest);

/* An access that began at the byte @start, at @time. */
void access_map_add(struct access_map *m, bool write, __u64 start, __u64 time, __u64 weight);

/* The largest count of a cell, as text shows it. */
__u64 access_map_most(const struct access_map *m);

/* Reads are to the left of writes; if there are none of one kind, the other has all of the width. */
void access_map_text(const struct access_map *m, const struct shades *shades);

/* The same as two panels beside each other. */
void access_map_svg(const struct access_map *m, struct svg *svg, const char *title);

/* The cells that are not empty. */
json_t *access_map_json(const struct access_map *m);

#endif /* TOOL_TRACE_ACCESS_MAP_H */
