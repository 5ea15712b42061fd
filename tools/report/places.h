/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which positions of a file or disk were read and written over time: bytes by range of positions
 * and bucket.
 */
#ifndef TOOL_REPORT_PLACES_H
#define TOOL_REPORT_PLACES_H

#include <jansson.h>
#include <stdbool.h>

#include "report/grid.h"

#define PLACES		40	/* ranges of positions */
#define PLACES_LEAST	4096	/* bytes of a range at first */

struct place {
	__u64 bytes[2];		/* read, written */
};

/* Start from a zeroed struct. */
struct places {
	__u64 size;		/* bytes of a range of positions, a power of two */
	__u64 accesses;
	struct place (*at)[PLACES];	/* by bucket; NULL before the first access */
};

/* @weight accesses at @start in a bucket of the grid. Ranges get larger as they must. */
void places_add(struct places *p, const struct grid *g, size_t bucket, bool write, __u64 start, __u64 bytes,
		__u64 weight);

/* Members range_bytes, and at: [bucket, range, read, written]... of what is not 0, a flat array. */
void places_json(const struct places *p, const struct grid *g, json_t *object);

void places_free(struct places *p);

#endif /* TOOL_REPORT_PLACES_H */
