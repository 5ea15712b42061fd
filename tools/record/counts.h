/* SPDX-License-Identifier: GPL-2.0 */
/* The counts of a trace's files, for metadata.json. */
#ifndef TOOL_RECORD_COUNTS_H
#define TOOL_RECORD_COUNTS_H

#include <jansson.h>

#include "record/writer.h"

/*
 * Adds the counts of a category's file to @object. @missed: calls that no hook could follow. @seen:
 * events that passed the filter, null if not known. Takes both.
 */
void counts_put(json_t *object, const struct writer_file *f, json_t *missed, json_t *seen);

/* The counts of the file of paths. Takes @missed. */
json_t *counts_paths(const struct writer_file *f, json_t *missed);

#endif /* TOOL_RECORD_COUNTS_H */
