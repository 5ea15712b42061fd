/* SPDX-License-Identifier: GPL-2.0 */
/* The fields of a record, by the schema of its event. */
#ifndef TOOL_TRACE_RECORD_H
#define TOOL_TRACE_RECORD_H

#include <string.h>
#include <linux/types.h>

#include "core/schema.h"

/* The field of that name, or NULL. */
const struct iot_schema_field *record_field(const struct iot_schema_event *event, const char *name);

/* A field of @size bytes. A negative value is returned as its two's complement. */
static inline __u64 record_scalar(const void *record, unsigned int offset, unsigned int size)
{
	const char *at = (const char *)record + offset;
	__u64 u64;
	__u32 u32;
	__u16 u16;

	switch (size) {
	case 8:
		return memcpy(&u64, at, 8), u64;
	case 4:
		return memcpy(&u32, at, 4), u32;
	case 2:
		return memcpy(&u16, at, 2), u16;
	default:
		return (unsigned char)*at;
	}
}

/* What the fields of these names have; 0 if the event has no such field. */
__u64 record_seq(const struct iot_schema_event *event, const void *record);
__u64 record_time(const struct iot_schema_event *event, const void *record);
__u64 record_latency(const struct iot_schema_event *event, const void *record);

#endif /* TOOL_TRACE_RECORD_H */
