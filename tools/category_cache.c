// SPDX-License-Identifier: GPL-2.0
/* Category cache: IO Tracer's columns for page cache events, made from our records. */
#include "category.h"

const struct record_column cache_columns[CACHE_COLUMNS] = {
	{ .name = "timestamp", .field = "time", .put = record_datetime },
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
