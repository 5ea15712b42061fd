/* SPDX-License-Identifier: GPL-2.0 */
/* Operations and flags by name, as uapi/ops.def and uapi/flags.def list them. */
#ifndef TOOL_TRACE_FLAGS_H
#define TOOL_TRACE_FLAGS_H

#include <jansson.h>
#include <stddef.h>
#include <linux/types.h>

#include "core/names.h"

#define FLAGS_MAX 512	/* bytes of text at most; longer text is cut */

/* Writes "A|B|0x400" into FLAGS_MAX bytes, "" for no flags. Returns the length. */
size_t flags_show(char *out, const char *group, __u32 value);

/* Both lists as JSON, for the copy of the schema in a trace. */
json_t *flags_json(void);
json_t *operations_json(void);

#endif /* TOOL_TRACE_FLAGS_H */
