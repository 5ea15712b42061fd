// SPDX-License-Identifier: GPL-2.0
/*
 * Stubs: where ftrace handlers send the calls of a site, and how they get there.
 *
 * A stub knows its site by nothing but its own address, as BPF's trampoline may come between
 * the handler and the stub (fentry, fexit on the same function), and what that keeps are the
 * function's arguments only. The stub keeps the arguments, asks the set's wrapper, and either
 * returns what the wrapper says, or, where that is IOT_HOOK_PASS_THROUGH, goes on into the function
 * with nothing of ours on the stack.
 */
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/mutex.h>
#include "hook/redirect.h"
#include "hook/site.h"
#include "hook/stub.h"

#ifdef IOT_REDIRECT
static DEFINE_MUTEX(stubs_lock);	/* of what follows */
static_assert(offsetof(struct iot_site, entry) == 0);

struct iot_site *iot_stub_sites[IOT_STUBS];	/* for hook_enter.S */
static unsigned int nr_stubs;

/**
 * iot_stub_get() - give a site a stub, if it has none
 *
 * It is never given back. Return: 0 or -ENOSPC: there is none left.
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

	iot_redirect_leave();
	return ret;
}

/* Where its body goes on, which ftrace tells only now. */
static void note_entry(struct iot_site *site, unsigned long ip)
{
	if (unlikely(!site->entry))
		WRITE_ONCE(site->entry, ip + MCOUNT_INSN_SIZE);
}

/**
 * iot_site_send() - send a call to the stub of its site
 *
 * Also while the module is about to be unloaded. Context: the handler's.
 */
void iot_site_send(struct iot_site *site, unsigned long ip,
			struct pt_regs *regs)
{
	note_entry(site, ip);
	this_cpu_inc(iot_redirect_in_flight);
	regs->ip = site->stub;
}

/** iot_site_redirect() - likewise, unless nothing may be redirected any more */
void iot_site_redirect(struct iot_site *site, unsigned long ip,
			    struct pt_regs *regs)
{
	if (unlikely(iot_redirect_refuses()))
		iot_site_pass(site, ip, regs);
	else
		iot_site_send(site, ip, regs);
}

/** iot_site_pass_shared() - see iot_site_pass() */
void iot_site_pass_shared(struct iot_site *site, unsigned long ip,
			 struct pt_regs *regs)
{
	note_entry(site, ip);
	regs->ip = (unsigned long)iot_stub_passes + site->stub - (unsigned long)iot_stubs;
}
#endif
