/* SPDX-License-Identifier: GPL-2.0 */
/* A simulation of caches, and what the page cache did, as text of 80 columns, as JSON or as CSV. */
#ifndef TOOL_TRACE_CACHE_SIM_REPORT_H
#define TOOL_TRACE_CACHE_SIM_REPORT_H

#include <jansson.h>

#include "trace/basis.h"
#include "trace/cache_sim.h"
#include "trace/page_cache.h"

/* @category: that of the accesses. */
void cache_sim_text(const struct cache_sim *s, const char *category, const struct basis *basis);
json_t *cache_sim_json(const struct cache_sim *s, const char *category, const struct basis *basis);

/* Of category cache. */
void page_cache_text(const struct page_cache *c, const struct basis *basis, size_t top);
json_t *page_cache_json(const struct page_cache *c, const struct basis *basis);

/* The names of the columns, which both share; then the rows. */
void cache_sim_csv_header(void);
void cache_sim_csv(const struct cache_sim *s, const char *category, const struct basis *basis);
void page_cache_csv(const struct page_cache *c, const struct basis *basis);

/* Names of the policies; whether reads are shown apart from all accesses, as there are also writes. */
extern const char *const cache_sim_policies[CACHE_POLICIES];
bool cache_sim_has_both(const struct cache_sim *s);

#endif /* TOOL_TRACE_CACHE_SIM_REPORT_H */
