// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

void *xchecked(void *p)
{
	if (p)
		return p;
	fputs("iotracer: out of memory\n", stderr);
	exit(EXIT_FAILURE);
}

void *xreallocarray(void *old, size_t count, size_t size)
{
	return xchecked(reallocarray(old, count ? count : 1, size));
}

void *xaligned_alloc(size_t alignment, size_t size)
{
	return xchecked(aligned_alloc(alignment, (size + alignment - 1) & -alignment));
}

char *xstrdup(const char *s)
{
	return xchecked(strdup(s));
}

char *xasprintf(const char *format, ...)
{
	char *s = NULL;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&s, format, args);
	va_end(args);
	return xchecked(n < 0 ? NULL : s);
}
