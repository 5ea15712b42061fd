/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Columns with the meaning of an event on a disk image to the guest. An event has a row for each part
 * of its range. An event without a range, or on another file, has one row, with empty columns.
 */
#ifndef TOOL_VM_GUEST_COLUMNS_H
#define TOOL_VM_GUEST_COLUMNS_H

#include "trace/row.h"
#include "vm/guest.h"

/* The context of a row's printer. */
struct guest_row {
	const char *drives;	/* "": not known */
	const char *file;
	const struct guest_part *part;	/* NULL: none */
	size_t number;			/* of the part among those of the event */
};

extern const struct row_column guest_drive_column, guest_file_column;

#define GUEST_COLUMNS 6
extern const struct row_column guest_columns[GUEST_COLUMNS];

#endif /* TOOL_VM_GUEST_COLUMNS_H */
