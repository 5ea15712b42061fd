/* SPDX-License-Identifier: GPL-2.0 */
/*
 * iot_hook_enter(arg1, arg2, address): call a function of two arguments. address is
 * where its body continues, behind its ftrace entry site.
 *
 * There is no ENDBR in the middle of a function, so an indirect call or jump to it
 * would fault if the kernel enforces indirect branch tracking. Returns are not
 * tracked: the address is used as a return address, as in a retpoline
 * (arch/x86/lib/retpoline.S). The function then returns to our caller.
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
 * iot_hook_enter4(arg1, arg2, arg3, arg4, address): the same for four arguments.
 */
SYM_FUNC_START(iot_hook_enter4)
	IOT_HOOK_GO %r8
SYM_FUNC_END(iot_hook_enter4)

/*
 * iot_hook_call(args, address): the same for up to five arguments, in an array.
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
