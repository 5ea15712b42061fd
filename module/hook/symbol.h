/* SPDX-License-Identifier: GPL-2.0 */
/* Functions and variables of the kernel that are not exported. */
#ifndef IOT_SYMBOL_H
#define IOT_SYMBOL_H

#include <linux/types.h>
#include "compat/compat.h"

struct iot_btf_check;

int iot_symbol_init(void);
void iot_symbol_exit(void);

bool iot_symbol_is_kernels(unsigned long addr);
unsigned long iot_symbol_find(const char *name);
unsigned long iot_symbol_data(const char *name);
unsigned long iot_symbol_checked(const char *name, const char *proto);
bool iot_symbol_calls(const char *func, const char *callee);
void iot_symbol_print_found(const struct iot_btf_check *check, char *text);

/* Called for each function and variable of the kernel. */
typedef void (*iot_symbol_fn)(const char *name, unsigned long addr);
int iot_symbol_each(iot_symbol_fn fn);

bool iot_symbol_ftrace_off(void);
#define IOT_FTRACE_OFF \
	"ftrace is off, and without it no call is seen; sysctl -w kernel.ftrace_enabled=1 turns it on"

#define IOT_CALL_ARGS	5	/* arguments that a wrapper gets and iot_hook_call() passes */

/*
 * iot_hook_call() - call a function of up to five arguments at an address in it: its start, from
 * iot_symbol_find(), or after its entry site, from ftrace. It needs no ENDBR there.
 */
#ifdef IOT_ARCH_KNOWN
s64 iot_hook_call(const unsigned long *args, unsigned long address);
ssize_t iot_hook_enter(void *arg1, void *arg2, unsigned long address);
s64 iot_hook_enter4(unsigned long arg1, unsigned long arg2, unsigned long arg3,
		    unsigned long arg4, unsigned long address);
#else
static inline __nocfi s64 iot_hook_call(const unsigned long *args, unsigned long address)
{
	s64 (*func)(unsigned long a, unsigned long b, unsigned long c, unsigned long d,
		    unsigned long e) = (void *)address;

	return func(args[0], args[1], args[2], args[3], args[4]);
}
#endif

#endif /* IOT_SYMBOL_H */
