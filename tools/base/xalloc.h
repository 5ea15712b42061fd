/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory. The tool ends with a message if there is none (cli_begin()): there none of these returns
 * NULL. The library has nobody to end: there they return NULL, and xalloc_failed() is true from then
 * on. So what libiotracer is made of checks each result, and stays such that everything can be freed;
 * it need not tell its caller why it did not do what it was asked for, as the library asks
 * xalloc_failed() before it returns.
 */
#ifndef TOOL_BASE_XALLOC_H
#define TOOL_BASE_XALLOC_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* A few bytes for each thread, which are there without an allocation that could fail. */
#define XALLOC_TLS __attribute__((tls_model("initial-exec")))

/* Room for one if @count is 0. */
void *xreallocarray(void *old, size_t count, size_t size);

/* As above, of the array that @array points to. Without memory the array stays; returns false. */
bool xgrow(void *array, size_t count, size_t size);

/* @size is rounded up to a multiple of @alignment. */
void *xaligned_alloc(size_t alignment, size_t size);

char *xstrdup(const char *s);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

/* @p itself, which is what a function returned that allocates: NULL if that failed. */
void *xchecked(void *p);

/* Calls @end, which does not return, where there is no memory. Call it before there are threads. */
void xalloc_on_failure(void (*end)(void));

/* Whether this thread wanted memory, and got none. */
bool xalloc_failed(void);

/* Sets that to @failed: to false where something begins. Returns what it was. */
bool xalloc_reset(bool failed);

#endif /* TOOL_BASE_XALLOC_H */
