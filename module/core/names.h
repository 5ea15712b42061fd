/* SPDX-License-Identifier: GPL-2.0 */
/* Names of operations, flags and filter keys: the lists in uapi/ as tables. */
#ifndef IOT_NAMES_H
#define IOT_NAMES_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>
#endif

/** struct iot_flag - one bit or, if @whole, one value of a group */
struct iot_flag {
	const char *group;
	const char *name;
	__u32 value;
	bool whole;
};

/** struct iot_op - an operation and the groups of its flags */
struct iot_op {
	const char *name;
	const char *flags;
	const char *flags2;
};

extern const struct iot_flag iot_flags[];
extern const size_t iot_flags_nr;

const char *iot_names_key(unsigned int n);
const char *iot_names_without(unsigned int event, const char *key);
const struct iot_op *iot_names_op(unsigned int event, unsigned int op);
const char *iot_names_op_name(unsigned int event, unsigned int op);
const char *iot_names_kind(unsigned int kind);
const struct iot_flag *iot_names_whole(const char *group, __u32 value);

#endif /* IOT_NAMES_H */
