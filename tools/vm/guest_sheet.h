/* SPDX-License-Identifier: GPL-2.0 */
/* The maps of disk images as a snapshot of kind guest, beside the other snapshots of a trace. */
#ifndef TOOL_VM_GUEST_SHEET_H
#define TOOL_VM_GUEST_SHEET_H

#include <stdbool.h>

#include "vm/guest.h"

/*
 * Writes the map of each image, which has one at most, into a new snapshot. @in: the directory of snapshots, which
 * messages call @where. @problems: of each image why it has no map, or NULL. False if that failed,
 * which was reported.
 */
bool guest_sheet_write(const struct guest_images *images, char *const *problems, int in,
		       const char *where);

/* Adds the maps of all such snapshots in a trace. False if one is damaged, which was reported. */
bool guest_sheets_load(struct guest_images *images, const char *trace);

#endif /* TOOL_VM_GUEST_SHEET_H */
