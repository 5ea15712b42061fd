// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "trace/frame_index.h"
#include "trace/record.h"

enum { DEVICE, INODE, PATH, RANGES };

#define NOTHING { .least = ~0ULL, .most = 0 }
#define ANYTHING { .least = 0, .most = ~0ULL }

/* The fields by whose values conditions select records; see trace/select.h. */
static const struct {
	const char *name;
	unsigned int range;
} indexed[] = {
	{ "device", DEVICE }, { "file_device", DEVICE }, { "inode", INODE }, { "path", PATH },
	{ "path2", PATH },
};

_Static_assert(sizeof(indexed) / sizeof(indexed[0]) <= TRACE_INDEX_FIELDS, "room for the fields");

void frame_indexer_open(struct frame_indexer *x, const struct iot_schema_event *event)
{
	const struct iot_schema_field *f;
	size_t i;

	*x = (struct frame_indexer){ .event = event };
	if (!event)
		return;
	for (i = 0; i < sizeof(indexed) / sizeof(indexed[0]); i++) {
		f = record_field(event, indexed[i].name);
		if (f)
			x->fields[x->nr++] = (struct frame_indexer_field){
				.offset = f->offset, .size = f->size, .range = indexed[i].range,
			};
	}
	x->time = record_field(event, "time")->offset;
	x->latency = record_field(event, "latency")->offset;
	f = record_field(event, "op");
	if (f) {
		x->op = f->offset;
		x->op_size = f->size;
	}
}

static void widen(struct trace_range *r, __u64 value)
{
	if (value < r->least)
		r->least = value;
	if (value > r->most)
		r->most = value;
}

/* A value of 0 says that there is none. */
static void add_record(const struct frame_indexer *x, struct trace_index *to, const char *record)
{
	struct trace_range *const ranges[RANGES] = { &to->device, &to->inode, &to->path };
	__u64 begin = record_scalar(record, x->time, sizeof(__u64)), value;
	size_t i;

	widen(&to->time, begin);
	widen(&to->time, begin + record_scalar(record, x->latency, sizeof(__u64)));
	for (i = 0; i < x->nr; i++) {
		value = record_scalar(record, x->fields[i].offset, x->fields[i].size);
		if (value)
			widen(ranges[x->fields[i].range], value);
	}
	value = x->op_size ? record_scalar(record, x->op, x->op_size) : 0;
	to->ops |= 1ULL << (value < 63 ? value : 63);
}

void frame_index(const struct frame_indexer *x, struct trace_index *to, const char *content, size_t size)
{
	const struct trace_index none = { NOTHING, NOTHING, NOTHING, NOTHING, 0, 0 };
	const struct trace_index any = { ANYTHING, ANYTHING, ANYTHING, ANYTHING, ~0ULL, 0 };
	struct iot_stream_block b;
	const char *record;
	size_t at = 0;

	*to = x->event ? none : any;
	while (x->event && size - at >= sizeof(b)) {
		memcpy(&b, content + at, sizeof(b));
		if (b.magic != IOT_STREAM_BLOCK_MAGIC)
			break; /* notes follow */
		at += sizeof(b);
		if (b.count > (size - at) / x->event->size)
			break;
		to->lost += b.gap;
		for (record = content + at; b.count; b.count--, record += x->event->size)
			add_record(x, to, record);
		at = record - content;
	}
}
