// SPDX-License-Identifier: GPL-2.0
/* Category cache: IO Tracer's columns for page cache events, made from our records. */
#include "trace/category.h"

static const struct row_column columns[] = {
	{ .name = "timestamp", .field = "time", .put = row_datetime },
	{ .name = "pid", .field = "pid" },
	{ .name = "command", .field = "comm" },
	{ .name = "event_type", .field = "op" },
	{ .name = "inode", .field = "inode" },
	{ .name = "index", .field = "index" },
	{ .name = "filename", .field = "path" },
	{ .name = "size", .field = "file_pages" },
	{ .name = "offset", .field = "offset" },
	{ .name = "count", .field = "pages" },
	{ .name = "cpu_id", .field = "cpu" },
	{ .name = "dev_id", .field = "device" },
};

const struct category category_cache = {
	.name = "cache",
	.io_tracer = "cache",
	.event_id = IOT_EVENT_ID_CACHE,
	.columns = columns,
	.nr_columns = sizeof(columns) / sizeof(columns[0]),
	.command_op = NO_OP,
};
