/* SPDX-License-Identifier: GPL-2.0 */
/* Exports category fs with the meaning of each event to the guest whose disk image it touches. */
#ifndef TOOL_VM_GUEST_EXPORT_H
#define TOOL_VM_GUEST_EXPORT_H

#include <stdbool.h>

#include "trace/check.h"
#include "trace/output.h"
#include "vm/guest_columns.h"

struct guest_export {
	bool wanted;
	const char **names;	/* of images whose present maps are used */
	size_t nr_names;
	const char *image_format;	/* of these; NULL: detected */
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

/* The image that a call is on, or NULL. */
struct guest_image *guest_export_image(const struct guest_images *images, const struct paths *paths,
				       const struct iot_fs *fs);

/* The length of a call's range: the bytes moved, or those requested if it failed. */
__u64 guest_export_length(const struct iot_fs *fs);

/* Reports images named by the user for which the trace has no event. */
void guest_export_report(const struct guest_export *g);

#endif /* TOOL_VM_GUEST_EXPORT_H */
