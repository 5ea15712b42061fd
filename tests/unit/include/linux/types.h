/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's types, for module/core/ring.c in userspace. */
#ifndef UNIT_LINUX_TYPES_H
#define UNIT_LINUX_TYPES_H

#include <stdbool.h>
#include <stddef.h>

typedef unsigned char u8;
typedef unsigned int u32;
typedef long long s64;
typedef unsigned long long u64;

typedef struct {
	s64 counter;
} atomic64_t;

#endif /* UNIT_LINUX_TYPES_H */
