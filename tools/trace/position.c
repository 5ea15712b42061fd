// SPDX-License-Identifier: GPL-2.0
#include "trace/position.h"
#include "trace/record.h"
#include "uapi/iotracer.h"

#define SECTOR_SHIFT 9

bool positions_has(const struct iot_schema_event *event)
{
	return event->id == IOT_EVENT_ID_FS || event->id == IOT_EVENT_ID_BLOCK;
}

void positions_open(struct positions *p, const struct iot_schema_event *event)
{
	bool block = event->id == IOT_EVENT_ID_BLOCK;

	*p = (struct positions){
		.event = event, .op = record_field(event, "op"), .device = record_field(event, "device"),
		.start = record_field(event, block ? "sector" : "offset"),
		.requested = record_field(event, "requested"),
	};
	if (block)
		return;
	p->inode = record_field(event, "inode");
	p->thread = record_field(event, "tid");
	p->kind = record_field(event, "kind");
}

static __u64 scalar(const struct iot_schema_field *f, const void *record)
{
	return f ? record_scalar(record, f->offset, f->size) : 0;
}

static enum position_kind of_request(__u64 op)
{
	switch (op) {
	case IOT_BLOCK_READ:
		return POSITION_READ;
	case IOT_BLOCK_WRITE:
		return POSITION_WRITE;
	case IOT_BLOCK_DISCARD:
		return POSITION_DISCARD;
	default:
		return POSITION_NONE;
	}
}

static enum position_kind of_call(__u64 op)
{
	switch (op) {
	case IOT_FS_READ:
	case IOT_FS_DIO_READ:
		return POSITION_READ;
	case IOT_FS_WRITE:
	case IOT_FS_DIO_WRITE:
		return POSITION_WRITE;
	default:
		return POSITION_NONE;
	}
}

static bool has_positions(__u64 kind)
{
	return kind != IOT_KIND_PIPE && kind != IOT_KIND_SOCKET && kind != IOT_KIND_OTHER;
}

void position_of(const struct positions *p, const void *record, const struct measure *m,
		 struct position *to)
{
	__u64 op = scalar(p->op, record);
	bool block = p->event->id == IOT_EVENT_ID_BLOCK;

	to->kind = block ? of_request(op) : of_call(op);
	if (to->kind == POSITION_NONE)
		return;
	if (!has_positions(scalar(p->kind, record)))
		to->kind = POSITION_MISSING;
	to->device = scalar(p->device, record);
	to->inode = scalar(p->inode, record);
	to->thread = scalar(p->thread, record);
	to->start = scalar(p->start, record);
	if (block)
		to->start <<= SECTOR_SHIFT;
	to->bytes = m->bytes;
	if (to->kind == POSITION_DISCARD)
		to->bytes = m->error ? 0 : scalar(p->requested, record);
}
