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

#endif /* IOT_SYMBOL_H */
