// SPDX-License-Identifier: GPL-2.0
/* Category block: IO Tracer's columns for block requests, made from our records. */
#include <stdio.h>
#include <string.h>

#include "base/put.h"
#include "trace/category.h"

/* Nanoseconds as milliseconds with all digits. */
static char *put_ms(struct row_printer *p, const struct row_column *c, char *out,
		    const void *record)
{
	const char *at = (const char *)record + c->offset;
	__u64 ns;

	(void)p;
	memcpy(&ns, at, sizeof(ns));
	return out + sprintf(out, "%llu.%06llu", (unsigned long long)(ns / 1000000),
			     (unsigned long long)(ns % 1000000));
}

static const struct row_column columns[] = {
	{ .name = "timestamp", .field = "time", .put = row_datetime },
	{ .name = "pid", .field = "pid" },
	{ .name = "command", .field = "comm" },
	{ .name = "sector", .field = "sector" },
	{ .name = "operation", .field = "op" },
	{ .name = "size", .field = "requested" },
	{ .name = "latency_ms", .field = "latency", .put = put_ms },
	{ .name = "tid", .field = "tid" },
	{ .name = "cpu_id", .field = "submit_cpu" },
	{ .name = "ppid", .field = "ppid" },
	{ .name = "dev", .field = "device" },
	{ .name = "queue_time_ms", .field = "queue_latency", .put = put_ms },
	{ .name = "cmd_flags", .field = "flags" },
	{ .name = "op_code", .field = "op_code" },
};

const struct category category_block = {
	.name = "block",
	.io_tracer = "ds",
	.event_id = IOT_EVENT_ID_BLOCK,
	.columns = columns,
	.nr_columns = sizeof(columns) / sizeof(columns[0]),
	.command_op = NO_OP,
};
