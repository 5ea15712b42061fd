/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only place, besides the assembler files, that knows processor architectures: x86-64 and
 * arm64. On others there is no category fs, as their system calls are not known, and calls are
 * followed by kretprobes only.
 */
#ifndef IOT_ARCH_H
#define IOT_ARCH_H

#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/fcntl.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <linux/string.h>
#include <linux/thread_info.h>
#include <linux/types.h>
#include <asm/byteorder.h>
#include <asm/syscall.h>
#include "compat/config.h"

#if defined(CONFIG_X86_64)
#include <asm/ibt.h>
#define IOT_ARCH_KNOWN 1
#elif defined(CONFIG_ARM64)
#define IOT_ARCH_KNOWN 1
#endif

/*
 * To redirect a call, an ftrace handler needs to read and write the argument registers and the
 * instruction pointer, without SAVE_REGS. The function must have an entry site after which it
 * can be entered (iot_redirect_entry()).
 */
#if defined(IOT_ARCH_KNOWN) && defined(CONFIG_DYNAMIC_FTRACE_WITH_ARGS) && \
	(defined(IOT_HAVE_ARCH_FTRACE_REGS) || defined(IOT_HAVE_FTRACE_REGS_REGS))
#define IOT_REDIRECT 1
#endif

/*
 * struct iot_regs: registers of a call at its ftrace entry site. Arguments are counted from 0 to 4.
 */
#if defined(IOT_REDIRECT) && defined(CONFIG_X86_64)
#define iot_regs pt_regs

static __always_inline struct iot_regs *iot_ftrace_regs(struct ftrace_regs *fregs)
{
#ifdef IOT_HAVE_ARCH_FTRACE_REGS
	return &arch_ftrace_regs(fregs)->regs;
#else
	return &fregs->regs;
#endif
}

static __always_inline unsigned long *iot_regs_arg_slot(struct iot_regs *regs, unsigned int n)
{
	switch (n) {
	case 0:
		return &regs->di;
	case 1:
		return &regs->si;
	case 2:
		return &regs->dx;
	case 3:
		return &regs->cx;
	default:
		return &regs->r8;
	}
}

static __always_inline unsigned long iot_regs_ip(const struct iot_regs *regs)
{
	return regs->ip;
}

static __always_inline void iot_regs_set_ip(struct iot_regs *regs, unsigned long ip)
{
	regs->ip = ip;
}

/**
 * iot_redirect_is_shared() - check whether a BPF trampoline may run after the handlers
 *
 * Such a trampoline keeps only the registers with the function's arguments
 * (arch/x86/net/bpf_jit_comp.c). Only ftrace_regs_caller continues to a trampoline, and only it
 * saves all registers, among them the code segment. Context: the ftrace handler's.
 */
static __always_inline bool iot_redirect_is_shared(const struct iot_regs *regs)
{
	return regs->cs;
}

/*
 * A BPF trampoline for fexit calls the address that the handlers leave (BPF_TRAMP_F_ORIG_STACK,
 * arch/x86/net/bpf_jit_comp.c). There is no ENDBR after the entry site of a function, so that
 * call would fault with indirect branch tracking.
 */
#define IOT_PASS_BY_STUB 1

/* Call the pre-handler of a kretprobe, which may replace the return address. */
static __always_inline void iot_regs_follow(struct iot_regs *regs, struct kprobe *p)
{
	p->pre_handler(p, regs);
}
#elif defined(IOT_REDIRECT) && defined(CONFIG_ARM64)
#ifdef IOT_HAVE_ARCH_FTRACE_REGS
#define iot_regs __arch_ftrace_regs
#else
#define iot_regs ftrace_regs
#endif

static __always_inline struct iot_regs *iot_ftrace_regs(struct ftrace_regs *fregs)
{
#ifdef IOT_HAVE_ARCH_FTRACE_REGS
	return arch_ftrace_regs(fregs);
#else
	return fregs;
#endif
}

static __always_inline unsigned long *iot_regs_arg_slot(struct iot_regs *regs, unsigned int n)
{
	return &regs->regs[n];
}

static __always_inline unsigned long iot_regs_ip(const struct iot_regs *regs)
{
	return regs->pc;
}

static __always_inline void iot_regs_set_ip(struct iot_regs *regs, unsigned long ip)
{
	regs->pc = ip;
}

/**
 * iot_redirect_is_shared() - check whether a BPF trampoline may run after the handlers
 *
 * On arm64 it always may: this is decided when all handlers have run (call_direct_funcs()), and
 * the trampoline keeps only the arguments and the return address
 * (arch/arm64/net/bpf_jit_comp.c). Only the registers that call_bare() fills in have no stack
 * pointer.
 * Context: the ftrace handler's.
 */
static __always_inline bool iot_redirect_is_shared(const struct iot_regs *regs)
{
	return regs->sp;
}

/* As above. There is no struct pt_regs here, so one is filled in. */
static __always_inline void iot_regs_follow(struct iot_regs *regs, struct kprobe *p)
{
	struct pt_regs full = { .sp = regs->sp, .pc = regs->pc };

	memcpy(full.regs, regs->regs, sizeof(regs->regs));
	full.regs[29] = regs->fp;
	full.regs[30] = regs->lr;
	p->pre_handler(p, &full);
	regs->lr = full.regs[30];
}
#endif

#ifdef IOT_REDIRECT
static __always_inline unsigned long iot_regs_arg(const struct iot_regs *regs, unsigned int n)
{
	return *iot_regs_arg_slot((struct iot_regs *)regs, n);
}

