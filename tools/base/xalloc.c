// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

static void (*give_up)(void);
static __thread bool failed XALLOC_TLS;

void xalloc_on_failure(void (*end)(void))
{
	give_up = end;
}

bool xalloc_failed(void)
{
	return failed;
}

bool xalloc_reset(bool now)
{
	bool before = failed;

	failed = now;
	return before;
}

void *xchecked(void *p)
{
	if (p)
		return p;
	if (give_up)
		give_up();
	failed = true;
	return NULL;
}

void *xreallocarray(void *old, size_t count, size_t size)
{
	return xchecked(reallocarray(old, count ? count : 1, size));
}

bool xgrow(void *array, size_t count, size_t size)
{
	void *at;

	memcpy(&at, array, sizeof(at));
	at = xreallocarray(at, count, size);
	if (at)
		memcpy(array, &at, sizeof(at));
	return at;
}

void *xaligned_alloc(size_t alignment, size_t size)
{
	return xchecked(aligned_alloc(alignment, (size + alignment - 1) & -alignment));
}

char *xstrdup(const char *s)
{
	return xchecked(strdup(s));
}

char *xvasprintf(const char *format, va_list args)
{
	char *s = NULL;

	return xchecked(vasprintf(&s, format, args) < 0 ? NULL : s);
}

char *xasprintf(const char *format, ...)
{
	va_list args;
	char *s;

	va_start(args, format);
	s = xvasprintf(format, args);
	va_end(args);
	return s;
}
