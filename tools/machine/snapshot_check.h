/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks the snapshots of a trace. A part is compressed by gzip, which adds a checksum, and
 * snapshot.json contains its size and number of rows. snapshot.json itself has no checksum: it must
 * be JSON, and match its parts and its directory.
 */
#ifndef TOOL_MACHINE_SNAPSHOT_CHECK_H
#define TOOL_MACHINE_SNAPSHOT_CHECK_H

#include <stdbool.h>

struct check;

/*
 * Reads all snapshots. Reports those that are damaged or missing, which sets c->damaged, and prints
 * the number of whole ones. Prints nothing for a trace without snapshots.
 */
void snapshot_check(struct check *c);

#endif /* TOOL_MACHINE_SNAPSHOT_CHECK_H */
