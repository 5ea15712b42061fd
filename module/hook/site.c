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

struct iot_site *iot_stub_sites[IOT_STUBS];	/* for site_asm.S */
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

/* The C part of a stub. */
s64 iot_stub_call(unsigned long *args, struct iot_site *site)
{
	s64 ret = site->call(site, args);

	this_cpu_dec(*site->in_flight);
	return ret;
}

/**
 * iot_site_send() - send a call to the stub of its site
 *
 * The call is sent even while the module is about to be unloaded. Context:
 * ftrace handler.
 */
void iot_site_send(struct iot_site *site, unsigned long ip,
		   struct iot_regs *regs)
{
	this_cpu_inc(*site->in_flight);
	iot_regs_set_ip(regs, site->stub);
}

/** iot_site_redirect() - do iot_site_send(), unless redirection is closed */
void iot_site_redirect(struct iot_site *site, unsigned long ip,
		       struct iot_regs *regs)
{
	if (unlikely(iot_redirect_refuses()))
		iot_site_pass(site, ip, regs);
	else
		iot_site_send(site, ip, regs);
}

#ifdef IOT_PASS_BY_STUB
/** iot_site_pass_shared() - let a call pass through a stub, see iot_site_pass() */
void iot_site_pass_shared(struct iot_site *site, unsigned long ip,
			  struct iot_regs *regs)
{
	iot_regs_set_ip(regs, (unsigned long)iot_stub_passes + site->stub -
			      (unsigned long)iot_stubs);
}
#endif
#endif
