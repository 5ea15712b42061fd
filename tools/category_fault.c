// SPDX-License-Identifier: GPL-2.0
/* Category fault: IO Tracer's columns of its page faults, out of our records. */
#include "category.h"

const struct record_column fault_columns[FAULT_COLUMNS] = {
	{ .name = "timestamp", .field = "time", .put = record_timestamp },
	{ .name = "pid", .field = "pid" },
	{ .name = "tid", .field = "tid" },
	{ .name = "command", .field = "comm" },
	{ .name = "fault_type", .field = "op" },
	{ .name = "severity", .field = "severity" },
	{ .name = "inode", .field = "inode" },
	{ .name = "offset", .field = "offset" },
	{ .name = "address", .field = "address" },
	{ .name = "dev_id", .field = "device" },
};
