/* SPDX-License-Identifier: GPL-2.0 */
/* The events of traces into a tree for databases: trace/fleet.h. */
#ifndef TOOL_CMD_EXPORT_FLEET_H
#define TOOL_CMD_EXPORT_FLEET_H

#include "cmd/pass.h"

/* The keys of --partition. */
#define FLEET_KEYS "host category date"
#define FLEET_NR_KEYS 3

/*
 * Adds all traces to the tree. @as is a pass that was not opened, with the options for each; it is
 * freed. If a trace fails, the others follow. Returns an exit code; errors are reported.
 */
int export_fleet(struct pass *as, const struct cli_words *traces, const char *directory);

#endif /* TOOL_CMD_EXPORT_FLEET_H */
