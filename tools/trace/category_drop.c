// SPDX-License-Identifier: GPL-2.0
/* Category drop: IO Tracer's columns for drops of the network, made from our records. */
#include <string.h>

#include "core/names.h"
#include "trace/category.h"

/* IO Tracer has one name for resets, whoever sends them. */
static char *put_event(struct row_printer *p, const struct row_column *c, char *out,
		       const void *record)
{
	const struct iot_drop *d = record;
	const char *name = "TCP_RESET";

	(void)c;
	if (d->op != IOT_DROP_RESET_SENT && d->op != IOT_DROP_RESET_RECEIVED)
		name = iot_names_op_name(IOT_EVENT_ID_DROP, d->op);
	return row_text(p, out, name ? name : "", name ? strlen(name) : 0, true);
}

static const struct row_column columns[] = {
	{ .name = "timestamp", .field = "time", .put = row_datetime },
	{ .name = "event_type", .field = "op", .put = put_event },
	{ .name = "pid", .field = "pid" },
	{ .name = "command", .field = "comm" },
	{ .name = "protocol", .field = "protocol" },
	{ .name = "ip_version", .field = "ip_version" },
	{ .name = "source_addr", .field = "source" },
	{ .name = "dest_addr", .field = "destination" },
	{ .name = "source_port", .field = "source_port" },
	{ .name = "dest_port", .field = "destination_port" },
	{ .name = "packet_size", .field = "size" },
	{ .name = "drop_reason", .field = "reason" },
	{ .name = "tcp_state", .field = "tcp_state" },
};

const struct category category_drop = {
	.name = "drop",
	.io_tracer = "nw_drop",
	.event_id = IOT_EVENT_ID_DROP,
	.columns = columns,
	.nr_columns = sizeof(columns) / sizeof(columns[0]),
	.command_op = NO_OP,
};
