/* SPDX-License-Identifier: GPL-2.0 */
/* A site: one function that is hooked, and how its calls are sent to its stub. */
#ifndef IOT_SITE_H
#define IOT_SITE_H

#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include "compat/compat.h"
#include "core/btf.h"
#include "hook/redirect.h"

struct iot_hook_group;
struct iot_hook_set;
struct iot_kretprobe_type;

/* Returned by a wrapper to let the call pass through, without the wrapper on the stack. */
#define IOT_HOOK_PASS_THROUGH	(-2147483648L)

enum iot_hook_mechanism {
	IOT_HOOK_DETACHED,
	IOT_HOOK_REDIRECT,
	IOT_HOOK_ENTRY,		/* an ftrace handler sees the calls but redirects none */
	IOT_HOOK_KRETPROBE,	/* calls may be unbounded, or a function of hook.c */
	IOT_HOOK_FALLBACK,	/* a kretprobe, as redirecting is impossible or forbidden */
};

/** enum iot_hook_verdict - what to do with a call */
enum iot_hook_verdict {
	IOT_HOOK_IGNORE,
	IOT_HOOK_FOLLOW,	/* by the wrapper; without redirection, by the kretprobe */
	IOT_HOOK_FOLLOW_RETURN,	/* by the kretprobe, with nothing of ours on the stack */
};

/**
 * struct iot_site - one function of a set
 * @entry:	address where the function's body continues after the ftrace entry site, 0:
 *		not known yet. Must be the first member, for site_asm.S
 * @stub:	address of the stub that calls are redirected to, 0: none yet. The site keeps
 *		it as long as iotracer is loaded, as calls may still arrive at it
 * @addr:	address of the function, 0: there is none now
 * @in_kernel:	address of the kernel's own function, 0: it has not been found by name
 * @call:	the wrapper that the stub calls, see struct iot_hook_set
 * @in_flight:	per CPU, the calls that are sent to the stub or in it
 * @symbol:	name of the function
 * @module:	the module that may have the function, and may be loaded and unloaded; NULL:
 *		only a function of the kernel itself is accepted
 * @owner:	@module if that has the function now; NULL: the kernel itself
 * @what:	the operation, as it is shown to users
 * @proto:	the prototype that the probe expects, see struct iot_btf_check
 * @match:	whether the kernel's function has this prototype; if not, it is not hooked
 * @data:	private to the owner of the set
 * @tag:	private to the owner of the set
 * @unbounded:	calls may sleep without bound: never redirect
 * @may_be_unbounded:	only some calls may sleep without bound: they get
 *		IOT_HOOK_FOLLOW_RETURN
 * @handler:	the site's own ftrace handler, used instead of iot_hook_set_handle(), or
 *		NULL. For a function that is called so often that finding the site costs
 *		too much. It decides as @wants does, which is called where the handler is
 *		not used. The private of its ops is the set. In a set with @call it is used
 *		only while the site is redirected
 * @may_redirect: the handler may redirect calls, if ftrace and the stubs allow that
 * @redirects:	the handler may redirect a call; does not change while it is attached
 * @armed:	a kprobe passes calls to @krp, not the ftrace handler
 * @going:	being detached: the end of a new call may not be seen
 * @error:	why it is not attached, or not by the cheapest mechanism
 * @missed:	calls missed by earlier attachments
 * @holders:	references to the site, if it is one of hook.c
 * @users:	users that have enabled it, if it is one of hook.c
 * @krp:	its kretprobe, NULL: it has none now
 * @returns:	what the kretprobe does
 * @group:	the sites that share its ftrace_ops, NULL: it has none now
 * @node:	in the table of @set while it is attached by ftrace, under RCU
 * @all:	in iot_sites
 * @link:	in the list of sites that are being attached or detached
 */
struct iot_site {
	unsigned long entry;
	unsigned long stub;
	unsigned long addr;
	unsigned long in_kernel;
	s64 (*call)(const struct iot_site *site, unsigned long *args);
	long __percpu *in_flight;
	const char *symbol;
	const char *module;
	const char *owner;
	const char *what;
	const char *proto;
	enum iot_btf_match match;
	const void *data;
	unsigned int tag;
	bool unbounded;
	bool may_be_unbounded;
	bool may_redirect;
	bool redirects;
	bool armed;
	bool going;
	ftrace_func_t handler;
	enum iot_hook_mechanism mechanism;
	int error;
	unsigned long missed;
	unsigned int holders;
	unsigned int users;
	struct kretprobe *krp;
	const struct iot_kretprobe_type *returns;
	struct iot_hook_set *set;
	struct iot_hook_group *group;
	struct hlist_node node;
	struct list_head all;
	struct list_head link;
};

#ifdef IOT_REDIRECT
s64 iot_stub_call(unsigned long *args, struct iot_site *site);
int iot_stub_get(struct iot_site *site);
void iot_site_redirect(struct iot_site *site, unsigned long ip,
		       struct iot_regs *regs);
void iot_site_send(struct iot_site *site, unsigned long ip,
		   struct iot_regs *regs);
void iot_site_pass_shared(struct iot_site *site, unsigned long ip,
			  struct iot_regs *regs);

/**
 * iot_site_pass() - let a call pass through at a site whose calls may be redirected
 *
 * If there may be a BPF trampoline that cannot call the function after its entry site, a call that
 * passes through goes through a stub, too: see IOT_PASS_BY_STUB. Context: ftrace handler.
 */
static __always_inline void iot_site_pass(struct iot_site *site,
					  unsigned long ip, struct iot_regs *regs)
{
#ifdef IOT_PASS_BY_STUB
	if (unlikely(iot_redirect_is_shared(regs)))
		iot_site_pass_shared(site, ip, regs);
#endif
}

/**
 * iot_site_redirect4() - redirect a call of four arguments directly to a wrapper
 *
 * As iot_redirect4(), but if iot_redirect_is_shared(), the call goes to the stub of its site
 * instead. Context: ftrace handler.
 */
static __always_inline void iot_site_redirect4(struct iot_site *site,
					       unsigned long ip, struct iot_regs *regs,
					       void *wrapper)
{
	if (unlikely(iot_redirect_is_shared(regs)))
		iot_site_redirect(site, ip, regs);
	else
		iot_redirect4(regs, ip, wrapper);
}
#endif

#endif /* IOT_SITE_H */
