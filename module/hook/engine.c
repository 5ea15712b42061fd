// SPDX-License-Identifier: GPL-2.0
/*
 * How functions are attached and safely detached.
 *
 * A site is one function that is hooked, and what is known of it: its address, how it is attached,
 * why not better, and the calls that were missed. Each site belongs to a set, which says how the
 * calls are handled. There are two kinds of sets:
 *
 *   hook_set.c	the functions that a category attaches and detaches together. Their sites are
 *		static, and found by the names of the functions.
 *   hook.c	functions that targets and category fs find by their address, and that each of
 *		them adds a user to or removes one from. Their sites come and go. All of them
 *		belong to one set.
 *
 * A site is attached by the cheapest mechanism that the running kernel allows. The figures are
 * instructions on 6.12, added to a cached read of a file that is traced, and of another file of its
 * filesystem, all in one run:
 *
 *   redirect	271	 53	An ftrace handler moves the instruction pointer of a call that it
 *				wants to a wrapper or a stub, as livepatch does. The wrapper calls
 *				the function after its entry site.
 *   entry	710	248	The handler redirects nothing. It passes the calls that it wants, in
 *				hook.c all calls, to a disabled kretprobe, which follows them by
 *				their return address: iot_kretprobe_follow(). For attach=entry, for
 *				a function that a livepatch redirects, and for calls that may sleep
 *				without bound and must not have a frame of ours on their stack.
 *   kretprobe	802	340	A kprobe sees all calls. For attach=kprobe, and for functions that
 *				ftrace cannot trace.
 *
 * Contexts: ftrace handlers run at the entry of the function, with preemption on or off. Handlers
 * of kretprobes run with preemption off. None of them may sleep. Wrappers run in the context of the
 * function. All functions of this file but iot_site_of(), iot_hook_is_going() and iot_site_follow()
 * run in tasks and may sleep, those that attach and detach for seconds while the kernel patches its
 * text.
 *
 * The kernel's fprobe gives the same as entry, and is dearer. With handlers that do nothing, a call
 * that is followed costs 340 by entry, 443 by fprobe and 450 by kretprobe on 6.12, and a call that
 * is not wanted 41, 240 and 281. On 7.3 it is 369 by entry and 641 by fprobe, and 40 and 346.
 *
 * Sites with the same handler and the same owner, which is the kernel or a module, share an
 * ftrace_ops: a group. So the kernel patches its text and waits for RCU once and not for each
 * function. ftrace accepts a group as a whole or not at all, and does not report which function it
 * rejects. So a rejected group is halved until that function is alone. It gets the next more
 * expensive mechanism; the others are not affected. Single sites that are redirected have a group
 * each. Those that are not share one, which they join and leave.
 *
 * The life of a site: iot_sites_attach() registers its kretprobe, adds the site to the table of its
 * set, and then lets an ftrace_ops see its calls. iot_sites_detach() goes the other way. First the
 * ops goes: unregister_ftrace_function() returns when no task is in its handler or trampoline. If
 * only a part of a group is detached, a grace period follows, since handlers of the other functions
 * may use the table. Then unregister_kretprobes() returns when no handler of them runs, and the
 * kretprobes are freed. A site of hook.c may be freed after that, but one that has a stub stays
 * until iotracer is unloaded.
 *
 * A redirected call is counted per CPU by the handler, before it enters our text, and uncounted as
 * the last act of the wrapper or stub (redirect.c). Detaching does not wait for it. Unloading
 * starts only if the sum is zero, or becomes zero soon (unload.c).
 *
 * Modules: a function of a module is attached when the module is loaded, before its init runs. It
 * is detached when the module is unloaded, before its text is freed; then no task can be in the
 * function any more. It is in groups of that module only, so no other ops has its address in a
 * filter. The module notifier takes the engine's lock only for a module that a site names.
 */
#include <linux/hash.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "core/param.h"
#include "hook/engine.h"
#include "hook/redirect.h"
#include "hook/symbol.h"

