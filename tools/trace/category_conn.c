// SPDX-License-Identifier: GPL-2.0
/* Category conn: IO Tracer's columns for the life of sockets, made from our records. */
#include "base/put.h"
#include "trace/category.h"
#include "uapi/iotracer.h"

static char *put_nothing(const struct row_printer *p, char *out)
{
	return row_text(p, out, "", 0, true);
}

static char *put_version(struct row_printer *p, const struct row_column *c, char *out,
			 const void *record)
{
	const struct iot_conn *e = record;

	(void)c;
	return row_ip_version(p, out, e->family, e->remote);
}

static char *put_how(struct row_printer *p, const struct row_column *c, char *out,
		     const void *record)
{
	const struct iot_conn *e = record;

	(void)c;
	return e->op == IOT_CONN_SHUTDOWN ? row_group(p, out, "shuthow", e->how) :
	       put_nothing(p, out);
}

static char *put_backlog(struct row_printer *p, const struct row_column *c, char *out,
			 const void *record)
{
	const struct iot_conn *e = record;

	(void)c;
	return e->op == IOT_CONN_LISTEN ? put_s64(out, e->backlog) : put_nothing(p, out);
}

static const struct row_column columns[] = {
	{ .name = "timestamp", .field = "time", .put = row_datetime },
	{ .name = "event_type", .field = "op" },
	{ .name = "pid", .field = "pid" },
	{ .name = "tid", .field = "tid" },
	{ .name = "command", .field = "comm" },
	{ .name = "domain", .field = "family" },
	{ .name = "sock_type", .field = "type" },
	{ .name = "protocol", .field = "protocol" },
	{ .name = "ip_version", .field = "family", .put = put_version },
	{ .name = "local_addr", .field = "local" },
	{ .name = "remote_addr", .field = "remote" },
	{ .name = "local_port", .field = "local_port" },
	{ .name = "remote_port", .field = "remote_port" },
	{ .name = "fd", .field = "fd" },
	{ .name = "backlog", .field = "backlog", .put = put_backlog },
	{ .name = "shutdown_how", .field = "how", .put = put_how },
	{ .name = "latency_ns", .field = "latency" },
	{ .name = "return_value", .field = "result" },
};

const struct category category_conn = {
	.name = "conn",
	.io_tracer = "nw_conn",
	.event_id = IOT_EVENT_ID_CONN,
	.columns = columns,
	.nr_columns = sizeof(columns) / sizeof(columns[0]),
	.command_op = NO_OP,
	.lists = true,
};
