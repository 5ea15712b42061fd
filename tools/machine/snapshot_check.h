/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether the snapshots of a trace are whole. A part is compressed by gzip, which has a checksum,
 * and snapshot.json has its size and rows. snapshot.json itself has no checksum: it has to be
 * JSON, and to fit the parts and the directory.
 */
#ifndef TOOL_MACHINE_SNAPSHOT_CHECK_H
#define TOOL_MACHINE_SNAPSHOT_CHECK_H

#include <stdbool.h>

struct check;

/*
 * Reads all of them. What is damaged or missing is reported, and sets c->damaged; what can be
 * read is printed. Nothing is said of a trace without snapshots.
 */
void snapshot_check(struct check *c);

#endif /* TOOL_MACHINE_SNAPSHOT_CHECK_H */
