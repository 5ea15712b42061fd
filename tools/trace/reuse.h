/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How soon blocks of 4 KiB are accessed again: for each key, the stack distances (lru_curve.h) of
 * its accesses among the blocks that this key accesses.
 *
 * The distance is the number of different blocks since the last access to the block, that block
 * included. So it is the size, in blocks, of the smallest LRU cache for this key alone that makes
 * the access a hit. The first access to a block has none. For each first access there is a last
 * one, which no other follows.
 *
 * Accesses are in the order of their records, as in a simulation of caches. Their memory is
 * bounded, and blocks are sampled if it does not suffice (page_accesses.h). Then figures are
 * estimates, scaled to all blocks.
 */
#ifndef TOOL_TRACE_REUSE_H
#define TOOL_TRACE_REUSE_H

#include <jansson.h>
#include <stddef.h>
#include <linux/types.h>

#include "trace/distribution.h"
#include "trace/page_accesses.h"

#define REUSE_PARTS	6		/* five percentiles, and the largest distance */

extern const char *const reuse_part_names[REUSE_PARTS];

struct reuse_row {
	__u64 accesses, blocks;		/* blocks: different ones */
	__u64 distances[REUSE_PARTS];	/* in blocks; 0: no block was accessed again */
	struct distribution all;	/* until reuse_finish() returns */
};

struct reuse {
	struct page_accesses accesses;
	struct reuse_row *rows;		/* from reuse_finish() on */
	size_t nr;
};

/* @memory: bytes. Free it in the end. */
void reuse_open(struct reuse *r, __u64 memory);
void reuse_free(struct reuse *r);

/* Adds an access to each block of the range. Adds the key to the name of the file or disk. */
void reuse_add(struct reuse *r, __u32 key, struct page_access *access);

/*
 * @row_of: of @nr_keys keys. Several keys may have the same one of @nr rows: then it has the
 * distances of all.
 */
void reuse_finish(struct reuse *r, const __u32 *row_of, size_t nr_keys, size_t nr);

/* The share of the blocks that were kept: 1 if figures are exact. */
static inline double reuse_rate(const struct reuse *r)
{
	return page_accesses_rate(&r->accesses);
}

/*
 * A row of a table, below REUSE_HEADING; JSON, null for a row without an access; columns of CSV
 * with commas.
 */
#define REUSE_TITLE	"             DISTANCE IN BLOCKS OF 4 KiB"
#define REUSE_HEADING	"      ACCESSES   BLOCKS NO REUSE     P50     P90     P99   P99.9  P99.99     MAX"
void reuse_text(const struct reuse_row *row);
json_t *reuse_json(const struct reuse_row *row);
void reuse_csv_header(void);
void reuse_csv(const struct reuse_row *row);

/* If blocks were sampled, a line that says so. */
void reuse_text_rate(const struct reuse *r);

#endif /* TOOL_TRACE_REUSE_H */