static const char * const mechanism_names[] = {
	[IOT_HOOK_DETACHED] = "detached",
	[IOT_HOOK_REDIRECT] = "redirect",
	[IOT_HOOK_ENTRY] = "entry",
	[IOT_HOOK_KRETPROBE] = "kretprobe",
	[IOT_HOOK_FALLBACK] = "kretprobe-names-as-given",
};

static const char * const match_names[] = {
	[IOT_BTF_UNCHECKED] = "unchecked",
	[IOT_BTF_FITS] = "fits",
	[IOT_BTF_DIFFERS] = "differs",
	[IOT_BTF_ABSENT] = "absent",
};

/*
 * Serialises attaching and detaching, except of the kernel's own functions in a static set: its
 * owner attaches them, one task at a time, before iot_sites has the set and after it had it.
 */
static DEFINE_MUTEX(engine_lock);

/*
 * Protects the list, and the fields of a site that readers see. Nests within engine_lock, and is
 * held only briefly, so that readers do not wait while hundreds of functions are attached. Changes
 * of the list, and of the addresses of its sites, need both locks.
 */
static DEFINE_MUTEX(sites_lock);
LIST_HEAD(iot_sites);

/** iot_engine_lock() - begin to attach or detach sites of hook.c, or of modules */
void iot_engine_lock(void)
{
	mutex_lock(&engine_lock);
}

void iot_engine_unlock(void)
{
	mutex_unlock(&engine_lock);
}

/** iot_site_add() - show a site to readers and to the module notifier. Under iot_engine_lock() */
void iot_site_add(struct iot_site *site)
{
	mutex_lock(&sites_lock);
	list_add_tail(&site->all, &iot_sites);
	mutex_unlock(&sites_lock);
}

/** iot_site_remove() - undo iot_site_add(). Under iot_engine_lock() */
void iot_site_remove(struct iot_site *site)
{
	mutex_lock(&sites_lock);
	list_del(&site->all);
	mutex_unlock(&sites_lock);
}

static bool is_of(const char *owner, const char *module)
{
	return owner && module ? !strcmp(owner, module) : owner == module;
}

static bool follows_return(const struct iot_site *site)
{
	return site->unbounded || site->may_be_unbounded;
}

/*
 * A kretprobe of a set that only replaces redirection follows few calls at a time. Of calls that
 * may be unbounded, many may be in progress.
 */
static int max_active(const struct iot_site *site)
{
	return follows_return(site) || site->set->single ? iot_param_maxactive() :
	       max_t(int, 32, 4 * num_possible_cpus());
}

/* A kretprobe and its site. */
struct probe {
	struct kretprobe krp;
	struct iot_site *site;
};

static struct iot_site *site_of(const struct kretprobe *krp)
{
	return container_of(krp, struct probe, krp)->site;
}

/** iot_site_of() - get the site of a kretprobe. Context: its entry handler */
const struct iot_site *iot_site_of(struct kretprobe_instance *ri)
{
	return site_of(get_kretprobe(ri));
}

/** iot_hook_is_going() - check whether the end of a new call may not be seen. Context: @entry */
bool iot_hook_is_going(const struct kretprobe *krp)
{
	return READ_ONCE(site_of(krp)->going);
}

/*
 * @flags: KPROBE_FLAG_DISABLED if the kretprobe gets its calls from the ftrace handler.
 * Return: 0 or -ENOMEM. A function that cannot be hooked only sets site->error.
 */
static int attach_probe(struct iot_site *site, u32 flags)
{
	struct probe *probe = kzalloc(sizeof(*probe), GFP_KERNEL);
	int err;

	if (!probe)
		return -ENOMEM;
	probe->site = site;
	site->armed = !flags; /* ftrace handlers read this */
	err = iot_kretprobe_register(&probe->krp, site->addr, flags, site->returns,
				     max_active(site));
	if (err) {
		kfree(probe);
		site->error = err;
		return err == -ENOMEM ? err : 0;
	}
	mutex_lock(&sites_lock);
	smp_store_release(&site->krp, &probe->krp); /* handlers of hook.c may see it already */
	mutex_unlock(&sites_lock);
	return 0;
}

