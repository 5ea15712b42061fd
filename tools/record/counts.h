/* SPDX-License-Identifier: GPL-2.0 */
/* What metadata.json says of a file that was written. */
#ifndef TOOL_RECORD_COUNTS_H
#define TOOL_RECORD_COUNTS_H

#include <jansson.h>

#include "record/writer.h"

/*
 * Adds the counts of a category's file to @object. @missed are calls that the kernel's hooks
 * missed, @seen those they saw, null if that is not known; it takes both.
 */
void counts_put(json_t *object, const struct writer_file *f, json_t *missed, json_t *seen);

/* The counts of the file of paths. Takes @missed. */
json_t *counts_paths(const struct writer_file *f, json_t *missed);

#endif /* TOOL_RECORD_COUNTS_H */
