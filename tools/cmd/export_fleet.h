/* SPDX-License-Identifier: GPL-2.0 */
/* The events of traces into a tree for databases: trace/fleet.h. */
#ifndef TOOL_CMD_EXPORT_FLEET_H
#define TOOL_CMD_EXPORT_FLEET_H

#include "cmd/pass.h"

/* The keys of --partition. */
#define FLEET_KEYS "host category date"
#define FLEET_NR_KEYS 3

/*
 * Adds all traces to the tree. @as: the options of the passes, which were not opened; it is freed. A trace that
 * fails does not stop the others. Returns an exit code; errors are reported.
 */
int export_fleet(struct pass *as, const struct cli_words *traces, const char *directory);

#endif /* TOOL_CMD_EXPORT_FLEET_H */
