/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wrappers that may reject a call: NAME is a C function, NAME_entry where calls go.
 * IOT_HOOK_WRAPPER() declares the two, IOT_HOOK_WRAP makes the second.
 */
#ifndef IOT_HOOK_WRAP_H
#define IOT_HOOK_WRAP_H

#ifdef __ASSEMBLY__
#include <linux/linkage.h>
#include <asm/ibt.h>
#include <linux/objtool.h>
#include <asm/nospec-branch.h>
#include <asm/unwind_hints.h>

#define IOT_HOOK_ALONE_LOW	-0x80000000	/* IOT_HOOK_ALONE, hook_set.h */

/* Go on at the address in a register. */
.macro IOT_HOOK_GO reg
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lgo\@
	int3
.Lgo\@:
	mov	\reg, (%rsp)
	UNWIND_HINT_FUNC
	RET
.endm

/*
 * IOT_HOOK_WRAP: where calls go that a wrapper, a C function, may still reject. For
 * IOT_HOOK_ALONE the call goes on with nothing of ours on its stack, as the wrapper of a
 * call that waits for ever would keep the module loaded. @original is the register that
 * has the way into the function, @others are those with the arguments that the function
 * needs. There must be an odd number of them in all: a call wants the stack aligned
 * to 16. @caller is a register for the address that the call returns to.
 */
.macro IOT_HOOK_WRAP wrapper, original, caller, others:vararg
SYM_FUNC_START(\wrapper\()_entry)
	ENDBR
	mov	(%rsp), \caller
	.Lkept = 8
	.irp reg, \others
	push	\reg
	.Lkept = .Lkept + 8
	.endr
	push	\original
	call	\wrapper
	cmp	$IOT_HOOK_ALONE_LOW, %rax
	je	.Lalone\@
	add	$.Lkept, %rsp
	RET
.Lalone\@:
	pop	%r11
	IOT_HOOK_POP \others
	IOT_HOOK_GO %r11
SYM_FUNC_END(\wrapper\()_entry)
.endm

/* Pop the registers of a list, the last one first. */
.macro IOT_HOOK_POP first, others:vararg
	.ifnb \others
	IOT_HOOK_POP \others
	.endif
	pop	\first
.endm
#else
#define IOT_HOOK_WRAPPER(name, ...)		\
	s64 name(__VA_ARGS__);			\
	s64 name##_entry(__VA_ARGS__)
#endif

#endif /* IOT_HOOK_WRAP_H */
