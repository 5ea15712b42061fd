// SPDX-License-Identifier: GPL-2.0
#include "trace/histogram_value.h"
#include "trace/record.h"
#include "uapi/iotracer.h"

#define SECTOR	512
#define BIT(n)	(1ULL << (n))

const struct histogram_kind histogram_kinds[] = {
	{ "latency", HISTOGRAM_NS, "ns", "latency", true, false },
	{ "size", HISTOGRAM_BYTES, "bytes", "size of an event", true, false },
	{ "queue-depth", HISTOGRAM_REQUESTS, "requests", "requests in the queue", false, false },
	{ "lba", HISTOGRAM_SECTORS, "sectors", "first sector on the disk", false, false },
	{ "offset", HISTOGRAM_BYTES, "bytes", "offset in the file", false, false },
	{ "interarrival", HISTOGRAM_NS, "ns", "time between the starts of two events", true, true },
	{ "run-length", HISTOGRAM_BYTES, "bytes", "bytes of a run", true, true },
};

/* Operations on sectors of a disk, and those of both that read or write. */
#define BLOCK_ACCESSES	(BIT(IOT_BLOCK_READ) | BIT(IOT_BLOCK_WRITE))
#define BLOCK_SECTORS	(BLOCK_ACCESSES | BIT(IOT_BLOCK_DISCARD) | BIT(IOT_BLOCK_SECURE_ERASE) | \
			 BIT(IOT_BLOCK_WRITE_ZEROES) | BIT(IOT_BLOCK_ZONE_APPEND))
#define FS_WRITES	(BIT(IOT_FS_WRITE) | BIT(IOT_FS_DIO_WRITE))
#define FS_ACCESSES	(BIT(IOT_FS_READ) | BIT(IOT_FS_DIO_READ) | FS_WRITES)
/* Kinds of files that have positions. */
#define POSITIONS	(BIT(IOT_KIND_FILE) | BIT(IOT_KIND_DEVICE))

static __u64 scalar(const struct iot_schema_field *f, const void *record)
{
	return record_scalar(record, f->offset, f->size);
}

static bool is_in(__u64 set, const struct iot_schema_field *f, const void *record)
{
	__u64 n = scalar(f, record);

	return n < 64 && set & BIT(n);
}

bool histogram_values_open(struct histogram_values *v, enum histogram_of of,
			   const struct iot_schema_event *event)
{
	bool fs = event->id == IOT_EVENT_ID_FS, block = event->id == IOT_EVENT_ID_BLOCK;
	bool cache = event->id == IOT_EVENT_ID_CACHE;
	struct measurer m;

	*v = (struct histogram_values){
		.of = of, .event = event, .op = record_field(event, "op"),
		.kind = record_field(event, "kind"), .requested = record_field(event, "requested"),
		.device = record_field(event, "device"), .inode = record_field(event, "inode"),
	};
	switch (of) {
	case HISTOGRAM_LATENCY:
		return !cache && event->id != IOT_EVENT_ID_DROP;
	case HISTOGRAM_SIZE:
		measurer_open(&m, event);
		return m.bytes;
	case HISTOGRAM_QUEUE_DEPTH:
		v->field = record_field(event, "depth");
		return block;
	case HISTOGRAM_LBA:
		v->field = record_field(event, "sector");
		return block;
	case HISTOGRAM_OFFSET:
		v->field = record_field(event, "offset");
		return fs || block || cache || event->id == IOT_EVENT_ID_FAULT;
	case HISTOGRAM_INTERARRIVAL:
		return true;
	case HISTOGRAM_RUN_LENGTH:
		v->field = record_field(event, fs ? "offset" : "sector");
		return fs || block;
	}
	return false;
}

/* Whether it is a read or write that has moved bytes, at a position of a file, or of a device. */
static bool is_access(const struct histogram_values *v, const void *record, const struct measure *m)
{
	if (!m->has_bytes || !m->bytes)
		return false;
	if (v->event->id == IOT_EVENT_ID_BLOCK)
		return is_in(BLOCK_ACCESSES, v->op, record);
	return is_in(FS_ACCESSES, v->op, record) && is_in(POSITIONS, v->kind, record);
}

static bool has_offset(const struct histogram_values *v, const void *record, const struct measure *m)
{
	switch (v->event->id) {
	case IOT_EVENT_ID_FS:
		return is_access(v, record, m);
	case IOT_EVENT_ID_BLOCK:
		return is_access(v, record, m) && scalar(v->inode, record);
	default:
		return true;
	}
}

bool histogram_value(const struct histogram_values *v, const void *record, const struct measure *m,
		     __u64 *value)
{
	switch (v->of) {
	case HISTOGRAM_LATENCY:
		*value = m->latency;
		return true;
	case HISTOGRAM_SIZE:
		*value = m->bytes;
		return m->has_bytes;
	case HISTOGRAM_QUEUE_DEPTH:
		*value = scalar(v->field, record);
		return *value;
	case HISTOGRAM_LBA:
		*value = scalar(v->field, record);
		return is_in(BLOCK_SECTORS, v->op, record) && scalar(v->requested, record);
	case HISTOGRAM_OFFSET:
		*value = scalar(v->field, record);
		return has_offset(v, record, m);
	case HISTOGRAM_INTERARRIVAL:
	case HISTOGRAM_RUN_LENGTH:
		break;
	}
	return false;
}

bool histogram_access(const struct histogram_values *v, const void *record, const struct measure *m,
		      struct access *a)
{
	bool fs = v->event->id == IOT_EVENT_ID_FS;

	*a = (struct access){ .time = m->time };
	if (v->of == HISTOGRAM_INTERARRIVAL)
		return true;
	/* No read or write moves 4 GiB; a record that says so is damaged. */
	if (!is_access(v, record, m) || m->bytes > ~(__u32)0)
		return false;
	a->owner.writes = is_in(fs ? FS_WRITES : BIT(IOT_BLOCK_WRITE), v->op, record);
	a->owner.device = scalar(v->device, record);
	a->owner.inode = fs ? scalar(v->inode, record) : 0;
	a->start = scalar(v->field, record) * (fs ? 1 : SECTOR);
	a->length = m->bytes;
	return true;
}
