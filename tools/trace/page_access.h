/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which records are accesses to pages, and to which ones.
 *
 *	fs	READ, WRITE, DIO_READ and DIO_WRITE of a file, and SENDFILE, which reads one. Not a read
 *		that the kernel makes for sendfile(2), which would be counted twice
 *	block	READ and WRITE, of the disk, whatever the partition
 *	cache	every record
 *
 * In a merged trace, files and disks are those of a host.
 */
#ifndef TOOL_TRACE_PAGE_ACCESS_H
#define TOOL_TRACE_PAGE_ACCESS_H

#include <stdbool.h>

#include "core/schema.h"
#include "trace/page_accesses.h"
#include "trace/measure.h"
#include "trace/sources.h"

/* Where the fields of an event are; NULL if it has none. */
struct page_access_fields {
	unsigned int event;
	const struct iot_schema_field *op, *flags, *kind, *device, *inode, *offset, *sector, *disk;
	const struct sources *sources;
};

void page_access_fields_open(struct page_access_fields *f, const struct iot_schema_event *event,
			     const struct sources *sources);

/* False if the record is no access. @source: where the record is from, or NULL. */
bool page_access_of(const struct page_access_fields *f, const void *record, const struct measure *m,
		    const struct source *source, struct page_access *access);

#endif /* TOOL_TRACE_PAGE_ACCESS_H */