/* Under sites_lock. */
static unsigned long missed_of(const struct iot_site *site)
{
	if (!site->krp)
		return site->missed;
	return site->missed + iot_kretprobe_missed(site->krp, site->armed);
}

/** iot_site_miss() - count one missed call. Context: task */
void iot_site_miss(struct iot_site *site)
{
	mutex_lock(&sites_lock);
	site->missed++;
	mutex_unlock(&sites_lock);
}

/**
 * iot_sites_missed() - count the calls that @n sites could not follow
 *
 * The count is complete even while a site is being detached. Context: task.
 */
unsigned long iot_sites_missed(const struct iot_site *sites, unsigned int n)
{
	unsigned long missed = 0;

	mutex_lock(&sites_lock);
	while (n--)
		missed += missed_of(&sites[n]);
	mutex_unlock(&sites_lock);
	return missed;
}

/** iot_sites_show() - print a line per site, for /proc/iotracer/hooks. @single: those of hook.c */
void iot_sites_show(struct seq_file *m, bool single)
{
	const struct iot_site *site;

	mutex_lock(&sites_lock);
	list_for_each_entry(site, &iot_sites, all)
		if (site->set->single == single && (!single || site->holders))
			seq_printf(m, "%s %s %s %u %lu %s %d\n", site->symbol, site->what,
				   mechanism_names[site->mechanism],
				   single ? site->users : site->mechanism != IOT_HOOK_DETACHED,
				   missed_of(site), single ? "-" : match_names[site->match],
				   site->error);
	mutex_unlock(&sites_lock);
}

/* Only sets with wrappers need something instead of redirection. */
static enum iot_hook_mechanism mechanism_of(const struct iot_site *site)
{
	if (site->redirects && !site->armed)
		return IOT_HOOK_REDIRECT;
	if (site->unbounded || site->set->single)
		return IOT_HOOK_KRETPROBE;
	return site->set->call || site->armed ? IOT_HOOK_FALLBACK : IOT_HOOK_ENTRY;
}

static void set_mechanism(struct iot_site *site, enum iot_hook_mechanism mechanism)
{
	mutex_lock(&sites_lock);
	site->mechanism = mechanism;
	mutex_unlock(&sites_lock);
}

#ifdef IOT_REDIRECT
/* Sites that share an ftrace_ops. */
struct iot_hook_group {
	unsigned int nr;
	bool may_change;	/* sites join and leave: hook.c */
	struct ftrace_ops ops;
};

/** iot_site_follow() - follow a call by its return address. Context: ftrace handler */
void iot_site_follow(const struct iot_site *site, struct iot_regs *regs)
{
	preempt_disable_notrace();
	iot_kretprobe_follow(site->krp, regs);
	preempt_enable_notrace();
}

/*
 * Does the site need a kretprobe? Yes if its calls may be followed by their return address:
 * they may be unbounded, or the function should be redirected and is not.
 */
static bool needs_probe(const struct iot_site *site)
{
	return follows_return(site) || (site->set->call && !site->redirects);
}

/* Can an ftrace handler be attached to the site? */
static bool is_handled(const struct iot_site *site)
{
	return site->entry && (!needs_probe(site) ||
			       (site->krp && iot_kretprobe_is_followable(site->krp)));
}

/* Only the set's handler can handle a site that should be redirected and is not. */
static ftrace_func_t handler_of(const struct iot_site *site)
{
	if (!site->handler || (site->set->call && !site->redirects))
		return site->set->handle;
	return site->handler;
}

#define MAX_SINGLE_STUBS	128	/* sites of hook.c, the rest is for static sets */

static unsigned int nr_single_stubs;	/* under engine_lock */

static int get_stub(struct iot_site *site)
{
	bool another = site->set->single && !site->stub;
	int err;

	if (another && nr_single_stubs == MAX_SINGLE_STUBS)
		return -ENOSPC;
	err = iot_stub_get(site);
	nr_single_stubs += another && !err;
	return err;
}

