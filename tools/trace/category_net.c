// SPDX-License-Identifier: GPL-2.0
/* Category net: IO Tracer's columns for sends and receives, made from our records. */
#include "base/put.h"
#include "trace/category.h"
#include "uapi/iotracer.h"

/* IO Tracer names the ends of a packet: a send goes from here, a receive comes here. */
static char *put_end(struct row_printer *p, const struct row_column *c, char *out,
		     const void *record, bool from)
{
	const struct iot_net *e = record;

	(void)c;
	return row_ipaddr(p, out, (e->op != IOT_NET_RECV) == from ? e->local : e->remote);
}

static char *put_from(struct row_printer *p, const struct row_column *c, char *out,
		      const void *record)
{
	return put_end(p, c, out, record, true);
}

static char *put_to(struct row_printer *p, const struct row_column *c, char *out,
		    const void *record)
{
	return put_end(p, c, out, record, false);
}

static char *put_from_port(struct row_printer *p, const struct row_column *c, char *out,
			   const void *record)
{
	const struct iot_net *e = record;

	(void)c;
	return row_port(p, out, e->op != IOT_NET_RECV ? e->local_port : e->remote_port);
}

static char *put_to_port(struct row_printer *p, const struct row_column *c, char *out,
			 const void *record)
{
	const struct iot_net *e = record;

	(void)c;
	return row_port(p, out, e->op != IOT_NET_RECV ? e->remote_port : e->local_port);
}

static char *put_version(struct row_printer *p, const struct row_column *c, char *out,
			 const void *record)
{
	const struct iot_net *e = record;

	(void)c;
	return row_ip_version(p, out, e->family, e->remote);
}

static char *put_error(struct row_printer *p, const struct row_column *c, char *out,
		       const void *record)
{
	const struct iot_net *e = record;

	(void)p;
	(void)c;
	return put_s64(out, e->result < 0 ? e->result : 0);
}

static const struct row_column columns[] = {
	{ .name = "timestamp", .field = "time", .put = row_datetime },
	{ .name = "pid", .field = "pid" },
	{ .name = "command", .field = "comm" },
	{ .name = "protocol", .field = "protocol" },
	{ .name = "ip_version", .field = "family", .put = put_version },
	{ .name = "source_addr", .field = "local", .put = put_from },
	{ .name = "dest_addr", .field = "remote", .put = put_to },
	{ .name = "source_port", .field = "local_port", .put = put_from_port },
	{ .name = "dest_port", .field = "remote_port", .put = put_to_port },
	{ .name = "size", .field = "moved" },
	{ .name = "direction", .field = "op" },
	{ .name = "latency_ns", .field = "latency" },
	{ .name = "error_code", .field = "result", .put = put_error },
	{ .name = "msg_flags", .field = "flags" },
};

const struct category category_net = {
	.name = "net",
	.io_tracer = "nw",
	.event_id = IOT_EVENT_ID_NET,
	.columns = columns,
	.nr_columns = sizeof(columns) / sizeof(columns[0]),
	.command_op = NO_OP,
};
