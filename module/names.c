// SPDX-License-Identifier: GPL-2.0
/* Names of operations, flags and keys of filters: the lists of uapi as tables. */
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "filter.h"
#include "names.h"
#include "uapi/iotracer.h"

const struct iot_flag iot_flags[] = {
#define IOT_FLAG(group, value, name)	{ #group, name, value, false },
#define IOT_VALUE(group, value, name)	{ #group, name, value, true },
#include "uapi/flags.def"
};

const size_t iot_flags_nr = ARRAY_SIZE(iot_flags);

static const struct iot_op fs_ops[] = {
#define IOT_FS_OP(name, id, flags, flags2) \
	[id] = { #name, #flags, #flags2 },
#include "uapi/ops.def"
};

static const struct iot_op fault_ops[] = {
#define IOT_FAULT_OP(name, id, flags, flags2) \
	[id] = { #name, #flags, #flags2 },
#include "uapi/ops.def"
};

static const struct iot_op cache_ops[] = {
#define IOT_CACHE_OP(name, id, flags, flags2) \
	[id] = { #name, #flags, #flags2 },
#include "uapi/ops.def"
};

static const struct iot_op request_ops[] = {
#define IOT_REQUEST_OP(name, id, flags, flags2) \
	[id] = { #name, #flags, #flags2 },
#include "uapi/ops.def"
};

static const struct iot_op uring_ops[] = {
#define IOT_URING_OP(name, id, flags, flags2) \
	[id] = { #name, #flags, #flags2 },
#include "uapi/ops.def"
};

static const struct {
	const struct iot_op *ops;
	unsigned int nr;
} events[] = {
	[IOT_EVENT_ID_fs] = { fs_ops, ARRAY_SIZE(fs_ops) },
	[IOT_EVENT_ID_fault] = { fault_ops, ARRAY_SIZE(fault_ops) },
	[IOT_EVENT_ID_cache] = { cache_ops, ARRAY_SIZE(cache_ops) },
	[IOT_EVENT_ID_request] = { request_ops, ARRAY_SIZE(request_ops) },
	[IOT_EVENT_ID_uring] = { uring_ops, ARRAY_SIZE(uring_ops) },
};

static_assert(ARRAY_SIZE(fs_ops) == IOT_FS_OPS && IOT_FS_OPS <= IOT_FILTER_OPS);
static_assert(ARRAY_SIZE(fault_ops) == IOT_FAULT_OPS);
static_assert(ARRAY_SIZE(cache_ops) == IOT_CACHE_OPS);
static_assert(ARRAY_SIZE(request_ops) == IOT_REQUEST_OPS);
static_assert(ARRAY_SIZE(uring_ops) == IOT_URING_OPS);

static const char * const keys[] = {
#define IOT_KEY(name) #name,
#include "uapi/filter.def"
};

static const struct {
	unsigned int event;
	const char *key;
	const char *why;
} without[] = {
#define IOT_KEY_WITHOUT(event, name, why) { IOT_EVENT_ID_##event, #name, why },
#include "uapi/filter.def"
};

/** iot_names_key() - the @n-th key of filters, NULL behind the last */
const char *iot_names_key(unsigned int n)
{
	return n < ARRAY_SIZE(keys) ? keys[n] : NULL;
}

/** iot_names_without() - why a key says nothing about event @event; NULL if it says something */
const char *iot_names_without(unsigned int event, const char *key)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(without); i++)
		if (without[i].event == event && !strcmp(without[i].key, key))
			return without[i].why;
	return NULL;
}

/** iot_names_op() - an operation of event @event, NULL for a number that is none */
const struct iot_op *iot_names_op(unsigned int event, unsigned int op)
{
	if (event >= ARRAY_SIZE(events) || op >= events[event].nr)
		return NULL;
	return &events[event].ops[op];
}

/** iot_names_whole() - the name of a value of a group, NULL if it has none */
const struct iot_flag *iot_names_whole(const char *group, u32 value)
{
	size_t i;

	for (i = 0; i < iot_flags_nr; i++)
		if (iot_flags[i].whole && iot_flags[i].value == value &&
		    !strcmp(iot_flags[i].group, group))
			return &iot_flags[i];
	return NULL;
}
