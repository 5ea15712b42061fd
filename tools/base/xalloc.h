/* SPDX-License-Identifier: GPL-2.0 */
/* Memory. Without it these print a message and exit: none of them returns NULL. */
#ifndef TOOL_BASE_XALLOC_H
#define TOOL_BASE_XALLOC_H

#include <stddef.h>

/* Room for one if @count is 0. */
void *xreallocarray(void *old, size_t count, size_t size);

/* @size is rounded up to a multiple of @alignment. */
void *xaligned_alloc(size_t alignment, size_t size);

char *xstrdup(const char *s);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* @p itself, which is what a function returned that allocates. */
void *xchecked(void *p);

#endif /* TOOL_BASE_XALLOC_H */
