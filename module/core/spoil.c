// SPDX-License-Identifier: GPL-2.0
/*
 * Builds with DEBUG_SPOIL=1 only: the parameter spoil=EVENT.FIELD, named as in events.def,
 * sets that field to 3 in each record of that event. A test that still passes does not
 * check the field. scripts/check-fields finds the fields that no test checks.
 *
 * The first field of each record, seq, cannot be named: in the ring the state of the slot is in
 * its place.
 */
#include <linux/errno.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include "core/param.h"
#include "core/schema.h"
#include "core/spoil.h"

#define WRONG	3

static const struct iot_schema_event *spoilt_event;	/* set once, at load */
static const struct iot_schema_field *spoilt_field;

/**
 * iot_spoil() - spoil a field of a record just before the record is shown
 * @event:	id of the record's event
 * @slot:	the filled slot
 *
 * Context: any, preemption off; not traced by ftrace.
 */
void iot_spoil(unsigned int event, u64 *slot)
{
	char *field;

	if (!spoilt_field || spoilt_event->id != event)
		return;
	field = (char *)slot + spoilt_field->offset;
	memset(field, 0, spoilt_field->size);
	field[0] = WRONG; /* little endian */
}

static const struct iot_schema_field *find_field(const struct iot_schema_event *e,
						 const char *name)
{
	unsigned int i;

	for (i = 0; i < e->nr_fields; i++)
		if (e->fields[i].offset && !strcmp(e->fields[i].name, name))
			return &e->fields[i];
	return NULL;
}

static int set_spoil(const char *name, const struct kernel_param *param)
{
	unsigned int i;

	for (i = 0; i < iot_schema_events; i++) {
		const struct iot_schema_event *e = &iot_schema[i];
		size_t len = strlen(e->name);

		if (strncmp(name, e->name, len) || name[len] != '.')
			continue;
		spoilt_event = e;
		spoilt_field = find_field(e, name + len + 1);
	}
	return spoilt_field ? 0 : -EINVAL;
}

static const struct kernel_param_ops spoil_ops = {
	.set = set_spoil,
};

module_param_cb(spoil, &spoil_ops, NULL, 0);
MODULE_PARM_DESC(spoil, "EVENT.FIELD that is to be wrong, for tests");
