// SPDX-License-Identifier: GPL-2.0
/* The schema as text: /proc/iotracer/format. */
#include <linux/seq_file.h>
#include "core/schema.h"
#include "proc/format.h"

/** iot_format_show() - print a line for each event and each field: words, then a text */
void iot_format_show(struct seq_file *m)
{
	unsigned int i, j;

	seq_printf(m, "iotracer stream %d schema %016llx\n", IOT_STREAM_VERSION,
		   iot_schema_hash());
	for (i = 0; i < iot_schema_events; i++) {
		const struct iot_schema_event *e = &iot_schema[i];

		seq_printf(m, "event %s id %u size %u: %s\n", e->name, e->id,
			   e->size, e->text);
		for (j = 0; j < e->nr_fields; j++) {
			const struct iot_schema_field *f = &e->fields[j];

			seq_printf(m, "field %s offset %u size %u type %s kind %s unit %s: %s\n",
				   f->name, f->offset, f->size, f->type, f->kind,
				   *f->unit ? f->unit : "-", f->text);
		}
	}
}
