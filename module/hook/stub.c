// SPDX-License-Identifier: GPL-2.0
/*
 * Stubs: where ftrace handlers send the calls of a site, and how they get there.
 *
 * A stub knows its site by nothing but its own address, as BPF's trampoline may come between
 * the handler and the stub (fentry, fexit on the same function), and what that keeps are the
 * function's arguments only. The stub keeps the arguments, asks the set's wrapper, and either
 * returns what the wrapper says, or, where that is IOT_HOOK_ALONE, goes on into the function
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
static_assert(offsetof(struct iot_hook_site, entry) == 0);

struct iot_hook_site *iot_hook_stubbed[IOT_HOOK_STUBS];	/* for hook_enter.S */
static unsigned int nr_stubs;

/**
 * iot_hook_stub_get() - give a site a stub, if it has none
 *
 * It is never given back. Return: 0 or -ENOSPC: there is none left.
 */
int iot_hook_stub_get(struct iot_hook_site *site)
{
	int err = 0;

	mutex_lock(&stubs_lock);
	if (!site->stub && nr_stubs == IOT_HOOK_STUBS) {
		err = -ENOSPC;
	} else if (!site->stub) {
		iot_hook_stubbed[nr_stubs] = site;
		site->stub = (unsigned long)iot_hook_stubs + nr_stubs++ * IOT_HOOK_STUB_SIZE;
	}
	mutex_unlock(&stubs_lock);
	return err;
}

/* Called by the stubs. */
s64 iot_hook_stub_call(unsigned long *args, struct iot_hook_site *site)
{
	s64 ret = site->call(site, args);

	iot_hook_leave();
	return ret;
}

/* Where its body goes on, which ftrace tells only now. */
static void note_entry(struct iot_hook_site *site, unsigned long ip)
{
	if (unlikely(!site->entry))
		WRITE_ONCE(site->entry, ip + MCOUNT_INSN_SIZE);
}

/**
 * iot_hook_site_send() - send a call to the stub of its site
 *
 * Also while the module is about to be unloaded. Context: the handler's.
 */
void iot_hook_site_send(struct iot_hook_site *site, unsigned long ip,
			struct pt_regs *regs)
{
	note_entry(site, ip);
	this_cpu_inc(iot_hook_inflight);
	regs->ip = site->stub;
}

/** iot_hook_site_redirect() - likewise, unless nothing may be redirected any more */
void iot_hook_site_redirect(struct iot_hook_site *site, unsigned long ip,
			    struct pt_regs *regs)
{
	if (unlikely(iot_hook_refuses()))
		iot_hook_site_pass(site, ip, regs);
	else
		iot_hook_site_send(site, ip, regs);
}

/** iot_hook_site_go_on() - see iot_hook_site_pass() */
void iot_hook_site_go_on(struct iot_hook_site *site, unsigned long ip,
			 struct pt_regs *regs)
{
	note_entry(site, ip);
	regs->ip = (unsigned long)iot_hook_passes + site->stub - (unsigned long)iot_hook_stubs;
}
#endif
