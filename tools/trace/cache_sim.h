/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What caches of several sizes and policies would have made of the accesses of a trace.
 *
 * If pages are sampled, each cache is as much smaller as the sample is, and a page of the sample
 * stands for several. As SHARDS does, the difference between the accesses that the sample should
 * have and those that it has is added to the hits: it comes from few pages with many accesses,
 * which any cache keeps.
 */
#ifndef TOOL_TRACE_CACHE_SIM_H
#define TOOL_TRACE_CACHE_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "trace/page_accesses.h"
#include "trace/lru_curve.h"

enum cache_policy { CACHE_LRU, CACHE_FIFO, CACHE_ARC, CACHE_MIN, CACHE_POLICIES };

#define CACHE_POLICY_WORDS "lru fifo arc min"

/* Of reads alone, and of reads and writes. */
enum cache_of { CACHE_READS, CACHE_ALL, CACHE_OF };

struct cache_size {
	__u64 bytes;
	__u64 pages;			/* in the sample; 0: the sample is too small to tell */
	struct hits hits[CACHE_POLICIES];	/* in the sample */
	double error[CACHE_OF];		/* of LRU's hit ratios: half of the interval of 95 % */
};

/* Set before cache_sim_run(): the first part; page_accesses_end() was called. */
struct cache_sim {
	struct page_accesses accesses;
	bool policies[CACHE_POLICIES];
	double wanted;			/* hit ratio in percent; 0: none */

	/* The sizes given, or if none are, up to that of the working set; ascending. */
	struct cache_size *sizes;
	size_t nr;
	struct hits kept;		/* accesses in the sample */
	__u64 pages_read, pages_written;	/* in the sample */
	__u64 wanted_bytes;		/* the smallest LRU cache with the wanted hit ratio; 0: none has it */
};

void cache_sim_add_size(struct cache_sim *s, __u64 bytes);
void cache_sim_run(struct cache_sim *s);
void cache_sim_free(struct cache_sim *s);

/* A number of pages of the sample as bytes of the trace. */
__u64 cache_sim_bytes(const struct cache_sim *s, __u64 pages);

/* Accesses that were seen. */
__u64 cache_sim_accesses(const struct cache_sim *s, enum cache_of of);

/* The share of hits among them, 0 to 1; 0 if there are none. */
double cache_sim_ratio(const struct cache_sim *s, struct hits hits, enum cache_of of);

#endif /* TOOL_TRACE_CACHE_SIM_H */
