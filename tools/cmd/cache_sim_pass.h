/* SPDX-License-Identifier: GPL-2.0 */
/* The passes over a trace for a simulation of caches, and for what the page cache did. */
#ifndef TOOL_CMD_CACHE_SIM_PASS_H
#define TOOL_CMD_CACHE_SIM_PASS_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/pass.h"
#include "trace/cache_sim.h"
#include "trace/page_cache.h"

/* @again: all categories were read before, and what is wrong with them was reported. */

/*
 * The categories whose accesses are simulated, by their place in the pass. Of both, fs is used,
 * unless they were named. Returns how many, at most CACHE_SIM_CATEGORIES.
 */
#define CACHE_SIM_CATEGORIES 2
size_t cache_sim_pass_categories(const struct pass *p, size_t found[CACHE_SIM_CATEGORIES]);

/*
 * Adds the accesses of a category, and ends them: cache_sim_run() may follow. Returns an exit code;
 * errors are reported.
 */
int cache_sim_pass_read(struct pass *p, size_t i, bool again, struct cache_sim *s, struct basis *basis);

/* The events of category cache. */
int cache_sim_pass_look(struct pass *p, size_t i, bool again, struct page_cache *c, struct basis *basis);

#endif /* TOOL_CMD_CACHE_SIM_PASS_H */
