/* SPDX-License-Identifier: GPL-2.0 */
/*
 * iot_hook_enter(arg1, arg2, address): call the function of two arguments whose
 * body goes on at address, behind its ftrace entry site.
 *
 * An address in the middle of a function is no ENDBR, so an indirect call or
 * jump to it would fault where the kernel enforces indirect branch tracking. A
 * return is not tracked: the address takes the place of a return address, as in
 * a retpoline (arch/x86/lib/retpoline.S). What that returns to is our caller.
 */
#include <linux/linkage.h>
#include <asm/unwind_hints.h>

#ifdef CONFIG_X86_64
#include "hook/wrap.inc"

	.text
SYM_FUNC_START(iot_hook_enter)
	IOT_HOOK_GO %rdx
SYM_FUNC_END(iot_hook_enter)

/*
 * iot_hook_enter4(arg1, arg2, arg3, arg4, address): likewise, of four.
 */
SYM_FUNC_START(iot_hook_enter4)
	IOT_HOOK_GO %r8
SYM_FUNC_END(iot_hook_enter4)

/*
 * iot_hook_call(args, address): likewise, of a function of up to five arguments.
 */
SYM_FUNC_START(iot_hook_call)
	mov	%rdi, %rax
	mov	%rsi, %r11
	mov	(%rax), %rdi
	mov	8(%rax), %rsi
	mov	16(%rax), %rdx
	mov	24(%rax), %rcx
	mov	32(%rax), %r8
	IOT_HOOK_GO %r11
SYM_FUNC_END(iot_hook_call)
#endif
