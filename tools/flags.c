// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "flags.h"
#include "json.h"
#include "schema.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static const struct flag {
	const char *group;
	const char *name;
	__u32 value;
	bool whole;
} flags[] = {
#define IOT_FLAG(group, value, name)	{ #group, name, value, false },
#define IOT_VALUE(group, value, name)	{ #group, name, value, true },
#include "uapi/flags.def"
};

static const struct operation fs_ops[] = {
#define IOT_FS_OP(name, id, flags, flags2) \
	[id] = { #name, #flags, #flags2 },
#include "uapi/ops.def"
};

static const struct operation fault_ops[] = {
#define IOT_FAULT_OP(name, id, flags, flags2) \
	[id] = { #name, #flags, #flags2 },
#include "uapi/ops.def"
};

static const struct operation cache_ops[] = {
#define IOT_CACHE_OP(name, id, flags, flags2) \
	[id] = { #name, #flags, #flags2 },
#include "uapi/ops.def"
};

static const struct operation request_ops[] = {
#define IOT_REQUEST_OP(name, id, flags, flags2) \
	[id] = { #name, #flags, #flags2 },
#include "uapi/ops.def"
};

static const struct operation uring_ops[] = {
#define IOT_URING_OP(name, id, flags, flags2) \
	[id] = { #name, #flags, #flags2 },
#include "uapi/ops.def"
};

static const struct {
	const struct operation *ops;
	unsigned int nr;
} events[] = {
	[IOT_EVENT_ID_fs] = { fs_ops, ARRAY_SIZE(fs_ops) },
	[IOT_EVENT_ID_fault] = { fault_ops, ARRAY_SIZE(fault_ops) },
	[IOT_EVENT_ID_cache] = { cache_ops, ARRAY_SIZE(cache_ops) },
	[IOT_EVENT_ID_request] = { request_ops, ARRAY_SIZE(request_ops) },
	[IOT_EVENT_ID_uring] = { uring_ops, ARRAY_SIZE(uring_ops) },
};

const struct operation *operation_find(unsigned int event, unsigned int op)
{
	if (event >= ARRAY_SIZE(events) || op >= events[event].nr ||
	    !events[event].ops[op].name)
		return NULL;
	return &events[event].ops[op];
}

static size_t add(char *out, size_t length, const char *word)
{
	int n = snprintf(out + length, FLAGS_MAX - length, "%s%s", length ? "|" : "", word);

	return (size_t)n < FLAGS_MAX - length ? length + n : length;
}

static const struct flag *whole_value(const char *group, __u32 value)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(flags); i++)
		if (flags[i].whole && flags[i].value == value &&
		    !strcmp(flags[i].group, group))
			return &flags[i];
	return NULL;
}

static size_t show_bits(char *out, const char *group, __u32 value)
{
	__u32 rest = value;
	size_t length = 0, i;
	char word[16];

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		const struct flag *f = &flags[i];

		if (f->whole || !(rest & f->value) || (value & f->value) != f->value ||
		    strcmp(f->group, group))
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
	const struct flag *f;

	*out = '\0';
	if (!strcmp(group, "mode"))
		return snprintf(out, FLAGS_MAX, "0%o", value);
	f = whole_value(group, value);
	return f ? add(out, 0, f->name) : show_bits(out, group, value);
}

json_t *flags_json(void)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		json_t *object = json_object();

		json_put(object, "group", json_string(flags[i].group));
		json_put(object, "name", json_string(flags[i].name));
		json_put(object, "value", json_integer(flags[i].value));
		json_put(object, "whole", json_boolean(flags[i].whole));
		json_add(array, object);
	}
	return array;
}

static void add_operations(json_t *array, const struct iot_schema_event *event)
{
	const struct operation *op;
	unsigned int i;

	for (i = 0; (op = operation_find(event->id, i)); i++) {
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
