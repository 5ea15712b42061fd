/* SPDX-License-Identifier: GPL-2.0 */
/*
 * iot_hook_enter(arg1, arg2, address): call a function of two arguments. address is where its
 * body continues, after its ftrace entry site.
 *
 * There is no ENDBR (arm64: BTI) in the middle of a function, so an indirect call or jump to it
 * would fault if the kernel enforces indirect branch tracking. Returns are not
 * tracked: the address is used as a return address, as in a retpoline
 * (arch/x86/lib/retpoline.S). The function then returns to our caller.
 */
#include "hook/wrap.inc"

	.text
#ifdef CONFIG_X86_64
SYM_FUNC_START(iot_hook_enter)
	IOT_HOOK_GO %rdx
SYM_FUNC_END(iot_hook_enter)

/* iot_hook_enter4(arg1, arg2, arg3, arg4, address): as above, for four arguments. */
SYM_FUNC_START(iot_hook_enter4)
	IOT_HOOK_GO %r8
SYM_FUNC_END(iot_hook_enter4)

/* iot_hook_call(args, address): as above, for up to five arguments, in an array. */
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

#ifdef CONFIG_ARM64
SYM_FUNC_START(iot_hook_enter)
	IOT_HOOK_GO x2
SYM_FUNC_END(iot_hook_enter)

SYM_FUNC_START(iot_hook_enter4)
	IOT_HOOK_GO x4
SYM_FUNC_END(iot_hook_enter4)

SYM_FUNC_START(iot_hook_call)
	mov	x9, x0
	mov	x10, x1
	ldp	x0, x1, [x9]
	ldp	x2, x3, [x9, #16]
	ldr	x4, [x9, #32]
	IOT_HOOK_GO x10
SYM_FUNC_END(iot_hook_call)
#endif
