/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sections of a report that show what other commands compute. Each adds a member to the
 * document that equals the JSON of its command for the same trace and selection, within the bounds
 * that are said here. All categories were read before. Returns an exit code; errors are reported.
 */
#ifndef TOOL_CMD_REPORT_SECTIONS_H
#define TOOL_CMD_REPORT_SECTIONS_H

#include <jansson.h>

#include "cmd/pass.h"
#include "report/grid.h"

#define REPORT_CACHE_MEMORY	(32ULL << 20)	/* bytes: more accesses are sampled */
#define REPORT_PAIRS		40		/* of commands: who made whose pages be reclaimed */
#define REPORT_FILES		20		/* of durability */

/*
 * "cache_sim": that of iotracer cache-sim --memory=32M; of "reclaimed" the first REPORT_PAIRS rows.
 */
int report_cache_sim(struct pass *p, json_t *document);

/*
 * "durability": that of iotracer durability; null without category fs. Also "over_time": a flat
 * array of ns since 1970 and of what --at that time is "at_risk_bytes", at the end of each part of
 * the grid and of the trace. Parts are left out if that is too much work.
 */
int report_durability(struct pass *p, const struct grid *g, json_t *document);

/*
 * "drives": that of iotracer profile --vm of the machine that was recorded; null if none was, or
 * without category fs. Each of its "drives" has "positions", too: that of places.h, at the guest's
 * offsets. If the trace has no map of an image, there is only "vm", and no drive.
 */
int report_drives(struct pass *p, const struct grid *g, json_t *document);

#endif /* TOOL_CMD_REPORT_SECTIONS_H */