/*
 * Find the entries of sites, and decide which of them to redirect. An entry that is known stays:
 * calls may be in the stub, which continues there.
 */
static void choose_redirects(struct list_head *list)
{
	struct iot_site *site;

	list_for_each_entry(site, list, link) {
		WRITE_ONCE(site->entry, iot_redirect_entry(site->addr) ?: site->entry);
		if (!site->entry && (site->may_redirect || !site->set->single))
			site->error = -ENXIO;
		if (!site->entry || !site->may_redirect)
			continue;
		site->error = get_stub(site);
		site->redirects = !site->error;
	}
}

/* Sites that are attached together; @ips has each function once, also if it has several sites. */
struct batch {
	struct list_head sites;
	struct iot_site *first;		/* has the set, owner and handler of all */
	struct iot_hook_group *group;
	unsigned int nr;
	unsigned long ips[];
};

static bool has_ip(const unsigned long *ips, unsigned int n, unsigned long ip)
{
	while (n--)
		if (ips[n] == ip)
			return true;
	return false;
}

/* A site of hook.c that is redirected has a group of its own, as it is detached alone. */
static bool belongs(const struct batch *b, const struct iot_site *site)
{
	if (b->first->redirects && site->set->single)
		return false;
	return site->set == b->first->set && is_of(site->owner, b->first->owner) &&
	       handler_of(site) == handler_of(b->first);
}

/*
 * Move the sites that wait for a handler, and share it with the first of them, from the list to
 * the batch. They are added to the table before an ops sees their calls. Return: false: none waits.
 */
static bool collect(struct batch *b, struct list_head *list, bool redirects)
{
	struct iot_site *site, *next;

	b->first = NULL;
	b->nr = 0;
	list_for_each_entry_safe(site, next, list, link) {
		if (site->mechanism != IOT_HOOK_DETACHED || site->redirects != redirects ||
		    !is_handled(site) || (b->first && !belongs(b, site)))
			continue;
		b->first = b->first ?: site;
		list_move_tail(&site->link, &b->sites);
		if (hlist_unhashed(&site->node))
			hlist_add_head_rcu(&site->node,
					   iot_hook_set_bucket(site->set, site->entry));
		if (!has_ip(b->ips, b->nr, site->addr))
			b->ips[b->nr++] = site->addr;
	}
	return b->first;
}

/* Find a group that the sites of a batch may join. Under engine_lock, for sites of hook.c. */
static struct iot_hook_group *find_group(const struct batch *b)
{
	const struct iot_site *site;

	list_for_each_entry(site, &iot_sites, all)
		if (site->group && site->group->may_change && belongs(b, site))
			return site->group;
	return NULL;
}

static int attach_group(struct batch *b, unsigned int from, unsigned int n)
{
	unsigned long flags = b->first->redirects ? FTRACE_OPS_FL_IPMODIFY : 0;
	bool may_change = b->first->set->single && !flags;
	int err;

	b->group = may_change ? find_group(b) : NULL;
	if (b->group)
		return ftrace_set_filter_ips(&b->group->ops, b->ips + from, n, 0, 0);
	b->group = kzalloc(sizeof(*b->group), GFP_KERNEL);
	if (!b->group)
		return -ENOMEM;
	b->group->may_change = may_change;
	err = iot_redirect_attach(&b->group->ops, handler_of(b->first), flags, b->first->set,
				  b->ips + from, n);
	if (err)
		kfree(b->group);
	return err;
}

/* A site of hook.c that was not to be redirected, or cannot be, has no other error than that. */
static void note_refusal(struct iot_site *site, int err)
{
	if (site->redirects || !site->set->single)
		site->error = err;
	site->redirects = false;
}

/* Store for @n functions of a batch that they are attached, or rejected with @err. */
static void note_outcome(const struct batch *b, unsigned int from, unsigned int n, int err)
{
	struct iot_site *site;

	list_for_each_entry(site, &b->sites, link) {
		if (!has_ip(b->ips + from, n, site->addr))
			continue;
		if (err) {
			note_refusal(site, err);
			continue;
		}
		site->group = b->group;
		site->group->nr++;
		set_mechanism(site, mechanism_of(site));
	}
}

