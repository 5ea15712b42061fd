// SPDX-License-Identifier: GPL-2.0
/* Category fault: IO Tracer's columns for page faults, made from our records. */
#include <string.h>

#include "base/put.h"
#include "trace/category.h"

#define PAGE_BYTES 4096

/* IO Tracer shows this offset in pages. */
static char *put_page(struct row_printer *p, const struct row_column *c, char *out,
		      const void *record)
{
	__u64 offset;

	(void)p;
	memcpy(&offset, (const char *)record + c->offset, sizeof(offset));
	return put_u64(out, offset / PAGE_BYTES);
}

static const struct row_column columns[] = {
	{ .name = "timestamp", .field = "time", .put = row_datetime },
	{ .name = "pid", .field = "pid" },
	{ .name = "tid", .field = "tid" },
	{ .name = "command", .field = "comm" },
	{ .name = "fault_type", .field = "op" },
	{ .name = "severity", .field = "severity" },
	{ .name = "inode", .field = "inode" },
	{ .name = "offset", .field = "offset", .put = put_page },
	{ .name = "address", .field = "address" },
	{ .name = "dev_id", .field = "device" },
};

const struct category category_fault = {
	.name = "fault",
	.io_tracer = "pagefault",
	.event_id = IOT_EVENT_ID_FAULT,
	.columns = columns,
	.nr_columns = sizeof(columns) / sizeof(columns[0]),
	.command_op = NO_OP,
};
