// SPDX-License-Identifier: GPL-2.0
/*
 * Stubs: ftrace handlers send the calls of a site to its stub.
 *
 * A stub can identify its site only by its own address: BPF's trampoline may run between the
 * handler and the stub (fentry or fexit on the same function), and it keeps only the function's
 * arguments. The stub saves the arguments and calls the set's wrapper. Then it either returns the
 * wrapper's result or, for IOT_HOOK_PASS_THROUGH, continues into the function with nothing of ours
 * on the stack.
 */
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/mutex.h>
#include "hook/redirect.h"
#include "hook/site.h"
#include "hook/stub.h"

#ifdef IOT_REDIRECT
static DEFINE_MUTEX(stubs_lock);	/* protects what follows */
static_assert(offsetof(struct iot_site, entry) == 0);

struct iot_site *iot_stub_sites[IOT_STUBS];	/* for stub_asm.S */
static unsigned int nr_stubs;

/**
 * iot_stub_get() - allocate a stub for a site, if it has none
 *
 * It is never freed. Context: task, may sleep. Return: 0, or -ENOSPC if none is left.
 */
int iot_stub_get(struct iot_site *site)
{
	int err = 0;

	mutex_lock(&stubs_lock);
	if (!site->stub && nr_stubs == IOT_STUBS) {
		err = -ENOSPC;
	} else if (!site->stub) {
		iot_stub_sites[nr_stubs] = site;
		site->stub = (unsigned long)iot_stubs + nr_stubs++ * IOT_STUB_SIZE;
	}
	mutex_unlock(&stubs_lock);
	return err;
}

/* Called by the stubs. */
s64 iot_stub_call(unsigned long *args, struct iot_site *site)
{
	s64 ret = site->call(site, args);

	this_cpu_dec(*site->in_flight);
	return ret;
}

/**
 * iot_site_send() - send a call to the stub of its site
 *
 * Also while the module is about to be unloaded. Context: the ftrace handler's.
 */
void iot_site_send(struct iot_site *site, unsigned long ip,
		   struct pt_regs *regs)
{
	this_cpu_inc(*site->in_flight);
	regs->ip = site->stub;
}

/** iot_site_redirect() - as iot_site_send(), unless nothing may be redirected any more */
void iot_site_redirect(struct iot_site *site, unsigned long ip,
		       struct pt_regs *regs)
{
	if (unlikely(iot_redirect_refuses()))
		iot_site_pass(site, ip, regs);
	else
		iot_site_send(site, ip, regs);
}

/** iot_site_pass_shared() - let a call pass through a stub, see iot_site_pass() */
void iot_site_pass_shared(struct iot_site *site, unsigned long ip,
			  struct pt_regs *regs)
{
	regs->ip = (unsigned long)iot_stub_passes + site->stub - (unsigned long)iot_stubs;
}
#endif
