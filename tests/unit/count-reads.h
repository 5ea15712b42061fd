/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included before anything else in tools/vm/qcow2*.c: counts the numbers that are read of an image. The
 * program prints how many these were to the file that TOOL_READS names.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>

extern unsigned long count_reads;

static inline unsigned int count_32(unsigned int n)
{
	count_reads++;
	return __builtin_bswap32(n);
}

static inline unsigned long count_64(unsigned long n)
{
	count_reads++;
	return __builtin_bswap64(n);
}

#undef be32toh
#undef be64toh
#define be32toh count_32
#define be64toh count_64

#ifdef COUNT_READS_HERE
unsigned long count_reads;

static void __attribute__((destructor)) print_reads(void)
{
	const char *name = getenv("TOOL_READS");
	FILE *f = name ? fopen(name, "we") : NULL;

	if (!f)
		return;
	fprintf(f, "%lu\n", count_reads);
	fclose(f);
}
#endif
