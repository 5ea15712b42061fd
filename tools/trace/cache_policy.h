/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Caches of one size whose pages are replaced by a policy. Each access brings its page into the
 * cache, whether it reads or writes.
 *
 *	FIFO	evicts the page that was brought in first
 *	ARC	Megiddo and Modha, FAST '03: two lists, of pages accessed once and more often, each
 *		with as many names of evicted pages, from which it learns how long the lists should be
 *	MIN	Belady, 1966: evicts the page whose next access is the last; no policy has more hits
 *
 * LRU is in lru_curve.h, at all sizes at once.
 */
#ifndef TOOL_TRACE_CACHE_POLICY_H
#define TOOL_TRACE_CACHE_POLICY_H

#include "trace/lru_curve.h"

/* Bytes of memory a page that the most expensive one takes, ARC. */
#define CACHE_POLICY_BYTES 9

/* The hits with a cache of so many pages, which is not 0. @next: as lru_curve_make() made it. */
struct hits cache_fifo(const struct page_accesses *a, __u64 pages);
struct hits cache_arc(const struct page_accesses *a, __u64 pages);
struct hits cache_min(const struct page_accesses *a, const __u32 *next, __u64 pages);

#endif /* TOOL_TRACE_CACHE_POLICY_H */
