// SPDX-License-Identifier: GPL-2.0
/* Category block: IO Tracer's columns of its requests, out of our records. */
#include <stdio.h>
#include <string.h>

#include "category.h"
#include "put.h"

/* Nanoseconds as milliseconds, to the last digit. */
static char *put_ms(struct record_printer *p, const struct record_column *c, char *out,
		    const void *record)
{
	const char *at = (const char *)record + c->offset;
	__u64 ns;

	(void)p;
	memcpy(&ns, at, sizeof(ns));
	return out + sprintf(out, "%llu.%06llu", (unsigned long long)(ns / 1000000),
			     (unsigned long long)(ns % 1000000));
}

/* The letters of blk_fill_rwbs(), kernel/trace/blktrace.c. */
static char *put_rwbs(struct record_printer *p, const struct record_column *c, char *out,
		      const void *record)
{
	static const char letters[] = {
		[IOT_REQUEST_READ] = 'R', [IOT_REQUEST_WRITE] = 'W',
		[IOT_REQUEST_FLUSH] = 'F', [IOT_REQUEST_DISCARD] = 'D',
		[IOT_REQUEST_SECURE_ERASE] = 'E', [IOT_REQUEST_WRITE_ZEROES] = 'W',
		[IOT_REQUEST_ZONE_APPEND] = 'W', [IOT_REQUEST_OTHER] = 0,
	};
	const struct iot_request *r = record;
	char text[8], *end = text;

	(void)c;
	if (r->flags & IOT_REQ_PREFLUSH)
		*end++ = 'F';
	if (r->op == IOT_REQUEST_SECURE_ERASE)
		*end++ = 'D';
	*end++ = r->op < sizeof(letters) && letters[r->op] ? letters[r->op] : 'N';
	if (r->flags & IOT_REQ_FUA)
		*end++ = 'F';
	if (r->flags & IOT_REQ_RAHEAD)
		*end++ = 'A';
	if (r->flags & IOT_REQ_SYNC)
		*end++ = 'S';
	if (r->flags & IOT_REQ_META)
		*end++ = 'M';
	return record_text(p, out, text, end - text, true);
}

/* As the kernel calls it: a digit before the number of a partition asks for a p. */
static char *put_name(struct record_printer *p, const struct record_column *c, char *out,
		      const void *record)
{
	const struct iot_request *r = record;
	size_t length = strnlen(r->disk, sizeof(r->disk));
	char text[sizeof(r->disk) + 8];
	int n = length;

	(void)c;
	memcpy(text, r->disk, length);
	if (r->partition)
		n += sprintf(text + length, "%s%u",
			     length && text[length - 1] >= '0' && text[length - 1] <= '9' ? "p" : "",
			     r->partition);
	return record_text(p, out, text, n, false);
}

const struct record_column block_columns[BLOCK_COLUMNS] = {
	{ .name = "timestamp", .field = "time", .put = record_timestamp },
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
	{ .name = "rwbs", .put = put_rwbs },
	{ .name = "name", .put = put_name },
};
