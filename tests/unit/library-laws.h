/* SPDX-License-Identifier: GPL-2.0 */
/* The allocations of library-laws.c, and those that they replace: the C library's, or the linker's. */
#ifndef TEST_LIBRARY_LAWS_H
#define TEST_LIBRARY_LAWS_H

#include <stdarg.h>
#include <stddef.h>

#ifdef WRAPPED
#define NAME(name) __wrap_##name
#define REAL(name) __real_##name

void *__wrap_reallocarray(void *old, size_t nr, size_t size);
char *__wrap_strdup(const char *s);
int __wrap_vasprintf(char **s, const char *format, va_list args);
#else
#define NAME(name) name
#define REAL(name) __libc_##name
#endif

void *REAL(malloc)(size_t size);
void *REAL(calloc)(size_t nr, size_t size);
void *REAL(realloc)(void *old, size_t size);
void REAL(free)(void *p);

#ifdef WRAPPED
void *NAME(malloc)(size_t size);
void *NAME(calloc)(size_t nr, size_t size);
void *NAME(realloc)(void *old, size_t size);
void NAME(free)(void *p);
#endif

#endif /* TEST_LIBRARY_LAWS_H */
