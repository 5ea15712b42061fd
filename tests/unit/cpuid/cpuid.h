/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Instead of the compiler's: a processor whose hypervisor calls itself what TOOL_CPUID says, in the three
 * registers that the instruction fills; without it there is none.
 */
#include <stdlib.h>
#include <string.h>

static inline int __get_cpuid(unsigned int leaf, unsigned int *a, unsigned int *b, unsigned int *c, unsigned int *d)
{
	*a = *b = *d = 0;
	*c = leaf == 1 && getenv("TOOL_CPUID") ? 1u << 31 : 0;
	return 1;
}

static inline unsigned int cpuid_part(size_t i)
{
	const char *name = getenv("TOOL_CPUID");
	char text[12] = "";
	unsigned int part;

	memcpy(text, name, strnlen(name, sizeof(text)));
	memcpy(&part, text + 4 * i, 4);
	return part;
}

#define __cpuid(leaf, a, b, c, d) \
	((a) = (leaf), (b) = cpuid_part(0), (c) = cpuid_part(1), (d) = cpuid_part(2))
