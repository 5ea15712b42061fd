/* SPDX-License-Identifier: GPL-2.0 */
/* How a record shows the value of a socket's option. */
#ifndef IOT_SOCKOPT_VALUE_H
#define IOT_SOCKOPT_VALUE_H

#include <linux/types.h>
#include "core/option.h"

#define IOT_SOCKOPT_BYTES	32	/* bytes of a value that are read, at most */

/**
 * struct iot_sockopt_value - a value as it is in the program's memory
 * @bytes:	its first bytes
 * @nr:		number of @bytes that were read
 * @length:	its length, which may be larger
 * @of_ip:	of level SOL_IP, which takes a short number for a byte
 * @is_32:	of a 32-bit program
 */
struct iot_sockopt_value {
	char bytes[IOT_SOCKOPT_BYTES];
	unsigned int nr;
	unsigned int length;
	bool of_ip;
	bool is_32;
};

void iot_sockopt_show(char *text, size_t size, enum iot_option_kind kind,
		      const struct iot_sockopt_value *v);

#endif /* IOT_SOCKOPT_VALUE_H */
