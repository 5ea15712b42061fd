// SPDX-License-Identifier: GPL-2.0
/*
 * Names of the levels and options of sockets, and the kinds of their values: uapi/sockopt.def as
 * tables. This file is compiled into the module and, unchanged, into the tool. Context: any.
 */
#ifdef __KERNEL__
#include <linux/kernel.h>
#else
#include <stddef.h>
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#endif
#include "core/option.h"
#include "uapi/iotracer.h"

/** struct level - @kind: of options that are not listed */
struct level {
	const char *name;
	__s32 number;
	enum iot_option_kind kind;
};

struct option {
	const char *name;
	__s32 level;
	__s32 number;
	enum iot_option_kind kind;
};

static const struct level levels[] = {
#define IOT_SOL(name, number, kind)		{ #name, number, IOT_OPTION_##kind },
#include "uapi/sockopt.def"
};

static const struct option options[] = {
#define IOT_OPTION(level, name, number, kind)	\
	{ #name, IOT_##level, number, IOT_OPTION_##kind },
#include "uapi/sockopt.def"
};

static const struct level *find_level(__s32 number)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(levels); i++)
		if (levels[i].number == number)
			return &levels[i];
	return NULL;
}

static const struct option *find_option(__s32 level, __s32 number)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (options[i].number == number && options[i].level == level)
			return &options[i];
	return NULL;
}

/** iot_option_level() - look up the name of a level. Return: NULL if it has none */
const char *iot_option_level(__s32 level)
{
	const struct level *known = find_level(level);

	return known ? known->name : NULL;
}

/** iot_option_name() - look up the name of an option of a level. Return: NULL if it has none */
const char *iot_option_name(__s32 level, __s32 option)
{
	const struct option *known = find_option(level, option);

	return known ? known->name : NULL;
}

/** iot_option_kind() - look up how values of an option are shown */
enum iot_option_kind iot_option_kind(__s32 level, __s32 option)
{
	const struct option *known = find_option(level, option);
	const struct level *of = known ? NULL : find_level(level);

	if (known)
		return known->kind;
	return of ? of->kind : IOT_OPTION_hidden;
}
