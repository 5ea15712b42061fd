// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "trace/page_access.h"
#include "trace/record.h"
#include "uapi/iotracer.h"

#define SECTOR_SHIFT 9

void page_access_fields_open(struct page_access_fields *f, const struct iot_schema_event *event,
			     const struct sources *sources)
{
	*f = (struct page_access_fields){
		.event = event->id, .sources = sources, .op = record_field(event, "op"),
		.flags = record_field(event, "flags"), .kind = record_field(event, "kind"),
		.device = record_field(event, "device"), .inode = record_field(event, "inode"),
		.offset = record_field(event, "offset"), .sector = record_field(event, "sector"),
		.disk = record_field(event, "disk"),
	};
}

static __u64 scalar(const struct iot_schema_field *f, const void *record)
{
	return record_scalar(record, f->offset, f->size);
}

/* The number of the host: that of its first source. */
static __u32 host_of(const struct page_access_fields *f, const struct source *source)
{
	__u32 i;

	for (i = 0; source && i < f->sources->nr; i++)
		if (!strcmp(f->sources->at[i].host, source->host))
			return i;
	return f->sources->nr;
}

static void add_name(struct page_access *a, const void *bytes, size_t length)
{
	memcpy(a->name + a->length, bytes, length);
	a->length += length;
}

static void add_field(struct page_access *a, const struct iot_schema_field *f, const void *record)
{
	add_name(a, (const char *)record + f->offset, f->size);
}

static bool is_of_fs(const struct page_access_fields *f, const void *record, struct page_access *a)
{
	__u32 flags = scalar(f->flags, record), served = IOT_IO_KERNEL | IOT_IO_SENDFILE;

	switch (scalar(f->op, record)) {
	case IOT_FS_WRITE:
	case IOT_FS_DIO_WRITE:
		a->write = true;
		break;
	case IOT_FS_READ:
	case IOT_FS_DIO_READ:
		if ((flags & (served | IOT_IO_SPLICE)) == served)
			return false;
		break;
	case IOT_FS_SENDFILE:
		break;
	default:
		return false;
	}
	return scalar(f->kind, record) == IOT_KIND_FILE;
}

static bool is_of_block(const struct page_access_fields *f, const void *record, struct page_access *a)
{
	__u64 op = scalar(f->op, record);

	a->write = op == IOT_BLOCK_WRITE;
	return op == IOT_BLOCK_READ || op == IOT_BLOCK_WRITE;
}

bool page_access_of(const struct page_access_fields *f, const void *record, const struct measure *m,
		    const struct source *source, struct page_access *access)
{
	__u32 host = host_of(f, source);

	access->length = 0;
	access->write = false;
	access->bytes = m->bytes;
	if (!m->has_bytes || (f->event == IOT_EVENT_ID_FS && !is_of_fs(f, record, access)) ||
	    (f->event == IOT_EVENT_ID_BLOCK && !is_of_block(f, record, access)))
		return false;
	add_name(access, &host, sizeof(host));
	if (f->disk) {
		add_field(access, f->disk, record);
		access->offset = scalar(f->sector, record) << SECTOR_SHIFT;
	} else {
		add_field(access, f->device, record);
		add_field(access, f->inode, record);
		access->offset = scalar(f->offset, record);
	}
	return true;
}
