/* SPDX-License-Identifier: GPL-2.0 */
/* Category fs of a trace with what each event is to the guest whose disk image it is of. */
#ifndef TOOL_VM_GUEST_EXPORT_H
#define TOOL_VM_GUEST_EXPORT_H

#include <stdbool.h>

#include "trace/check.h"
#include "trace/output.h"
#include "vm/guest_columns.h"

struct guest_export {
	bool wanted;
	const char **names;	/* of images that are read now */
	size_t nr_names;
	const char *image_format;	/* of these; NULL: found out */
	struct guest_images images;
	struct guest_parts parts;	/* of the event that is printed */
	struct guest_row row;		/* the one that is printed */
};

/* An image to be read by guest_export_open(). */
void guest_export_add(struct guest_export *g, const char *name);

/* Finds the maps for the trace. Returns an exit code; errors are reported. */
int guest_export_open(struct guest_export *g, struct check *check);
void guest_export_close(struct guest_export *g);

/* Adds the columns to a printer before it is opened. */
void guest_export_columns(struct row_printer *p);

/* Writes the rows of a record of category fs. False if that failed. */
bool guest_export_put(struct guest_export *g, struct row_printer *p, struct output *o,
		      const void *record);

/* The bytes of the file that a call is about: those moved, or those asked for if it failed. */
__u64 guest_export_length(const struct iot_fs *fs);

/* Reports given images of which the trace has no event. */
void guest_export_report(const struct guest_export *g);

#endif /* TOOL_VM_GUEST_EXPORT_H */