static __always_inline void iot_regs_set_arg(struct iot_regs *regs, unsigned int n,
					     unsigned long value)
{
	*iot_regs_arg_slot(regs, n) = value;
}
#endif

/*
 * System calls: how the kernel names their functions, and where these find the arguments, counted
 * from 0 to 5, of 64-bit and of 32-bit programs. IOT_ENTRY_SKIP is how many bytes after its
 * start a function may have its ftrace entry site or its kprobe. iot_caller_of() is where a
 * function returns to, from the registers at its start.
 */
#if defined(CONFIG_X86_64)
#define IOT_SYSCALL		"__x64_sys_"
#define IOT_SYSCALL_32		"__ia32_sys_"
#define IOT_SYSCALL_COMPAT	"__ia32_compat_sys_"
#define IOT_ENTRY_SKIP		ENDBR_INSN_SIZE

static __always_inline unsigned long iot_syscall_arg(const struct pt_regs *regs, unsigned int n)
{
	switch (n) {
	case 0:
		return regs->di;
	case 1:
		return regs->si;
	case 2:
		return regs->dx;
	case 3:
		return regs->r10;
	case 4:
		return regs->r8;
	default:
		return regs->r9;
	}
}

static __always_inline u32 iot_syscall_arg32(const struct pt_regs *regs, unsigned int n)
{
	switch (n) {
	case 0:
		return regs->bx;
	case 1:
		return regs->cx;
	case 2:
		return regs->dx;
	case 3:
		return regs->si;
	case 4:
		return regs->di;
	default:
		return regs->bp;
	}
}

/* Is the current system call one of a 32-bit program, with its arguments in other registers? */
static __always_inline bool iot_syscall_is_32(void)
{
	return in_ia32_syscall();
}

static __always_inline unsigned long iot_caller_of(const struct pt_regs *regs)
{
	return *(unsigned long *)regs->sp;
}

#define IOT_INSN_STEP		1
#define IOT_CALL_SIZE		5

/*
 * iot_insn_calls() - check whether there is a direct call of a function, or a tail call, at @at
 *
 * Any byte may be the first of an instruction: that others look like a call of just this function
 * is out of the question. The call may be of the address after ENDBR, or of the padding before the
 * function, where call depth tracking has its code (arch/x86/kernel/callthunks.c).
 */
static inline bool iot_insn_calls(const u8 *at, unsigned long func)
{
	unsigned long target;
	s32 distance;

	if (*at != 0xe8 && *at != 0xe9) /* CALL and JMP */
		return false;
	memcpy(&distance, at + 1, sizeof(distance));
	target = (unsigned long)at + IOT_CALL_SIZE + distance;
	return target + 16 > func && target <= func + IOT_ENTRY_SKIP;
}

/* O_* with the values of x86-64, which records use on every machine. */
static __always_inline u32 iot_open_flags(u32 flags)
{
	return flags;
}
#elif defined(CONFIG_ARM64)
#define IOT_SYSCALL		"__arm64_sys_"		/* also those of 32-bit programs */
#define IOT_SYSCALL_COMPAT	"__arm64_compat_sys_"
#define IOT_ENTRY_SKIP		(2 * AARCH64_INSN_SIZE)

static __always_inline unsigned long iot_syscall_arg(const struct pt_regs *regs, unsigned int n)
{
	return regs->regs[n];
}

static __always_inline u32 iot_syscall_arg32(const struct pt_regs *regs, unsigned int n)
{
	return regs->regs[n];
}

static __always_inline bool iot_syscall_is_32(void)
{
	return false; /* the registers are the same */
}

static __always_inline unsigned long iot_caller_of(const struct pt_regs *regs)
{
	return regs->regs[30];
}

#define IOT_INSN_STEP		AARCH64_INSN_SIZE
#define IOT_CALL_SIZE		AARCH64_INSN_SIZE

/* As above: BL and B. */
static inline bool iot_insn_calls(const u8 *at, unsigned long func)
{
	u32 insn = le32_to_cpup((const __le32 *)at);

	return (insn & 0x7c000000) == 0x14000000 &&
	       (unsigned long)at + 4L * sign_extend32(insn, 25) == func;
}

/* arch/arm64/include/uapi/asm/fcntl.h gives four flags other values than x86-64. */
static __always_inline u32 iot_open_flags(u32 flags)
{
	u32 same = flags & ~(O_DIRECTORY | O_NOFOLLOW | O_DIRECT | O_LARGEFILE);

	return same | (flags & O_DIRECTORY ? 0x10000 : 0) | (flags & O_NOFOLLOW ? 0x20000 : 0) |
	       (flags & O_DIRECT ? 0x4000 : 0) | (flags & O_LARGEFILE ? 0x8000 : 0);
}
#else
#define IOT_ENTRY_SKIP		0

static __always_inline u32 iot_open_flags(u32 flags)
{
	return flags;
}
#endif

#ifdef IOT_ARCH_KNOWN
#define IOT_SYSCALL_ARGS	6

/* Is a system call of another thread, which sleeps in it, one of a 32-bit program? */
static __always_inline bool iot_syscall_is_32_of(struct task_struct *task)
{
	int arch = syscall_get_arch(task);

	return arch == AUDIT_ARCH_I386 || arch == AUDIT_ARCH_ARM;
}

/* Get all arguments of a system call. @is_32: of a 32-bit program */
static __always_inline void iot_syscall_args(u64 *args, const struct pt_regs *regs, bool is_32)
{
	unsigned int i;

	for (i = 0; i < IOT_SYSCALL_ARGS; i++)
		args[i] = is_32 ? iot_syscall_arg32(regs, i) : iot_syscall_arg(regs, i);
}
#endif

#endif /* IOT_ARCH_H */
