/* SPDX-License-Identifier: GPL-2.0 */
/* What module/core/btf.c uses of the kernel, for userspace. */
#ifndef UNIT_LINUX_KERNEL_H
#define UNIT_LINUX_KERNEL_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/types.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define offsetofend(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))
#define U32_MAX UINT32_MAX

/* Return: the number of bytes stored in @text, without the final NUL. */
#define scnprintf(text, size, ...) \
	({ size_t unit_n = snprintf(text, size, __VA_ARGS__); \
	   unit_n < (size) ? unit_n : (size) - 1; })

#define cond_resched() do { } while (0)

#define GFP_KERNEL 0
#define kvcalloc(n, size, flags) calloc(n, size)
#define kvfree(p) free(p)

#endif /* UNIT_LINUX_KERNEL_H */
