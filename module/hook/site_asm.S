/* SPDX-License-Identifier: GPL-2.0 */
/* The stubs of sites: see site.c */
#include "hook/stub.h"
#include "hook/wrap.inc"

	.text
#if defined(IOT_HOOK_WRAPS) && defined(CONFIG_X86_64)
/*
 * Ftrace handlers send calls here. There is one stub per site, as only the address and
 * the arguments of the call tell what it is: BPF's trampoline may have run in between,
 * and it keeps no other register.
 */
.macro IOT_HOOK_TABLE name, to
SYM_CODE_START(\name)
	.Lnumber = 0
	.rept IOT_STUBS
	UNWIND_HINT_FUNC
0:
	ENDBR
	mov	$.Lnumber, %r9d
	jmp	\to
	.fill	0b + IOT_STUB_SIZE - ., 1, 0xcc
	.Lnumber = .Lnumber + 1
	.endr
SYM_CODE_END(\name)
.endm

IOT_HOOK_TABLE iot_stubs, iot_stub

/* For calls that pass through: see iot_site_pass(). */
IOT_HOOK_TABLE iot_stub_passes, iot_hook_pass

SYM_FUNC_START_LOCAL(iot_hook_pass)
	lea	iot_stub_sites(%rip), %rax
	mov	(%rax,%r9,8), %r9
	jmp	iot_hook_go_on
SYM_FUNC_END(iot_hook_pass)

/* Continue into the function of the site in r9, with its arguments and stack as they were. */
SYM_FUNC_START_LOCAL(iot_hook_go_on)
	mov	(%r9), %r9	/* site->entry */
	IOT_HOOK_GO %r9
SYM_FUNC_END(iot_hook_go_on)

/*
 * r9 is the number of the stub. Saves the arguments in an array on the stack, calls
 * iot_stub_call(args, site) and returns its result. For IOT_HOOK_PASS_THROUGH it restores
 * the arguments and continues into the function.
 */
SYM_FUNC_START_LOCAL(iot_stub)
	lea	iot_stub_sites(%rip), %rax
	mov	(%rax,%r9,8), %r9
	push	%r9
	push	%r8
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	mov	%rsp, %rdi
	mov	%r9, %rsi
	sub	$8, %rsp	/* a call needs the stack aligned to 16 */
	call	iot_stub_call
	add	$8, %rsp
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%r8
	pop	%r9
	cmp	$IOT_HOOK_PASS_THROUGH_LOW, %rax
	je	iot_hook_go_on
	RET
SYM_FUNC_END(iot_stub)
#endif

#if defined(IOT_HOOK_WRAPS) && defined(CONFIG_ARM64)
/*
 * The stubs of arm64. ftrace returns to a stub (arch/arm64/kernel/entry-
 * ftrace.S), so it needs no BTI.
 */
SYM_CODE_START(iot_stubs)
	.Lnumber = 0
	.rept IOT_STUBS
	mov	w9, #.Lnumber
	b	iot_stub
	.fill	IOT_STUB_SIZE / 4 - 2, 4, 0xd4200000	/* brk #0 */
	.Lnumber = .Lnumber + 1
	.endr
SYM_CODE_END(iot_stubs)

SYM_FUNC_START_LOCAL(iot_stub)
	adrp	x10, iot_stub_sites
	add	x10, x10, :lo12:iot_stub_sites
	ldr	x9, [x10, x9, lsl #3]
	stp	x29, x30, [sp, #-96]!
	mov	x29, sp
	stp	x0, x1, [sp, #16]
	stp	x2, x3, [sp, #32]
	stp	x4, x5, [sp, #48]
	stp	x6, x7, [sp, #64]
	str	x9, [sp, #80]
	add	x0, sp, #16
	mov	x1, x9
	bl	iot_stub_call
	mov	x10, #IOT_HOOK_PASS_THROUGH_LOW
	cmp	x0, x10
	b.eq	.Lgo_on
	ldp	x29, x30, [sp], #96
	ret
.Lgo_on:
	ldp	x0, x1, [sp, #16]
	ldp	x2, x3, [sp, #32]
	ldp	x4, x5, [sp, #48]
	ldp	x6, x7, [sp, #64]
	ldr	x9, [sp, #80]
	ldr	x9, [x9]	/* site->entry */
	ldp	x29, x30, [sp], #96
	IOT_HOOK_GO x9
SYM_FUNC_END(iot_stub)
#endif
