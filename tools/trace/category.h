/* SPDX-License-Identifier: GPL-2.0 */
/* A category that can be recorded. Each has a file category_<name>.c. */
#ifndef TOOL_TRACE_CATEGORY_H
#define TOOL_TRACE_CATEGORY_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "core/schema.h"
#include "trace/row.h"

struct category {
	const char *name;		/* name of its directory in /proc/iotracer */
	const char *io_tracer;		/* its name in IO Tracer */
	unsigned int event_id;
	const struct row_column *columns;	/* IO Tracer's */
	size_t nr_columns;
	__u16 command_op;		/* the operation that has a command line, or NO_OP */
	bool lists;			/* its first events say what was there before */
};

#define NO_OP 0xffff

const struct iot_schema_event *category_event(const struct category *category);

#endif /* TOOL_TRACE_CATEGORY_H */
