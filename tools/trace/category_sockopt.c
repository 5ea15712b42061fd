// SPDX-License-Identifier: GPL-2.0
/* Category sockopt: IO Tracer's columns for options of sockets, made from our records. */
#include "trace/category.h"

static const struct row_column columns[] = {
	{ .name = "timestamp", .field = "time", .put = row_datetime },
	{ .name = "event_type", .field = "op" },
	{ .name = "pid", .field = "pid" },
	{ .name = "command", .field = "comm" },
	{ .name = "fd", .field = "fd" },
	{ .name = "level", .field = "level" },
	{ .name = "option_name", .field = "option" },
	{ .name = "option_value", .field = "value" },
	{ .name = "return_value", .field = "result" },
};

const struct category category_sockopt = {
	.name = "sockopt",
	.io_tracer = "nw_sockopt",
	.event_id = IOT_EVENT_ID_SOCKOPT,
	.columns = columns,
	.nr_columns = sizeof(columns) / sizeof(columns[0]),
	.command_op = NO_OP,
};
