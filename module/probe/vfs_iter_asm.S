/* SPDX-License-Identifier: GPL-2.0 */
/* The entries of wrappers that may reject a call; see hook/wrap.inc. */
#include <linux/linkage.h>

#include "compat/config.h"

#if defined(CONFIG_X86_64)
#include "hook/wrap.inc"

	.text
IOT_HOOK_WRAP iot_vfs_read_any, %rdx, %r8, %rdi, %rsi
IOT_HOOK_WRAP iot_vfs_write_any, %rdx, %r8, %rdi, %rsi
#endif
