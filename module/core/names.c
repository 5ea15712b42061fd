// SPDX-License-Identifier: GPL-2.0
/*
 * Names of operations, flags and filter keys: the lists in uapi/ as tables. This file is
 * compiled into the module and, unchanged, into the tool.
 */
#ifdef __KERNEL__
#include <linux/kernel.h>
#include <linux/string.h>
#else
#include <stddef.h>
#include <string.h>
#include <strings.h>
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#endif
#include "core/names.h"
#include "uapi/iotracer.h"

const struct iot_flag iot_flags[] = {
#define IOT_FLAG(group, value, name)	{ #group, name, value, false },
#define IOT_VALUE(group, value, name)	{ #group, name, value, true },
#include "uapi/flags.def"
};

const size_t iot_flags_nr = ARRAY_SIZE(iot_flags);

/* Indexed by event id and operation id. An id without an operation has name NULL. */
static const struct iot_op ops[IOT_EVENT_IDS][IOT_OPS_MAX] = {
#define IOT_OP(EVENT, name, id, flags, flags2) \
	[IOT_EVENT_ID_##EVENT][id] = { #name, #flags, #flags2 },
#include "uapi/ops.def"
};

/* Indexed by operation of fs. */
static const char letters[IOT_OPS_MAX] = {
#define IOT_LETTER(name, letter) \
	[IOT_FS_##name] = letter,
#include "uapi/ops.def"
};

static const struct iot_access_name accesses[] = {
#define IOT_ACCESS(NAME, id, letter, shown, meaning) \
	[id] = { letter, shown },
#include "uapi/access.def"
};

static const char * const kinds[] = {
	[IOT_KIND_NONE] = "none",
	[IOT_KIND_FILE] = "file",
	[IOT_KIND_DIR] = "dir",
	[IOT_KIND_SYMLINK] = "symlink",
	[IOT_KIND_PIPE] = "pipe",
	[IOT_KIND_SOCKET] = "socket",
	[IOT_KIND_DEVICE] = "device",
	[IOT_KIND_PSEUDO] = "pseudo",
	[IOT_KIND_OTHER] = "other",
};

static const char * const keys[] = {
#define IOT_KEY(name) #name,
#include "uapi/filter.def"
};

struct key_of_event {
	unsigned int event;
	const char *key;
	const char *why;
};

static const struct key_of_event without[] = {
#define IOT_KEY_WITHOUT(EVENT, name, why) { IOT_EVENT_ID_##EVENT, #name, why },
#include "uapi/categories.def"
};

static const struct key_of_event only[] = {
#define IOT_KEY_ONLY(EVENT, name, why) { IOT_EVENT_ID_##EVENT, #name, why },
#include "uapi/filter.def"
};

/** iot_names_key() - get the @n-th filter key. Return: NULL after the last one */
const char *iot_names_key(unsigned int n)
{
	return n < ARRAY_SIZE(keys) ? keys[n] : NULL;
}

/**
 * iot_names_without() - get the reason why a filter key does not apply to an event
 *
 * Return: NULL if it applies.
 */
const char *iot_names_without(unsigned int event, const char *key)
{
	const char *why = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(without); i++)
		if (without[i].event == event && !strcmp(without[i].key, key))
			return without[i].why;
	for (i = 0; i < ARRAY_SIZE(only); i++) {
		if (strcmp(only[i].key, key))
			continue;
		if (only[i].event == event)
			return NULL;
		why = only[i].why;
	}
	return why;
}

/** iot_names_value() - look up the name of a whole value. Return: NULL if it has none */
const char *iot_names_value(const char *group, unsigned int value)
{
	const struct iot_group values = iot_names_group(group);
	const struct iot_flag *found = iot_names_whole(&values, value);

	return found ? found->name : NULL;
}

/**
 * iot_names_find_value() - find a whole value of a group by its name, in upper or lower case
 * @prefix:	@word may leave it out, or have it where the group's names do not
 *
 * Return: whether there is one.
 */
bool iot_names_find_value(const char *group, const char *prefix, const char *word, __u32 *value)
{
	const struct iot_group values = iot_names_group(group);
	size_t length = strlen(prefix), i;

	if (!strncasecmp(word, prefix, length))
		word += length;
	for (i = 0; i < values.nr; i++) {
		const char *name = values.flags[i].name;

		if (!strncmp(name, prefix, length))
			name += length;
		if (values.flags[i].whole && !strcasecmp(name, word)) {
			*value = values.flags[i].value;
			return true;
		}
	}
	return false;
}

/** iot_names_op() - look up an operation of an event. Return: NULL if no operation has the id */
const struct iot_op *iot_names_op(unsigned int event, unsigned int op)
{
	if (event >= IOT_EVENT_IDS || op >= IOT_OPS_MAX || !ops[event][op].name)
		return NULL;
	return &ops[event][op];
}

/** iot_names_op_name() - look up the name of an operation. Return: NULL if none has the id */
const char *iot_names_op_name(unsigned int event, unsigned int op)
{
	const struct iot_op *known = iot_names_op(event, op);

	return known ? known->name : NULL;
}

/** iot_names_letter() - get the letter of an operation of fs: see ops.def */
char iot_names_letter(unsigned int op)
{
	return op < IOT_OPS_MAX && letters[op] ? letters[op] : '-';
}

/** iot_names_access() - look up an operation of targets, IOT_OP_*. Return: NULL if unknown */
const struct iot_access_name *iot_names_access(unsigned int op)
{
	return op < ARRAY_SIZE(accesses) ? &accesses[op] : NULL;
}

/** iot_names_kind() - look up the name of a file kind, IOT_KIND_*. Return: NULL if unknown */
const char *iot_names_kind(unsigned int kind)
{
	return kind < ARRAY_SIZE(kinds) ? kinds[kind] : NULL;
}

/** iot_names_group() - look up a group of flags.def, or "mode" or "none" */
struct iot_group iot_names_group(const char *name)
{
	struct iot_group g = { .flags = iot_flags, .octal = !strcmp(name, "mode") };
	const struct iot_flag *end = iot_flags + iot_flags_nr;

	while (g.flags < end && strcmp(g.flags->group, name))
		g.flags++;
	while (g.flags + g.nr < end && !strcmp(g.flags[g.nr].group, name))
		g.nr++;
	return g;
}

/**
 * iot_names_common() - get the bits that the flags of every operation of an event may have
 *
 * They are those of group "call". The other bits are of the operation's own group.
 */
__u32 iot_names_common(unsigned int event)
{
	return event == IOT_EVENT_ID_FS ? IOT_CALL_COMMON : 0;
}

/** iot_names_whole() - look up a whole value of a group. Return: NULL if it has no name */
const struct iot_flag *iot_names_whole(const struct iot_group *group, __u32 value)
{
	size_t i;

	for (i = 0; i < group->nr; i++)
		if (group->flags[i].whole && group->flags[i].value == value)
			return &group->flags[i];
	return NULL;
}
