// SPDX-License-Identifier: GPL-2.0
/*
 * Hooks of single functions, which targets and category fs find by their address.
 *
 * A hook is a site (engine.c) that several users share. It exists while a reference to it is held,
 * and is attached while it has users: the first one attaches it, the last one detaches it. A hook
 * that has a stub stays even without references, since calls may be in the stub. It is used again
 * for the same function or, when the module with its function has been unloaded, for another one.
 */
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include "core/param.h"
#include "hook/engine.h"
#include "hook/hook.h"
#include "hook/point.h"
#include "hook/redirect.h"
#include "hook/unload.h"

struct iot_hook {
	struct iot_site site;
	const struct iot_hook_type *type;
	struct iot_kretprobe_type returns;
	char symbol[KSYM_NAME_LEN];
	char module[MODULE_NAME_LEN];
};

static struct iot_hook *hook_of(const struct iot_site *site)
{
	return container_of(site, struct iot_hook, site);
}

#ifdef IOT_REDIRECT
/*
 * Called by the stub of a hook. A call that may pass through BPF's trampoline arrives there, not at
 * a wrapper, as it has only its arguments. Runs the handler again and does what it decides.
 */
static s64 call_bare(const struct iot_site *site, unsigned long *args)
{
	const struct iot_hook_type *type = hook_of(site)->type;
	iot_hook_wrapper_fn wrapper;
	struct iot_regs regs = {};

	iot_regs_set_arg(&regs, 0, args[0]);
	iot_regs_set_arg(&regs, 1, args[1]);
	/* struct ftrace_regs contains only the registers: see iot_ftrace_regs() */
	type->ftrace(site->entry - MCOUNT_INSN_SIZE, 0, NULL, (struct ftrace_regs *)&regs);
	if (!iot_regs_ip(&regs))
		return IOT_HOOK_PASS_THROUGH;
	wrapper = type->wrapper_at(iot_regs_ip(&regs));
	return wrapper((struct kiocb *)args[0], (struct iov_iter *)args[1],
		       iot_regs_arg(&regs, 2), iot_regs_arg(&regs, 3), 0);
}

static void follow(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		   struct ftrace_regs *fregs);

/* The set of all hooks. */
static struct iot_hook_set set = { .single = true, .call = call_bare, .handle = follow };

/*
 * The handler of hooks that redirect nothing. A function may have several, of different types.
 * Context: entry of the function, preemption on or off.
 */
static void follow(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		   struct ftrace_regs *fregs)
{
	unsigned long entry = iot_redirect_entry_of(ip);
	struct kretprobe *krp;
	struct iot_site *site;

	preempt_disable_notrace();
	hlist_for_each_entry_rcu_notrace(site, iot_hook_set_bucket(&set, entry), node) {
		krp = READ_ONCE(site->krp);
		if (site->entry == entry && krp)
			iot_kretprobe_follow(krp, iot_ftrace_regs(fregs));
	}
	preempt_enable_notrace();
}

/* Find the hook that redirects a function. It is in the table while its handler may run. */
static struct iot_site *find_redirected(unsigned long entry)
{
	struct iot_site *site, *found = NULL;

	preempt_disable_notrace();
	hlist_for_each_entry_rcu_notrace(site, iot_hook_set_bucket(&set, entry), node)
		if (site->entry == entry && site->redirects)
			found = site;
	preempt_enable_notrace();
	return found;
}

/** iot_hook_send_bare() - send a call to its function's stub. Context: ftrace handler */
void iot_hook_send_bare(struct iot_regs *regs, unsigned long ip)
{
	struct iot_site *site = find_redirected(iot_redirect_entry_of(ip));

	if (!WARN_ON_ONCE(!site))
		iot_site_redirect(site, ip, regs);
}

static void set_stub(struct iot_site *site)
{
	site->call = set.call;
	site->in_flight = &iot_redirect_in_flight;
}
#else
static struct iot_hook_set set = { .single = true };

static void set_stub(struct iot_site *site)
{
}
#endif