/* Attach those of @n functions of a batch that ftrace accepts. Return: 0 or -ENOMEM. */
static int attach_range(struct batch *b, unsigned int from, unsigned int n)
{
	int err = attach_group(b, from, n);

	if (err == -ENOMEM)
		return err;
	if (!err || n == 1) {
		note_outcome(b, from, n, err);
		return 0;
	}
	err = attach_range(b, from, n / 2);
	return err ?: attach_range(b, from + n / 2, n - n / 2);
}

static unsigned int count_of(const struct list_head *list)
{
	const struct list_head *site;
	unsigned int n = 0;

	list_for_each(site, list)
		n++;
	return n;
}

/* Attach the sites that wait for a handler that redirects, or for one that does not. */
static int attach_groups(struct list_head *list, bool redirects)
{
	struct batch *b = kzalloc(struct_size(b, ips, count_of(list)), GFP_KERNEL);
	LIST_HEAD(done);
	int err = 0;

	if (!b)
		return -ENOMEM;
	INIT_LIST_HEAD(&b->sites);
	while (!err && collect(b, list, redirects)) {
		err = attach_range(b, 0, b->nr);
		list_splice_tail_init(&b->sites, &done);
	}
	list_splice(&done, list);
	kfree(b);
	return err;
}

/* Register a disabled kretprobe for each site that needs one and has none. */
static int attach_disabled_probes(struct list_head *list)
{
	struct iot_site *site;
	int err = 0;

	list_for_each_entry(site, list, link)
		if (!err && site->mechanism == IOT_HOOK_DETACHED && needs_probe(site) &&
		    !site->krp)
			err = attach_probe(site, KPROBE_FLAG_DISABLED);
	return err;
}

/*
 * Attach by ftrace handlers. Sites to be redirected come first. The calls of sites that
 * ftrace rejects are followed by their return address. Return: 0 or -ENOMEM.
 */
static int attach_handled(struct list_head *list)
{
	int err;

	choose_redirects(list);
	err = attach_disabled_probes(list);
	if (!err)
		err = attach_groups(list, true);
	if (!err)
		err = attach_disabled_probes(list);
	if (!err)
		err = attach_groups(list, false);
	return err;
}

/* Has another site of a group the same function? */
static bool is_shared(const struct iot_hook_group *group, unsigned long addr)
{
	const struct iot_site *site;

	list_for_each_entry(site, &iot_sites, all)
		if (site->group == group && site->addr == addr)
			return true;
	return false;
}

/*
 * When the last site has left, the kernel has waited for all tasks in a handler or in a trampoline
 * of the ops. If there is no memory for a smaller filter the function stays in it, and its calls
 * find no site.
 */
static void leave_group(struct iot_site *site)
{
	struct iot_hook_group *group = site->group;

	if (!group)
		return;
	site->group = NULL;
	if (--group->nr) {
		if (group->may_change && !is_shared(group, site->addr))
			ftrace_set_filter_ip(&group->ops, site->addr, 1, 0);
		return;
	}
	/* otherwise ftrace has disabled itself and may still use the ops */
	if (iot_redirect_detach(&group->ops))
		kfree(group);
}
#else
static int attach_handled(struct list_head *list)
{
	return 0;
}

static void leave_group(struct iot_site *site)
{
}
#endif

/*
 * Attach a site that no ftrace handler sees by an enabled kretprobe. If it has a disabled one
 * for calls from an ftrace handler, enable that. Return: 0 or -ENOMEM.
 */
