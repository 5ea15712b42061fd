// SPDX-License-Identifier: GPL-2.0
/* libiotracer: the schema, and the numbers of records by it. */
#include <stdint.h>
#include <string.h>

#include "core/names.h"
#include "lib/library.h"
#include "trace/record.h"

static const struct iot_schema_field *schema_field(const struct iotracer_field *field)
{
	return (const struct iot_schema_field *)field;
}

EXPORTED const struct iotracer_event *iotracer_event_at(size_t i)
{
	return i < iot_schema_events ? public_event(&iot_schema[i]) : NULL;
}

EXPORTED const struct iotracer_event *iotracer_event_find(const char *name)
{
	size_t i;

	for (i = 0; i < iot_schema_events; i++)
		if (!strcmp(iot_schema[i].name, name))
			return public_event(&iot_schema[i]);
	return NULL;
}

EXPORTED const char *iotracer_event_name(const struct iotracer_event *event)
{
	return schema_event(event)->name;
}

EXPORTED const char *iotracer_event_text(const struct iotracer_event *event)
{
	return schema_event(event)->text;
}

EXPORTED unsigned int iotracer_event_id(const struct iotracer_event *event)
{
	return schema_event(event)->id;
}

EXPORTED size_t iotracer_event_size(const struct iotracer_event *event)
{
	return schema_event(event)->size;
}

EXPORTED const char *iotracer_event_op(const struct iotracer_event *event, unsigned int op)
{
	unsigned int id = schema_event(event)->id;
	const struct iot_access_name *access;
	const char *name;

	if (id == IOT_EVENT_ID_IO) {
		access = iot_names_access(op);
		return access ? access->name : NULL;
	}
	name = iot_names_op_name(id, op);
	return name && *name ? name : NULL;
}

EXPORTED const struct iotracer_field *iotracer_field_at(const struct iotracer_event *event, size_t i)
{
	const struct iot_schema_event *e = schema_event(event);

	return i < e->nr_fields ? (const struct iotracer_field *)&e->fields[i] : NULL;
}

EXPORTED const struct iotracer_field *iotracer_field_find(const struct iotracer_event *event,
							  const char *name)
{
	return (const struct iotracer_field *)record_field(schema_event(event), name);
}

EXPORTED const char *iotracer_field_name(const struct iotracer_field *field)
{
	return schema_field(field)->name;
}

EXPORTED const char *iotracer_field_type(const struct iotracer_field *field)
{
	return schema_field(field)->type;
}

EXPORTED const char *iotracer_field_kind(const struct iotracer_field *field)
{
	return schema_field(field)->kind;
}

EXPORTED const char *iotracer_field_unit(const struct iotracer_field *field)
{
	return schema_field(field)->unit;
}

EXPORTED const char *iotracer_field_text(const struct iotracer_field *field)
{
	return schema_field(field)->text;
}

EXPORTED size_t iotracer_field_offset(const struct iotracer_field *field)
{
	return schema_field(field)->offset;
}

EXPORTED size_t iotracer_field_size(const struct iotracer_field *field)
{
	return schema_field(field)->size;
}

/* The number of a field in 64 bits, and whether it is one with a sign. False for text. */
static bool number_of(const struct iot_schema_field *f, const void *data, __u64 *number, bool *is_signed)
{
	if (!strcmp(f->type, "char"))
		return false;
	*number = record_scalar(data, f->offset, f->size);
	*is_signed = *f->type == 's';
	if (*is_signed && f->size == 4)
		*number = (__s64)(__s32)*number;
	return true;
}

EXPORTED bool iotracer_field_u64(const struct iotracer_field *field, const void *data, uint64_t *value)
{
	bool is_signed;
	__u64 number;

	if (!number_of(schema_field(field), data, &number, &is_signed) || (is_signed && (__s64)number < 0))
		return false;
	*value = number;
	return true;
}

EXPORTED bool iotracer_field_s64(const struct iotracer_field *field, const void *data, int64_t *value)
{
	bool is_signed;
	__u64 number;

	if (!number_of(schema_field(field), data, &number, &is_signed) || (!is_signed && number > INT64_MAX))
		return false;
	*value = number;
	return true;
}
