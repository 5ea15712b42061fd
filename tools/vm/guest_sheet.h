/* SPDX-License-Identifier: GPL-2.0 */
/* Maps of disk images as a snapshot of kind guest, beside the other snapshots of a trace. */
#ifndef TOOL_VM_GUEST_SHEET_H
#define TOOL_VM_GUEST_SHEET_H

#include <stdbool.h>

#include "vm/guest.h"

/*
 * Writes the map of each image, at most one each, into a new snapshot. @in: the directory of the
 * trace's snapshots; @where: its name in messages. @problems: for each image NULL, or why it has no
 * map. Returns false after an error, which was reported.
 */
bool guest_sheet_write(const struct guest_images *images, char *const *problems, int in,
		       const char *where);

/* Adds the maps of all such snapshots in a trace. False if one is damaged, which was reported. */
bool guest_sheets_load(struct guest_images *images, const char *trace);

#endif /* TOOL_VM_GUEST_SHEET_H */
