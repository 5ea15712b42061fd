// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "trace/record.h"

const struct iot_schema_field *record_field(const struct iot_schema_event *event, const char *name)
{
	unsigned int i;

	for (i = 0; i < event->nr_fields; i++)
		if (!strcmp(event->fields[i].name, name))
			return &event->fields[i];
	return NULL;
}

static __u64 named(const struct iot_schema_event *event, const void *record, const char *name)
{
	const struct iot_schema_field *f = record_field(event, name);

	return f ? record_scalar(record, f->offset, f->size) : 0;
}

__u64 record_seq(const struct iot_schema_event *event, const void *record)
{
	return named(event, record, "seq");
}

__u64 record_time(const struct iot_schema_event *event, const void *record)
{
	return named(event, record, "time");
}

__u64 record_latency(const struct iot_schema_event *event, const void *record)
{
	return named(event, record, "latency");
}
