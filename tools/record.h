/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records by their descriptors: nothing here knows an event type, only the
 * kinds of events.def.
 */
#ifndef TOOL_RECORD_H
#define TOOL_RECORD_H

#include <linux/types.h>

#include "schema.h"

__u64 record_seq(const struct iot_schema_event *event, const void *record);
__u64 record_time(const struct iot_schema_event *event, const void *record);

/* Prints records on stdout, each with a first column "timestamp". */
struct record_printer {
	const struct iot_schema_event *event;
	__u64 t0;		/* ns; where timestamps start */
	char *text;		/* room for the longest value */
};

void record_printer_init(struct record_printer *p,
			 const struct iot_schema_event *event, __u64 t0);
void record_printer_free(struct record_printer *p);

void record_csv_header(const struct record_printer *p);
void record_csv(const struct record_printer *p, const void *record);
void record_json(const struct record_printer *p, const void *record);

#endif /* TOOL_RECORD_H */
