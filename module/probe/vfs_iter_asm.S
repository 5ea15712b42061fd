/* SPDX-License-Identifier: GPL-2.0 */
/* The entries of wrappers that may reject a call; see hook/wrap.inc. */
#include "hook/wrap.inc"

#ifdef IOT_HOOK_WRAPS
	.text
IOT_HOOK_WRAP iot_vfs_read_any, %rdx, %r8, %rdi, %rsi
IOT_HOOK_WRAP iot_vfs_write_any, %rdx, %r8, %rdi, %rsi
#endif
