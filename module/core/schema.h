/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The schema as data: one descriptor per event and one per field. Compiled into
 * the module and into the tool from the same uapi/events.def.
 */
#ifndef IOT_SCHEMA_H
#define IOT_SCHEMA_H

#include "uapi/iotracer.h"

struct iot_schema_field {
	const char *name;
	const char *type;	/* "u64", "char" and so on */
	const char *kind;	/* how to show the value, see events.def */
	const char *unit;	/* "" if there is none */
	const char *text;	/* one line */
	unsigned int offset;	/* bytes */
	unsigned int size;	/* bytes */
};

struct iot_schema_event {
	const char *name;
	const char *text;
	unsigned int id;
	unsigned int size;	/* bytes of a record */
	const struct iot_schema_field *fields;
	unsigned int nr_fields;
};

extern const struct iot_schema_event iot_schema[];
extern const unsigned int iot_schema_events;

const struct iot_schema_event *iot_schema_find(unsigned int id);
__u64 iot_schema_hash(void);

#endif /* IOT_SCHEMA_H */