static int attach_armed(struct iot_site *site)
{
	int err;

	if (site->krp) {
		site->armed = true;
		err = enable_kretprobe(site->krp);
		site->error = err ?: site->error;
	} else {
		err = attach_probe(site, 0) ?: (site->krp ? 0 : site->error);
	}
	if (!err)
		set_mechanism(site, mechanism_of(site));
	else if (err != -ENOMEM)
		pr_err("cannot hook %s (%s): error %d; is it excluded from probing, or are ftrace and kprobes disabled?\n",
		       site->symbol, site->what, site->error);
	return err == -ENOMEM ? err : 0;
}

/**
 * iot_sites_attach() - attach the sites of a list, which have a function and are detached
 *
 * A site that cannot be attached, or not by the cheapest mechanism, has an error and does not
 * affect the others. -ENOMEM is no reason for a more expensive mechanism: it is returned, and the
 * caller detaches the list. Under iot_engine_lock(), or before iot_site_add().
 * Return: 0 or -ENOMEM.
 */
int iot_sites_attach(struct list_head *list)
{
	struct iot_site *site;
	int err = 0;

	list_for_each_entry(site, list, link) {
		site->error = 0;
		site->redirects = false;
		site->armed = false;
		WRITE_ONCE(site->going, false);
	}
	if (iot_param_handlers_allowed() && !list_empty(list))
		err = attach_handled(list);
	list_for_each_entry(site, list, link)
		if (!err && site->mechanism == IOT_HOOK_DETACHED)
			err = attach_armed(site);
	return err;
}

/*
 * Remove sites from the table of their set, and wait until no handler uses them. The handler of
 * hook.c looks into the table with preemption off. Those of a set that is detached as a whole have
 * gone with their groups. If only functions of modules are, handlers of other functions may be
 * preempted while they look.
 */
static void leave_table(struct list_head *list)
{
	bool single = false, part = false;
	struct iot_site *site;

	list_for_each_entry(site, list, link) {
		single |= site->set->single;
		part |= site->owner && !site->set->single;
		if (!hlist_unhashed(&site->node))
			hlist_del_init_rcu(&site->node);
	}
	if (single || part)
		synchronize_rcu();
	if (part)
		synchronize_rcu_tasks();
}

#define BATCH	64

/* Unregister kretprobes at once, as the kernel then waits once, and free them. */
static void unregister_probes(struct kretprobe **krps, unsigned int n)
{
	struct iot_site *site;
	unsigned int i;

	unregister_kretprobes(krps, n);
	mutex_lock(&sites_lock);
	for (i = 0; i < n; i++) {
		site = site_of(krps[i]);
		site->missed = missed_of(site);
		site->krp = NULL;
	}
	mutex_unlock(&sites_lock);
	while (n--)
		kfree(container_of(krps[n], struct probe, krp));
}

/* No ftrace handler uses the kretprobes now, and all handlers of kretprobes see @going. */
static void detach_probes(struct list_head *list)
{
	struct kretprobe *krps[BATCH];
	struct iot_site *site;
	unsigned int n = 0;

	list_for_each_entry(site, list, link) {
		if (!site->krp)
			continue;
		if (site->returns->forget)
			site->returns->forget(site->krp);
		krps[n++] = site->krp;
		if (n < BATCH)
			continue;
		unregister_probes(krps, n);
		n = 0;
	}
	unregister_probes(krps, n);
}

/**
 * iot_sites_detach() - detach the sites of a list, attached or not, all at once
 *
 * No handler runs when it returns; calls that are in a wrapper continue. A kretprobe that has gone
 * no longer sees the end of calls, while others still see new calls start, so all are marked as
 * going first. Under iot_engine_lock(), or after iot_site_remove().
 */
void iot_sites_detach(struct list_head *list)
{
	struct iot_site *site;

	list_for_each_entry(site, list, link) {
		WRITE_ONCE(site->going, true);
		leave_group(site);
	}
	leave_table(list);
	detach_probes(list);
	list_for_each_entry(site, list, link)
		set_mechanism(site, IOT_HOOK_DETACHED);
}

