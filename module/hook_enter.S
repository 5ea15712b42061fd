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
#include <linux/objtool.h>
#include <asm/nospec-branch.h>
#include <asm/unwind_hints.h>

#ifdef CONFIG_X86_64
	.text
SYM_FUNC_START(iot_hook_enter)
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lgo
	int3
.Lgo:
	mov	%rdx, (%rsp)
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(iot_hook_enter)
#endif
