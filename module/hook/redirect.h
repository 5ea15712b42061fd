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
DECLARE_PER_CPU(long, iot_redirect_guard_in_flight);
long iot_redirect_count(void);
void iot_redirect_drain(void);
void iot_redirect_set_guard(int (*guard)(void));
int iot_redirect_open(void);

/* Set while the module is about to be unloaded: nothing is redirected (unload.c). */
extern bool iot_redirect_closed;
void iot_redirect_count_refused(void);

/**
 * iot_redirect_refuses() - check whether redirecting is forbidden now
 *
 * If so, the wanted call is counted as missed. Context: ftrace handler, before it counts
 * the call as in flight.
 */
static __always_inline bool iot_redirect_refuses(void)
{
	/* no READ_ONCE(): the load is then a part of the comparison */
	if (likely(!data_race(iot_redirect_closed)))
		return false;
	iot_redirect_count_refused();
	return true;
}

unsigned long iot_redirect_entry(unsigned long addr);

/** iot_redirect_entry_of() - get where a function continues, from the @ip of an ftrace handler */
static __always_inline unsigned long iot_redirect_entry_of(unsigned long ip)
{
	return ip + MCOUNT_INSN_SIZE;
}

/**
 * iot_redirect_plain() - redirect the call that an ftrace handler got
 * @regs:	registers of the handler
 * @ip:		ip argument of the handler
 * @wrapper:	gets the two arguments of the call, then the address after the entry site for
 *		iot_hook_enter()
 *
 * The wrapper ends with iot_redirect_leave(). Until then the call is in flight, and the
 * module's text stays. If iot_redirect_is_shared(), the handler must call iot_hook_send_bare()
 * instead. Return: true if the call is redirected.
 */
static __always_inline bool iot_redirect_plain(struct iot_regs *regs, unsigned long ip,
					       void *wrapper)
{
	if (unlikely(iot_redirect_refuses()))
		return false;
	this_cpu_inc(iot_redirect_in_flight);
	iot_regs_set_arg(regs, 2, iot_redirect_entry_of(ip));
	iot_regs_set_ip(regs, (unsigned long)wrapper);
	return true;
}

/** iot_redirect() - as iot_redirect_plain(), with @cookie as a further argument of the wrapper */
static __always_inline void iot_redirect(struct iot_regs *regs, unsigned long ip,
					 void *wrapper, u64 cookie)
{
	if (iot_redirect_plain(regs, ip, wrapper))
		iot_regs_set_arg(regs, 3, cookie);
}

/**
 * iot_redirect4() - as iot_redirect_plain(), for a call of four arguments
 * @wrapper:	gets the arguments, then the address after the entry site for iot_hook_enter4()
 */
static __always_inline void iot_redirect4(struct iot_regs *regs, unsigned long ip, void *wrapper)
{
	if (unlikely(iot_redirect_refuses()))
		return;
	this_cpu_inc(iot_redirect_in_flight);
	iot_regs_set_arg(regs, 4, iot_redirect_entry_of(ip));
	iot_regs_set_ip(regs, (unsigned long)wrapper);
}

static __always_inline void iot_redirect_leave(void)
{
	this_cpu_dec(iot_redirect_in_flight);
}
#else
#define iot_redirect_closed false

static inline void iot_redirect_drain(void)
{
}

static inline int iot_redirect_open(void)
{
	return 0;
}

static inline unsigned long iot_redirect_entry(unsigned long addr)
{
	return 0;
}
#endif

#endif /* IOT_REDIRECT_H */