/* Set or clear the address of a function of a module. @error: why there is none */
static void place(struct iot_site *site, unsigned long addr, int error)
{
	mutex_lock(&sites_lock);
	site->addr = addr;
	site->owner = addr ? site->module : NULL;
	if (!addr)
		WRITE_ONCE(site->entry, 0);
	if (!site->set->single)
		site->error = error;
	mutex_unlock(&sites_lock);
}

/*
 * Nothing is found in a module that is being unloaded, as iot_symbol_find() takes a reference to
 * it.
 */
static void look_up(struct iot_site *site)
{
	char name[MODULE_NAME_LEN + KSYM_NAME_LEN];
	unsigned long addr;

	snprintf(name, sizeof(name), "%s:%s", site->module, site->symbol);
	addr = iot_symbol_find(name);
	place(site, addr, addr ? 0 : -ENOENT);
}

/* Detach functions of modules, and forget their addresses. @error: why they are not attached */
static void detach_owned(struct list_head *list, int error)
{
	struct iot_site *site;

	if (list_empty(list))
		return;
	iot_sites_detach(list);
	list_for_each_entry(site, list, link)
		place(site, 0, error);
}

/**
 * iot_sites_attach_modules() - attach functions of modules that are loaded
 * @set:	the set
 * @module:	name of the module, NULL for all modules
 *
 * Under iot_engine_lock(). Return: 0, or -ENOMEM if none of them is attached.
 */
int iot_sites_attach_modules(struct iot_hook_set *set, const char *module)
{
	struct iot_site *site;
	LIST_HEAD(list);
	int err;

	list_for_each_entry(site, &iot_sites, all) {
		if (site->set != set || site->addr || !site->module ||
		    (module && strcmp(site->module, module)))
			continue;
		look_up(site);
		if (site->addr && (!set->single || site->users))
			list_add_tail(&site->link, &list);
	}
	err = iot_sites_attach(&list);
	if (err)
		detach_owned(&list, err);
	return err;
}

/**
 * iot_sites_detach_modules() - detach functions of modules, and forget their addresses
 * @set:	the set, NULL for all sets
 * @module:	name of the module, NULL for all modules
 *
 * Under iot_engine_lock().
 */
void iot_sites_detach_modules(const struct iot_hook_set *set, const char *module)
{
	struct iot_site *site;
	LIST_HEAD(list);

	list_for_each_entry(site, &iot_sites, all)
		if (site->owner && (!set || site->set == set) &&
		    (!module || !strcmp(site->owner, module)))
			list_add_tail(&site->link, &list);
	detach_owned(&list, -ENOENT);
}

/*
 * Does a site name the module? Does not wait for a task that attaches functions. A site that is not
 * in the list yet finds the module when it is attached, or no longer finds it. No site of hook.c
 * is made in a module that is being unloaded: the inode or file that the function comes from holds
 * a reference to the module.
 */
static bool is_named(const char *module)
{
	const struct iot_site *site;
	bool named = false;

	mutex_lock(&sites_lock);
	list_for_each_entry(site, &iot_sites, all)
		named |= site->module && !strcmp(site->module, module);
	mutex_unlock(&sites_lock);
	return named;
}

/**
 * iot_sites_module_coming() - attach the functions of a module before its init runs
 *
 * Context: module notifier, may sleep.
 */
void iot_sites_module_coming(const char *module)
{
	const struct iot_hook_set *last = NULL;
	struct iot_site *site;

	if (!is_named(module))
		return;
	mutex_lock(&engine_lock);
	list_for_each_entry(site, &iot_sites, all) {
		if (site->set == last || site->addr || !is_of(site->module, module))
			continue;
		last = site->set;
		if (iot_sites_attach_modules(site->set, module))
			pr_err("no memory to hook the functions of module %s\n", module);
	}
	mutex_unlock(&engine_lock);
}

/**
 * iot_sites_module_going() - detach the functions of a module before its text is freed
 *
 * Context: module notifier, may sleep.
 */
void iot_sites_module_going(const char *module)
{
	if (!is_named(module))
		return;
	mutex_lock(&engine_lock);
	iot_sites_detach_modules(NULL, module);
	mutex_unlock(&engine_lock);
}
