/* SPDX-License-Identifier: GPL-2.0 */
/* Maps of the first keys of a profile, for which a category is read once more. */
#ifndef TOOL_CMD_PROFILE_MAPS_H
#define TOOL_CMD_PROFILE_MAPS_H

#include <stddef.h>
#include <linux/types.h>

#include "trace/access_map.h"
#include "trace/pattern.h"

struct pass;
struct stats_keys;

#define PROFILE_MAPS 64		/* keys that have a map, at most: 16 KiB each */

/*
 * The patterns, of the i-th category, are finished. Returns an exit code; errors are reported. *maps has *nr
 * maps, those of the first rows; the caller frees it.
 */
int profile_maps(struct pass *pass, size_t i, struct stats_keys *keys, struct patterns *patterns,
		 struct access_map **maps, size_t *nr);

#endif /* TOOL_CMD_PROFILE_MAPS_H */
