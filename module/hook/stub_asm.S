/* SPDX-License-Identifier: GPL-2.0 */
/* The stubs of sites: see stub.c */
#include <linux/linkage.h>
#include <asm/unwind_hints.h>

#ifdef CONFIG_X86_64
#include "hook/stub.h"
#include "hook/wrap.inc"

	.text
/*
 * Ftrace handlers send calls here. There is one stub per site, as only the arguments of
 * the call and the address that it is sent to get here: BPF's trampoline may have run
 * in between, and it keeps no other register.
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
