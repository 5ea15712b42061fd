/* SPDX-License-Identifier: GPL-2.0 */
/* Calls that an ftrace handler redirects to a wrapper of ours, and their count. */
#ifndef IOT_REDIRECT_H
#define IOT_REDIRECT_H

#include <linux/percpu.h>
#include <linux/ptrace.h>
#include "compat/compat.h"

unsigned long iot_redirect_refused(void);

#ifdef IOT_REDIRECT
int iot_redirect_attach(struct ftrace_ops *ops, ftrace_func_t func, unsigned long flags,
		      void *private, unsigned long *ips, unsigned int n);
bool iot_redirect_detach(struct ftrace_ops *ops);

DECLARE_PER_CPU(long, iot_redirect_in_flight);
long iot_redirect_count(void);
void iot_redirect_drain(void);
void iot_redirect_set_guard(int (*guard)(void));
int iot_redirect_open(void);

/* The module is about to be unloaded: nothing is redirected (unload.c). */
extern bool iot_redirect_closed;
void iot_redirect_count_refused(void);

/**
 * iot_redirect_refuses() - may this call, which is wanted, not be redirected now?
 *
 * It is counted as missed then. Context: the handler's, before the call is counted.
 */
static __always_inline bool iot_redirect_refuses(void)
{
	if (likely(!READ_ONCE(iot_redirect_closed)))
		return false;
	iot_redirect_count_refused();
	return true;
}

/** iot_redirect_key() - the same of a function and of its ftrace entry site */
static __always_inline unsigned long iot_redirect_key(unsigned long addr)
{
	return addr >> 4; /* functions are aligned to 16, and the site is within that */
}

/**
 * iot_redirect_is_shared() - may somebody else's trampoline follow a handler?
 *
 * BPF's keeps no register but the function's arguments (arch/x86/net/bpf_jit_comp.c).
 * Then ftrace_regs_caller has all registers, the code segment among them, as it alone
 * goes on to a trampoline. Context: the handler's.
 */
static __always_inline bool iot_redirect_is_shared(const struct pt_regs *regs)
{
	return regs->cs;
}

/**
 * iot_redirect_plain() - send the call that an ftrace handler looks at elsewhere
 * @regs:	registers of the handler
 * @ip:		the handler's ip argument
 * @wrapper:	gets the call's two arguments, then @ip's way into the original
 *		for iot_hook_enter()
 *
 * The wrapper ends with iot_redirect_leave(). From here to there it counts as in
 * flight, and the module's text stays. Not where the function is shared: a handler asks
 * iot_redirect_is_shared() first, and leaves all of these to iot_hook_send_bare().
 * Return: is it sent?
 */
static __always_inline bool iot_redirect_plain(struct pt_regs *regs, unsigned long ip,
						    void *wrapper)
{
	if (unlikely(iot_redirect_refuses()))
		return false;
	this_cpu_inc(iot_redirect_in_flight);
	regs->dx = ip + MCOUNT_INSN_SIZE;
	regs->ip = (unsigned long)wrapper;
	return true;
}

/** iot_redirect() - likewise; the wrapper gets @cookie, too */
static __always_inline void iot_redirect(struct pt_regs *regs, unsigned long ip,
					      void *wrapper, u64 cookie)
{
	if (iot_redirect_plain(regs, ip, wrapper))
		regs->cx = cookie;
}

static __always_inline void iot_redirect_leave(void)
{
	this_cpu_dec(iot_redirect_in_flight);
}
#else
static inline void iot_redirect_drain(void)
{
}

static inline int iot_redirect_open(void)
{
	return 0;
}
#endif

#endif /* IOT_REDIRECT_H */
