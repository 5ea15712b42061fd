/* SPDX-License-Identifier: GPL-2.0 */
/* The curve of a simulation as a picture: the miss ratio by the size of the cache, a line for each policy. */
#ifndef TOOL_TRACE_CACHE_SIM_SVG_H
#define TOOL_TRACE_CACHE_SIM_SVG_H

struct basis;
struct cache_sim;
struct svg;

/* Adds the panels of a category. */
void cache_sim_svg(const struct cache_sim *s, const char *category, const struct basis *basis, struct svg *svg);

#endif /* TOOL_TRACE_CACHE_SIM_SVG_H */
