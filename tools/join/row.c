// SPDX-License-Identifier: GPL-2.0
/* A row of a join: a request of the guest, and the parts of its time. */
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/csv.h"
#include "base/put.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "core/names.h"
#include "join/join.h"

#define NS_PER_S 1000000000LL

static const char *const matches[] = {
	[MATCH_NOT] = "no", [MATCH_OFFSET] = "offset", [MATCH_ZERO] = "zero", [MATCH_SIZE] = "size",
	[MATCH_ORDER] = "order",
};

struct row {
	const struct join *j;
	const struct join_request *r;
	struct join_parts parts;
	bool json;
	const char *name;	/* of the column */
	char *out;
};

static void put_text(struct row *row, const char *text, size_t length)
{
	row->out = row->json ? put_json(row->out, text, length) : csv_put(row->out, text, length);
}

static void put_word(struct row *row, const char *text)
{
	put_text(row, text, strlen(text));
}

/* Prints an unknown value. */
static void put_nothing(struct row *row)
{
	if (row->json)
		row->out = put_bytes(row->out, "null", 4);
}

static void put_time(struct row *row, __s64 time)
{
	char text[PUT_UTC] = "";
	char *end = put_utc(text, time / NS_PER_S, time % NS_PER_S);

	put_text(row, text, end - text);
}

static void put_part(struct row *row, __u64 value)
{
	if (row->r->links == JOIN_NONE)
		put_nothing(row);
	else
		row->out = put_u64(row->out, value);
}

static void put_timestamp(struct row *row)
{
	put_time(row, row->r->time);
}

static void put_op(struct row *row)
{
	put_word(row, iot_names_op_name(IOT_EVENT_ID_BLOCK, row->r->op));
}

static void put_sector(struct row *row)
{
	row->out = put_u64(row->out, row->r->sector);
}

static void put_offset(struct row *row)
{
	row->out = put_u64(row->out, 512 * row->r->sector);
}

static void put_requested(struct row *row)
{
	row->out = put_u64(row->out, row->r->size);
}

static void put_path(struct row *row)
{
	const struct name *name = names_find(&row->j->guest.names, row->r->path);

	if (name)
		put_text(row, name->text, name->length);
	else
		put_word(row, row->r->path ? "?" : "");
}

static void put_pid(struct row *row)
{
	row->out = put_u64(row->out, row->r->pid);
}

static void put_comm(struct row *row)
{
	char text[4 * JOIN_COMM + 1];

	text_show_to(text, row->r->comm, strnlen(row->r->comm, JOIN_COMM));
	put_word(row, text);
}

static void put_latency(struct row *row)
{
	row->out = put_u64(row->out, row->r->latency);
}

static void put_queue(struct row *row)
{
	row->out = put_u64(row->out, row->r->queue);
}

static void put_device(struct row *row)
{
	row->out = put_u64(row->out, row->r->end - row->r->begin);
}

static void put_before(struct row *row)
{
	put_part(row, row->parts.before);
}

static void put_host(struct row *row)
{
	put_part(row, row->parts.host);
}

static void put_after(struct row *row)
{
	put_part(row, row->parts.after);
}

static void put_call(struct row *row)
{
	put_part(row, row->parts.call);
}

static void put_below(struct row *row)
{
	if (row->j->has_below)
		put_part(row, row->parts.below);
	else
		put_nothing(row);
}

static void put_calls(struct row *row)
{
	row->out = put_u64(row->out, row->parts.calls);
}

static void put_others(struct row *row)
{
	row->out = put_u64(row->out, row->parts.others);
}

static void put_requests(struct row *row)
{
	if (row->j->has_below)
		row->out = put_u64(row->out, row->parts.nr_below);
	else
		put_nothing(row);
}

static void put_match(struct row *row)
{
	put_word(row, matches[row->r->match]);
}

static void put_reason(struct row *row)
{
	char *text;

	if (row->r->match || row->r->reason != REASON_PART) {
		put_word(row, row->r->match ? "" : join_reason(row->r->reason));
		return;
	}
	text = xasprintf("calls cover only %llu of its bytes", row->r->covered);
	put_word(row, text);
	free(text);
}

static void put_clock_lo(struct row *row)
{
	row->out = put_s64(row->out, row->r->span.lo);
}

static void put_clock_hi(struct row *row)
{
	row->out = put_s64(row->out, row->r->span.hi);
}

static void put_host_time(struct row *row)
{
	if (row->r->links == JOIN_NONE)
		put_nothing(row);
	else
		put_time(row, row->parts.begin);
}

static const struct {
	const char *name;
	void (*put)(struct row *row);
} columns[] = {
	{ "timestamp", put_timestamp },
	{ "op", put_op },
	{ "sector", put_sector },
	{ "offset_bytes", put_offset },
	{ "requested_bytes", put_requested },
	{ "path", put_path },
	{ "pid", put_pid },
	{ "comm", put_comm },
	{ "latency_ns", put_latency },
	{ "queue_latency_ns", put_queue },
	{ "device_latency_ns", put_device },
	{ "qemu_before_ns", put_before },
	{ "host_ns", put_host },
	{ "qemu_after_ns", put_after },
	{ "host_call_ns", put_call },
	{ "host_request_ns", put_below },
	{ "calls", put_calls },
	{ "other_calls", put_others },
	{ "requests", put_requests },
	{ "match", put_match },
	{ "reason", put_reason },
	{ "clock_lo_ns", put_clock_lo },
	{ "clock_hi_ns", put_clock_hi },
	{ "host_timestamp", put_host_time },
};

#define NR_COLUMNS (sizeof(columns) / sizeof(columns[0]))

const char *join_header(void)
{
	static char header[1024];
	size_t i;

	*header = '\0';
	for (i = 0; i < NR_COLUMNS; i++) {
		strcat(header, i ? "," : "");
		strcat(header, columns[i].name);
	}
	return header;
}

char *join_row(const struct join *j, char *out, const struct join_request *r, bool json)
{
	struct row row = { .j = j, .r = r, .json = json, .out = out };
	size_t i;

	join_parts_of(j, r, &row.parts);
	for (i = 0; i < NR_COLUMNS; i++) {
		if (i || json)
			*row.out++ = i ? ',' : '{';
		if (json) {
			put_word(&row, columns[i].name);
			*row.out++ = ':';
		}
		columns[i].put(&row);
	}
	if (json)
		*row.out++ = '}';
	*row.out++ = '\n';
	return row.out;
}
