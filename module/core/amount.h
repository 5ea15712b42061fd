/* SPDX-License-Identifier: GPL-2.0 */
/* Sizes and times with units, as 4K and 10ms. Shared by the module and the tool. */
#ifndef IOT_AMOUNT_H
#define IOT_AMOUNT_H

#ifdef __KERNEL__
#include <linux/string.h>
#include <linux/types.h>
#else
#include <stdbool.h>
#include <strings.h>
#include <linux/types.h>
#endif

/**
 * struct iot_unit - what may follow a number; a list of them ends with a name of NULL
 * @name:	the unit, in any case
 * @times:	how much one of it is
 */
struct iot_unit {
	const char *name;
	__u64 times;
};

/* Bytes. */
static const struct iot_unit iot_units_size[] = {
	{ "", 1 }, { "K", 1ULL << 10 }, { "M", 1ULL << 20 }, { "G", 1ULL << 30 },
	{ "T", 1ULL << 40 }, { NULL, 0 }
};

/* Nanoseconds. */
static const struct iot_unit iot_units_time[] = {
	{ "", 1 }, { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 }, { NULL, 0 }
};

#define IOT_SAY_SIZE "say bytes: a number, or one with K, M, G or T (of 1024), as 4K"
#define IOT_SAY_TIME "say nanoseconds: a number, or one with us, ms or s, as 10ms"

/** iot_amount_parse() - parse decimal digits and a unit. Return: whether that fits into *amount */
static inline bool iot_amount_parse(const char *text, const struct iot_unit *unit, __u64 *amount)
{
	__u64 n = 0;

	if (*text < '0' || *text > '9')
		return false;
	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, *text - '0', &n))
			return false;
	while (unit->name && strcasecmp(unit->name, text))
		unit++;
	return unit->name && !__builtin_mul_overflow(n, unit->times, amount);
}

#endif /* IOT_AMOUNT_H */
