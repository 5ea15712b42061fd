/* SPDX-License-Identifier: GPL-2.0 */
/* One function of a set: what is known of it, and how its calls are sent to its stub. */
#ifndef IOT_SITE_H
#define IOT_SITE_H

#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include "compat/compat.h"
#include "core/btf.h"
#include "hook/redirect.h"

struct iot_hook_set;

/* What a wrapper returns so that the call goes on without it on the stack. */
#define IOT_HOOK_PASS_THROUGH	(-2147483648L)

enum iot_hook_mechanism {
	IOT_HOOK_DETACHED,
	IOT_HOOK_REDIRECT,
	IOT_HOOK_ENTRY,		/* looked at by an ftrace handler, never redirected */
	IOT_HOOK_KRETPROBE,	/* by choice: it may sleep without bound; see hook_set.c */
	IOT_HOOK_FALLBACK,	/* kretprobe since it cannot, or may not, be redirected */
};

/** enum iot_hook_verdict - what is to be done with a call */
enum iot_hook_verdict {
	IOT_HOOK_IGNORE,
	IOT_HOOK_FOLLOW,	/* by the wrapper; where its site is unbounded, as: */
	IOT_HOOK_FOLLOW_RETURN,	/* by entry and exit, with nothing of ours on the stack */
};

/**
 * struct iot_site - one function of a set
 * @entry:	where its body goes on behind the ftrace entry site; first, for
 *		hook_enter.S
 * @stub:	where it is redirected to, 0: none yet; its own as long as iotracer is
 *		loaded, as calls may be on their way
 * @addr:	of the function, 0: there is none now
 * @call:	wrapper, see struct iot_hook_set: what the stub calls
 * @symbol:	its name
 * @module:	the module that may have the function and may come and go; NULL: only a
 *		function of the kernel itself is taken for it
 * @owner:	the module that has it now, @module or NULL: the kernel itself
 * @what:	the operation, for people
 * @proto:	the prototype that its probe relies on, see struct iot_btf_check
 * @match:	whether the kernel's function has it; one that has not is not hooked
 * @data:	the owner's
 * @tag:	the owner's
 * @unbounded:	calls may sleep without bound: never redirect
 * @may_be_unbounded:	some of them: IOT_HOOK_FOLLOW_RETURN
 * @handler:	in place of the set's, NULL: none; for what is called so often that
 *		finding the site costs too much. Does what @wants says: it is asked where
 *		there is no handler. Its ops' private is the set. Where @wants may say
 *		IOT_HOOK_FOLLOW it is used only while the site is redirected
 * @redirects:	the handler may redirect a call; steady while the function is attached
 * @armed:	a kprobe gives @krp its calls, not the ftrace handler
 * @error:	why it is not attached, or not in the cheapest way
 * @missed:	of earlier attachments
 */
struct iot_site {
	unsigned long entry;
	unsigned long stub;
	unsigned long addr;
	s64 (*call)(const struct iot_site *site, unsigned long *args);
	char symbol[48];
	const char *module;
	const char *owner;
	const char *what;
	const char *proto;
	enum iot_btf_match match;
	const void *data;
	unsigned int tag;
	bool unbounded;
	bool may_be_unbounded;
	bool redirects;
	bool armed;
	ftrace_func_t handler;
	enum iot_hook_mechanism mechanism;
	int error;
	unsigned long missed;
	struct kretprobe *krp;
	struct iot_hook_set *set;
	struct hlist_node node;
};

#ifdef IOT_REDIRECT
s64 iot_stub_call(unsigned long *args, struct iot_site *site);
int iot_stub_get(struct iot_site *site);
void iot_site_redirect(struct iot_site *site, unsigned long ip,
			    struct pt_regs *regs);
void iot_site_send(struct iot_site *site, unsigned long ip,
			struct pt_regs *regs);
void iot_site_pass_shared(struct iot_site *site, unsigned long ip,
			 struct pt_regs *regs);

/**
 * iot_site_pass() - a call that is not redirected, of a site that may be
 *
 * BPF's trampoline, for fexit on a function whose calls may be redirected, calls the
 * address that the handlers leave (BPF_TRAMP_F_ORIG_STACK, arch/x86/net/bpf_jit_comp.c).
 * Behind the entry site of the function there is no ENDBR, so with indirect branch
 * tracking that would be the end: where there may be a trampoline a call that is left
 * alone takes the way through a stub, too. Context: the handler's.
 */
static __always_inline void iot_site_pass(struct iot_site *site,
					       unsigned long ip, struct pt_regs *regs)
{
	if (unlikely(iot_redirect_is_shared(regs)))
		iot_site_pass_shared(site, ip, regs);
}

/**
 * iot_site_redirect4() - send a call of four arguments straight to a wrapper
 * @wrapper:	gets the arguments, then the way into the original for
 *		iot_hook_enter4(); ends with iot_redirect_leave()
 *
 * Or to the stub of its site: see iot_redirect_is_shared(). Context: the handler's.
 */
static __always_inline void iot_site_redirect4(struct iot_site *site,
						    unsigned long ip, struct pt_regs *regs,
						    void *wrapper)
{
	if (unlikely(iot_redirect_is_shared(regs))) {
		iot_site_redirect(site, ip, regs);
		return;
	}
	if (unlikely(iot_redirect_refuses()))
		return;
	this_cpu_inc(iot_redirect_in_flight);
	regs->r8 = ip + MCOUNT_INSN_SIZE;
	regs->ip = (unsigned long)wrapper;
}
#endif

#endif /* IOT_SITE_H */
