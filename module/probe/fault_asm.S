/* SPDX-License-Identifier: GPL-2.0 */
/* The entries of wrappers that may reject a call; see hook/wrap.inc. */
#include "hook/wrap.inc"

#if defined(IOT_HOOK_WRAPS) && !defined(IOT_WITHOUT_FAULT)
	.text
IOT_HOOK_WRAP iot_fault_any, %r8, %r9, %rdi, %rsi, %rdx, %rcx
#endif
