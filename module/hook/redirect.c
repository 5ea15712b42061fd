// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that an ftrace handler redirects, and their count.
 *
 * A redirected call is counted per CPU by the handler, before it enters our text, and uncounted
 * as the last act of the wrapper. Unloading starts only if the sum is zero, or becomes zero soon
 * (unload.c). It then waits for RCU tasks, so that a task preempted between that last act and its
 * return has left our text too.
 */
#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#ifdef CONFIG_X86_64
#include <asm/nops.h>
#include <asm/text-patching.h>
#else
#include <asm/insn.h>
#endif
#include "hook/redirect.h"

#ifdef IOT_REDIRECT
DEFINE_PER_CPU(long, iot_redirect_in_flight);

/*
 * Calls of delete_module(2), which unload.c redirects at any time. They have a count of their
 * own: one that begins and ends on different CPUs while the other count is summed up would hide
 * a call that hangs.
 */
DEFINE_PER_CPU(long, iot_redirect_guard_in_flight);

static long sum_of(const long __percpu *in_flight)
{
	long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(in_flight, cpu));
	return sum;
}

/**
 * iot_redirect_count() - sum up the calls in flight, except those of delete_module(2)
 *
 * No call is redirected while this runs: redirection is closed, or nothing is hooked any more.
 * So no CPU's count can rise after it was read, and a sum of zero is final. Context: task.
 */
long iot_redirect_count(void)
{
	return sum_of(&iot_redirect_in_flight);
}

/**
 * iot_redirect_drain() - wait until no call is in flight and none is in our text
 *
 * unload.c has waited for these calls already, for a bounded time. Calls of delete_module(2)
 * leave at once.
 * Context: task, may sleep; nothing is hooked any more.
 */
void iot_redirect_drain(void)
{
	while (iot_redirect_count() || sum_of(&iot_redirect_guard_in_flight))
		msleep(20);
	synchronize_rcu_tasks();
}

bool iot_redirect_closed;
static atomic_long_t nr_refused;

/** iot_redirect_count_refused() - count a call that passes through untraced. Context: any */
void iot_redirect_count_refused(void)
{
	atomic_long_inc(&nr_refused);
}

static int (*open_guard)(void);	/* set once, at load */

/** iot_redirect_set_guard() - set the function that iot_redirect_open() calls. Context: load */
void iot_redirect_set_guard(int (*guard)(void))
{
	open_guard = guard;
}

/**
 * iot_redirect_open() - prepare for functions to be redirected
 *
 * From then on the module can be unloaded only when no call is in flight (unload.c).
 * Context: task, may sleep: the first call patches text. Return: 0, -ENOMEM, or -EOPNOTSUPP if
 * nothing may be redirected.
 */
int iot_redirect_open(void)
{
	return open_guard();
}

#ifdef CONFIG_X86_64
static bool is_entry_site(const u8 *code)
{
	static const u8 nop[MCOUNT_INSN_SIZE] = { BYTES_NOP5 };

	return *code == CALL_INSN_OPCODE || *code == JMP32_INSN_OPCODE ||
	       !memcmp(code, nop, sizeof(nop));
}

/**
 * iot_redirect_entry() - get the address where a function continues after its ftrace entry site
 *
 * The site is the function's first instruction, or follows its ENDBR or what the kernel puts in
 * its place: five bytes, a nop or a call of a trampoline, or since 7.0 a jump to one. The
 * function's alignment, and what a kernel with kCFI or FineIBT puts before it, do not matter.
 * Context: task, may sleep.
 * Return: 0 if there is no such site: ftrace does not know the function.
 */
unsigned long iot_redirect_entry(unsigned long addr)
{
	const u8 *code = (const u8 *)addr;
	unsigned int tries;

	/* while the kernel patches the site, another instruction is there for a short time */
	for (tries = 0; addr && tries < 50; tries++) {
		if (is_entry_site(code))
			return addr + MCOUNT_INSN_SIZE;
		if (is_entry_site(code + ENDBR_INSN_SIZE))
			return addr + ENDBR_INSN_SIZE + MCOUNT_INSN_SIZE;
		if (*code != INT3_INSN_OPCODE && code[ENDBR_INSN_SIZE] != INT3_INSN_OPCODE)
			break;
		msleep(20);
	}
	return 0;
}
#else
#define MOV_X9_X30	0xaa1e03e9
#define NOP		0xd503201f

/* The site is "mov x9, x30", and then a nop or a branch (arch/arm64/kernel/ftrace.c). */
static bool is_entry_site(const __le32 *code)
{
	u32 next = le32_to_cpu(code[1]);

	return le32_to_cpu(code[0]) == MOV_X9_X30 &&
	       (next == NOP || aarch64_insn_is_bl(next));
}

/* On arm64 the site is the function's first instruction, or follows its BTI. */
unsigned long iot_redirect_entry(unsigned long addr)
{
	const __le32 *code = (const __le32 *)addr;

	if (addr && is_entry_site(code))
		return addr + 2 * AARCH64_INSN_SIZE;
	if (addr && is_entry_site(code + 1))
		return addr + 3 * AARCH64_INSN_SIZE;
	return 0;
}
#endif

/* -EAGAIN: BPF is just changing its trampoline of a function (bpf_tramp_ftrace_ops_func()). */
static int register_patiently(struct ftrace_ops *ops)
{
	unsigned int tries;
	int err;

	for (tries = 0; tries < 50; tries++) {
		err = register_ftrace_function(ops);
		if (err != -EAGAIN)
			break;
		msleep(20);
	}
	return err;
}

/**
 * iot_redirect_attach() - attach an ftrace handler to functions
 * @ops:	initialized here
 * @func:	the handler
 * @flags:	FTRACE_OPS_FL_* besides PERMANENT, which is always set: without ftrace no call
 *		is seen
 * @private:	for the handler
 * @ips:	addresses of the functions
 * @n:		number of functions, at least one: an ops without filter would get every function
 *
 * Context: task, may sleep. Return: 0, or an error and nothing is attached.
 */
int iot_redirect_attach(struct ftrace_ops *ops, ftrace_func_t func, unsigned long flags,
			void *private, unsigned long *ips, unsigned int n)
{
	int err;

	/* ftrace_free_filter() leaves pointers to freed memory */
	memset(ops, 0, sizeof(*ops));
	ops->func = func;
	ops->private = private;
	ops->flags = FTRACE_OPS_FL_PERMANENT | flags;
	err = ftrace_set_filter_ips(ops, ips, n, 0, 1);
	if (!err)
		err = register_patiently(ops);
	if (err)
		ftrace_free_filter(ops);
	return err;
}

/**
 * iot_redirect_detach() - undo iot_redirect_attach()
 *
 * Return: true, and the handler no longer runs; false if ftrace has disabled itself and may still
 * use @ops.
 */
bool iot_redirect_detach(struct ftrace_ops *ops)
{
	if (unregister_ftrace_function(ops))
		return false;
	ftrace_free_filter(ops);
	return true;
}
#endif

/**
 * iot_redirect_refused() - count the wanted calls that passed through untraced
 *
 * Calls pass while unload.c waits for calls in flight; the count matters if the module then
 * stays loaded. There is one count for all hooks. Context: any.
 */
unsigned long iot_redirect_refused(void)
{
#ifdef IOT_REDIRECT
	return atomic_long_read(&nr_refused);
#else
	return 0;
#endif
}
