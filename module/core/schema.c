// SPDX-License-Identifier: GPL-2.0
/*
 * The descriptor table that uapi/events.def expands to, and its hash. This file
 * is compiled into the module and, unchanged, into the tool. A stream carries the
 * hash, and the tool decodes only streams with the hash it was compiled with.
 */
#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/stddef.h>
#else
#include <stddef.h>
#define static_assert _Static_assert
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#endif
#include "core/schema.h"

#define member_size(type, name) sizeof(((type *)0)->name)

/* The fields add up to the size of the record: it has no holes and no padding. */
enum {
#define IOT_EVENT(name, NAME, id, meaning) sum_of_##name = 0
#define IOT_FIELD(event, type, name, kind, unit, text) + sizeof(IOT_TYPE_##type)
#define IOT_CHARS(event, name, length, kind, text) + (length)
#define IOT_EVENT_END(name) ,
#include "uapi/events.def"
};

#define IOT_EVENT(name, NAME, id, meaning) \
	static_assert(sizeof(struct iot_##name) == sum_of_##name, \
		      "struct iot_" #name " has padding");
#include "uapi/events.def"

/* fields_io[] and so on. */
#define IOT_EVENT(name, NAME, id, meaning) \
	static const struct iot_schema_field fields_##name[] = {
#define IOT_FIELD(event, type, name, kind, unit, text) \
	{ #name, #type, #kind, unit, text, offsetof(struct iot_##event, name), \
	  member_size(struct iot_##event, name) },
#define IOT_CHARS(event, name, length, kind, text) \
	{ #name, "char", #kind, "", text, offsetof(struct iot_##event, name), \
	  member_size(struct iot_##event, name) },
#define IOT_EVENT_END(name) };
#include "uapi/events.def"

const struct iot_schema_event iot_schema[] = {
#define IOT_EVENT(name, NAME, id, meaning) \
	{ #name, meaning, id, sizeof(struct iot_##name), \
	  fields_##name, ARRAY_SIZE(fields_##name) },
#include "uapi/events.def"
};

const unsigned int iot_schema_events = ARRAY_SIZE(iot_schema);

/** iot_schema_find() - look up an event by id. Return: NULL if there is none */
const struct iot_schema_event *iot_schema_find(unsigned int id)
{
	unsigned int i;

	for (i = 0; i < iot_schema_events; i++)
		if (iot_schema[i].id == id)
			return &iot_schema[i];
	return NULL;
}

/* FNV-1a, 64 bit. */
static __u64 hash_string(__u64 hash, const char *s)
{
	do {
		hash ^= (unsigned char)*s;
		hash *= 0x100000001b3ULL;
	} while (*s++);
	return hash;
}

static __u64 hash_number(__u64 hash, unsigned int n)
{
	hash ^= n;
	return hash * 0x100000001b3ULL;
}

/**
 * iot_schema_hash() - compute a hash that changes when the layout of a record changes
 *
 * It covers the name, id and size of each event and the name, type, kind and offset of each
 * field, but not their texts and units.
 */
__u64 iot_schema_hash(void)
{
	__u64 hash = 0xcbf29ce484222325ULL;
	unsigned int i, j;

	for (i = 0; i < iot_schema_events; i++) {
		const struct iot_schema_event *e = &iot_schema[i];

		hash = hash_number(hash_string(hash, e->name), e->id);
		hash = hash_number(hash, e->size);
		for (j = 0; j < e->nr_fields; j++) {
			hash = hash_string(hash, e->fields[j].name);
			hash = hash_string(hash, e->fields[j].type);
			hash = hash_string(hash, e->fields[j].kind);
			hash = hash_number(hash, e->fields[j].offset);
		}
	}
	return hash;
}
