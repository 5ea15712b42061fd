/* SPDX-License-Identifier: GPL-2.0 */
/* The entries of wrappers that may reject a call; see hook/wrap.inc. */
#include <linux/linkage.h>

#include "compat/config.h"

#if defined(CONFIG_X86_64) && !defined(IOT_WITHOUT_FAULT)
#include "hook/wrap.inc"

	.text
IOT_HOOK_WRAP iot_fault_any, %r8, %r9, %rdi, %rsi, %rdx, %rcx
#endif