/* Under iot_engine_lock(), as what follows. */
static struct iot_hook *find(const struct iot_hook_type *type, unsigned long addr)
{
	struct iot_site *site;

	list_for_each_entry(site, &iot_sites, all)
		if (site->set == &set && hook_of(site)->type == type && site->addr == addr)
			return hook_of(site);
	return NULL;
}

/* Take a hook that nobody has, and whose function has gone, but not its stub. */
static struct iot_hook *take_unused(void)
{
	struct iot_site *site;
	unsigned long stub;

	list_for_each_entry(site, &iot_sites, all) {
		if (site->set != &set || site->holders || site->addr)
			continue;
		iot_site_remove(site);
		stub = site->stub;
		memset(hook_of(site), 0, sizeof(struct iot_hook));
		site->stub = stub;
		return hook_of(site);
	}
	return NULL;
}

/* Set the name that is shown: "function" or "function [module]". */
static void name_it(struct iot_hook *hook)
{
	char text[KSYM_SYMBOL_LEN], *module;

	snprintf(text, sizeof(text), "%ps", (void *)hook->site.addr);
	module = strchr(text, ' ');
	if (module) {
		*module++ = '\0';
		strscpy(hook->module, module + 1, sizeof(hook->module));
		strreplace(hook->module, ']', '\0');
		hook->site.module = hook->module;
		hook->site.owner = hook->module;
	}
	strscpy(hook->symbol, text, sizeof(hook->symbol));
	hook->site.symbol = hook->symbol;
}

static struct iot_hook *create(const struct iot_hook_type *type, unsigned long addr)
{
	struct iot_hook *hook = take_unused() ?: kzalloc(sizeof(*hook), GFP_KERNEL);

	if (!hook)
		return NULL;
	hook->type = type;
	hook->returns = (struct iot_kretprobe_type){
		.entry = type->entry,
		.exit = type->exit,
		.forget = type->forget,
		.data_size = type->data_size,
	};
	hook->site.set = &set;
	hook->site.addr = addr;
	hook->site.what = type->name;
	hook->site.handler = type->ftrace;
	hook->site.returns = &hook->returns;
	set_stub(&hook->site);
	name_it(hook);
	iot_site_add(&hook->site);
	return hook;
}

/**
 * iot_hook_get() - get a reference to the hook of a function, without attaching it
 * @type:	what to do at the entry and return of the function
 * @func:	the function
 * @may_redirect: a wrapper may be used, as no call of the function sleeps without bound
 *
 * Context: task, may sleep. Return: the hook, or NULL if there is no memory.
 */
struct iot_hook *iot_hook_get(const struct iot_hook_type *type, void *func,
			      bool may_redirect)
{
	struct iot_hook *hook;

	iot_engine_lock();
	hook = find(type, (unsigned long)func) ?: create(type, (unsigned long)func);
	if (hook && !hook->site.holders++) {
		hook->site.unbounded = !type->ftrace || !may_redirect;
		hook->site.missed = 0;
		hook->site.error = 0;
	}
	iot_engine_unlock();
	return hook;
}

/** iot_hook_put() - drop a reference to a hook, which is disabled, or NULL */
void iot_hook_put(struct iot_hook *hook)
{
	if (!hook)
		return;
	iot_engine_lock();
	if (!--hook->site.holders && !hook->site.stub) {
		iot_site_remove(&hook->site);
		kfree(hook);
	}
	iot_engine_unlock();
}

/** iot_hooks_put() - drop references to @n hooks, which may be NULL, and set them to NULL */
void iot_hooks_put(struct iot_hook **hooks, unsigned int n)
{
	while (n--) {
		iot_hook_put(hooks[n]);
		hooks[n] = NULL;
	}
}

/* Will a hook be attached that may redirect? */
static bool needs_guard(struct iot_hook **hooks, unsigned int n)
{
	while (n--)
		if (hooks[n] && !hooks[n]->site.users && !hooks[n]->site.unbounded)
			return iot_param_redirect_allowed();
	return false;
}

