/* SPDX-License-Identifier: GPL-2.0 */
/* Calls of functions of the kernel by an address in them: enter.S. */
#ifndef IOT_ENTER_H
#define IOT_ENTER_H

#include <linux/types.h>
#include "compat/compat.h"

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

#endif /* IOT_ENTER_H */
