// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "core/schema.h"
#include "trace/flags.h"

static size_t add(char *out, size_t length, const char *word)
{
	int n = snprintf(out + length, FLAGS_MAX - length, "%s%s", length ? "|" : "", word);

	return (size_t)n < FLAGS_MAX - length ? length + n : length;
}

static size_t show_bits(char *out, const struct iot_group *group, __u32 value)
{
	__u32 rest = value;
	size_t length = 0, i;
	char word[16];

	for (i = 0; i < group->nr; i++) {
		const struct iot_flag *f = &group->flags[i];

		if (f->whole || !(rest & f->value) || (value & f->value) != f->value)
			continue;
		length = add(out, length, f->name);
		rest &= ~f->value;
	}
	if (rest) {
		snprintf(word, sizeof(word), "0x%x", rest);
		length = add(out, length, word);
	}
	return length;
}

size_t flags_show(char *out, const char *group, __u32 value)
{
	const struct iot_group g = iot_names_group(group);
	const struct iot_flag *f;

	*out = '\0';
	if (g.octal)
		return snprintf(out, FLAGS_MAX, "0%o", value);
	f = iot_names_whole(&g, value);
	return f ? add(out, 0, f->name) : show_bits(out, &g, value);
}

json_t *flags_json(void)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < iot_flags_nr; i++) {
		json_t *object = json_object();

		json_put(object, "group", json_string(iot_flags[i].group));
		json_put(object, "name", json_string(iot_flags[i].name));
		json_put(object, "value", json_integer(iot_flags[i].value));
		json_put(object, "whole", json_boolean(iot_flags[i].whole));
		json_add(array, object);
	}
	return array;
}

static void add_operations(json_t *array, const struct iot_schema_event *event)
{
	const struct iot_op *op;
	unsigned int i;

	for (i = 0; (op = iot_names_op(event->id, i)); i++) {
		json_t *object = json_object();

		json_put(object, "event", json_string(event->name));
		json_put(object, "name", json_string(op->name));
		json_put(object, "id", json_integer(i));
		json_put(object, "flags", json_string(op->flags));
		json_put(object, "flags2", json_string(op->flags2));
		json_add(array, object);
	}
}

json_t *operations_json(void)
{
	json_t *array = json_array();
	unsigned int i;

	for (i = 0; i < iot_schema_events; i++)
		add_operations(array, &iot_schema[i]);
	return array;
}
