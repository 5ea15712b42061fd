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

/**
 * struct iot_group - the flags and whole values that a field can have
 * @flags:	rows of iot_flags
 * @nr:		number of rows, 0 if the group has no names
 * @octal:	the value has no flags: it is the mode of a file
 */
struct iot_group {
	const struct iot_flag *flags;
	size_t nr;
	bool octal;
};

/** struct iot_op - an operation and the groups of its flags */
struct iot_op {
	const char *name;
	const char *flags;
	const char *flags2;
};

/** struct iot_access_name - an operation of targets: its letter in log, its name elsewhere */
struct iot_access_name {
	char letter;
	const char *name;
};

extern const struct iot_flag iot_flags[];
extern const size_t iot_flags_nr;

/* What a message says of a value that is none of these. */
#define IOT_SAY_FAMILY	"say a family of sockets, as inet, inet6 or unix, or its number"
#define IOT_SAY_PROTO	"say a protocol of IP, as tcp, udp or mptcp, or its number"
#define IOT_SAY_PORT	"say a port: a number from 1 to 65535"
#define IOT_SAY_ADDR	"say an address of IPv4 or IPv6, or ADDRESS/BITS"

const char *iot_names_key(unsigned int n);
const char *iot_names_without(unsigned int event, const char *key);
const struct iot_op *iot_names_op(unsigned int event, unsigned int op);
const char *iot_names_op_name(unsigned int event, unsigned int op);
char iot_names_letter(unsigned int op);
const struct iot_access_name *iot_names_access(unsigned int op);
const char *iot_names_kind(unsigned int kind);
struct iot_group iot_names_group(const char *name);
__u32 iot_names_common(unsigned int event);
const char *iot_names_value(const char *group, unsigned int value);
bool iot_names_find_value(const char *group, const char *prefix, const char *word, __u32 *value);
const struct iot_flag *iot_names_whole(const struct iot_group *group, __u32 value);

#endif /* IOT_NAMES_H */
