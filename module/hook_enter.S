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
#include <asm/ibt.h>
#include <linux/objtool.h>
#include <asm/nospec-branch.h>
#include <asm/unwind_hints.h>

#include "compat/config.h"

#ifdef CONFIG_X86_64
#include "hook_stub.h"

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

IOT_HOOK_WRAP iot_vfs_read_any, %rdx, %r8, %rdi, %rsi
IOT_HOOK_WRAP iot_vfs_write_any, %rdx, %r8, %rdi, %rsi
#ifndef IOT_WITHOUT_FAULT
IOT_HOOK_WRAP iot_fault_any, %r8, %r9, %rdi, %rsi, %rdx, %rcx
#endif

/*
 * Where ftrace handlers send calls: one stub for each site, as nothing but the arguments
 * of the call and the address where it goes on gets here. BPF's trampoline may have come
 * between, and it keeps no other register.
 */
.macro IOT_HOOK_TABLE name, to
SYM_CODE_START(\name)
	.Lnumber = 0
	.rept IOT_HOOK_STUBS
	UNWIND_HINT_FUNC
0:
	ENDBR
	mov	$.Lnumber, %r9d
	jmp	\to
	.fill	0b + IOT_HOOK_STUB_SIZE - ., 1, 0xcc
	.Lnumber = .Lnumber + 1
	.endr
SYM_CODE_END(\name)
.endm

IOT_HOOK_TABLE iot_hook_stubs, iot_hook_stub

/* Of calls that are not wanted: see iot_hook_site_pass(). */
IOT_HOOK_TABLE iot_hook_passes, iot_hook_pass

SYM_FUNC_START_LOCAL(iot_hook_pass)
	lea	iot_hook_stubbed(%rip), %rax
	mov	(%rax,%r9,8), %r9
	jmp	iot_hook_go_on
SYM_FUNC_END(iot_hook_pass)

/* Into the function of the site in r9, as if nothing had happened. */
SYM_FUNC_START_LOCAL(iot_hook_go_on)
	mov	(%r9), %r9	/* site->entry */
	IOT_HOOK_GO %r9
SYM_FUNC_END(iot_hook_go_on)

/*
 * The arguments are in place and r9 is the number of the site. Keeps the arguments, in
 * an array on the stack, for iot_hook_stub_call(args, site), and returns what that
 * says; or, for IOT_HOOK_ALONE, goes on into the function as if nothing had happened.
 */
SYM_FUNC_START_LOCAL(iot_hook_stub)
	lea	iot_hook_stubbed(%rip), %rax
	mov	(%rax,%r9,8), %r9
	push	%r9
	push	%r8
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	mov	%rsp, %rdi
	mov	%r9, %rsi
	sub	$8, %rsp	/* a call wants the stack aligned to 16 */
	call	iot_hook_stub_call
	add	$8, %rsp
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%r8
	pop	%r9
	cmp	$IOT_HOOK_ALONE_LOW, %rax
	je	iot_hook_go_on
	RET
SYM_FUNC_END(iot_hook_stub)
#endif