/* Add a user to each hook, and to the list those that have their first one and a function. */
static void add_users(struct iot_hook **hooks, unsigned int n, bool may_redirect,
		      struct list_head *list)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (!hooks[i] || hooks[i]->site.users++)
			continue;
		hooks[i]->site.may_redirect = may_redirect && !hooks[i]->site.unbounded;
		if (hooks[i]->site.addr)
			list_add_tail(&hooks[i]->site.link, list);
	}
}

/* Return: why one of the sites is not attached, or 0. */
static int error_of(const struct list_head *list)
{
	const struct iot_site *site;

	list_for_each_entry(site, list, link)
		if (site->mechanism == IOT_HOOK_DETACHED)
			return site->error;
	return 0;
}

/**
 * iot_hooks_enable() - add a user to each of @n hooks, which may be NULL: to all, or none on error
 *
 * The first user of a hook attaches it. A hook whose module is not loaded is attached when it is.
 * Context: task, may sleep (for seconds, when the kernel patches its text).
 */
int iot_hooks_enable(struct iot_hook **hooks, unsigned int n)
{
	int err, guard = -EOPNOTSUPP;
	LIST_HEAD(list);

	iot_engine_lock();
	if (needs_guard(hooks, n)) {
		iot_engine_unlock(); /* the guard is a site of its own */
		guard = iot_redirect_open();
		if (guard == -ENOMEM)
			return guard;
		iot_engine_lock();
	}
	add_users(hooks, n, !guard, &list);
	err = iot_sites_attach(&list) ?: error_of(&list);
	if (err) {
		iot_sites_detach(&list);
		while (n--)
			if (hooks[n])
				hooks[n]->site.users--;
	}
	iot_engine_unlock();
	return err;
}

/** iot_hook_enable() - add a user to a hook, as iot_hooks_enable() */
int iot_hook_enable(struct iot_hook *hook)
{
	return iot_hooks_enable(&hook, 1);
}

#define BATCH	32

/**
 * iot_hooks_disable() - remove a user from each of @n hooks, which may be NULL
 *
 * The last user of a hook detaches it, of many hooks at once, which is much faster than one at a
 * time. Calls that are in a wrapper continue; they do not touch the hook.
 */
void iot_hooks_disable(struct iot_hook **hooks, unsigned int n)
{
	unsigned int nr = 0;
	LIST_HEAD(list);

	iot_engine_lock();
	while (n--) {
		if (!hooks[n] || --hooks[n]->site.users)
			continue;
		list_add_tail(&hooks[n]->site.link, &list);
		if (++nr % BATCH)
			continue;
		iot_sites_detach(&list);
		INIT_LIST_HEAD(&list);
		/* let other tasks have the lock between batches */
		iot_engine_unlock();
		iot_engine_lock();
	}
	iot_sites_detach(&list);
	iot_engine_unlock();
}

/** iot_hook_missed() - count the calls that a hook could not follow. Context: task */
unsigned long iot_hook_missed(const struct iot_hook *hook)
{
	return iot_sites_missed(&hook->site, 1);
}

static int module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct module *mod = data;

	if (event == MODULE_STATE_COMING)
		iot_sites_module_coming(mod->name);
	if (event == MODULE_STATE_GOING)
		iot_sites_module_going(mod->name);
	return NOTIFY_DONE;
}

static struct notifier_block module_notifier = {
	.notifier_call = module_event,
};

int iot_hook_init(void)
{
	iot_unload_init();
	return register_module_notifier(&module_notifier);
}

/**
 * iot_hook_exit() - wait until no CPU is in a probe or wrapper of ours
 *
 * All hooks have been put; those with a stub are freed now. Context: task, may sleep; no call is in
 * flight and none is redirected any more.
 */
void iot_hook_exit(void)
{
	struct iot_site *site, *next;

	unregister_module_notifier(&module_notifier);
	iot_unload_exit();
	iot_points_wait();
	iot_redirect_drain();
	list_for_each_entry_safe(site, next, &iot_sites, all)
		kfree(hook_of(site));
}
