// SPDX-License-Identifier: GPL-2.0
/*
 * A set of hooks: many functions that are attached and detached at once.
 *
 * An ftrace handler that wants a call sends it to the stub of its site (stub.c). The stub saves
 * the arguments and calls the set's wrapper. Then it either returns the wrapper's result or, for
 * IOT_HOOK_PASS_THROUGH, continues into the function with nothing of ours on the stack. So a call
 * that turns out to be unbounded does not keep the module loaded. As in hook.c, a redirected call
 * is in flight from the handler to the end of the wrapper.
 *
 * Calls that may be unbounded are followed by their return address, see iot_kretprobe_follow().
 * So are the calls of a function that cannot be redirected, because another user such as a
 * livepatch redirects it, or that may not be redirected (attach=entry).
 *
 * A group is the functions that have the same handler and the same owner, which is the kernel or
 * a module. They share an ftrace_ops. ftrace accepts a group as a whole or not at all, and does
 * not report which function it rejects. So a rejected group is halved until that function is
 * alone. It gets the next more expensive mechanism; the others are not affected.
 *
 * A function that ftrace cannot trace, or is not allowed to, gets an ordinary kretprobe. Neither
 * ftrace handlers nor kretprobe handlers may sleep.
 *
 * Modules: a function of a module is attached when the module is loaded, before its init runs. It
 * is detached when the module is unloaded, before its text is freed; then no task can be in the
 * function any more. It is in groups of that module only, so no other ops has its address in a
 * filter. The module notifier takes modules_lock only for a module that a started set names, and
 * only functions of modules are attached under that lock.
 */
#include <linux/hash.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "core/param.h"
#include "hook/enter.h"
#include "hook/hook_set.h"
#include "hook/kretprobe.h"
#include "hook/point.h"
#include "hook/redirect.h"
#include "hook/symbol.h"

static const char * const mechanism_names[] = {
	[IOT_HOOK_DETACHED] = "detached",
	[IOT_HOOK_REDIRECT] = "redirect",
	[IOT_HOOK_ENTRY] = "entry",
	[IOT_HOOK_KRETPROBE] = "kretprobe",
	[IOT_HOOK_FALLBACK] = "kretprobe-names-as-given",
};

/*
 * Protects the list, and the fields of a site that iot_hook_set_show() reads. Held only briefly,
 * so that readers do not wait while hundreds of functions are attached. It does not serialise
 * attaching: the owner of a set attaches and detaches it, one task at a time.
 */
static DEFINE_MUTEX(sets_lock);
static LIST_HEAD(sets);

/*
 * Held while functions of modules are attached and detached, by the owner of a set and by the
 * module notifier. Taken before sets_lock. Changes of the list need both.
 */
static DEFINE_MUTEX(modules_lock);

/* Functions that share an ftrace_ops. */
struct iot_hook_group {
	struct list_head list;
	const char *owner;
	struct ftrace_ops ops;
};

static const char * const match_names[] = {
	[IOT_BTF_UNCHECKED] = "unchecked",
	[IOT_BTF_FITS] = "fits",
	[IOT_BTF_DIFFERS] = "differs",
	[IOT_BTF_ABSENT] = "absent",
};

static bool is_of(const char *owner, const char *module)
{
	return owner && module ? !strcmp(owner, module) : owner == module;
}

/* Does the site have a function, and is it in @owner? */
static bool is_in(const struct iot_site *site, const char *owner)
{
	return site->addr && is_of(site->owner, owner);
}

static bool is_unattached(const struct iot_site *site, const char *owner)
{
	return is_in(site, owner) && site->mechanism == IOT_HOOK_DETACHED;
}

static void set_mechanism(struct iot_site *site, enum iot_hook_mechanism mechanism)
{
	mutex_lock(&sets_lock);
	site->mechanism = mechanism;
	mutex_unlock(&sets_lock);
}

/*
 * Does the function differ from what its probe expects? One that BTF lacks counts as different,
 * except for system calls: BTF lacks those without arguments, as their functions are aliases of
 * another one, but the kernel calls all system calls with the same prototype.
 */
static bool is_refused(const struct iot_site *site)
{
	if (site->match == IOT_BTF_ABSENT)
		return strcmp(site->proto, IOT_HOOK_SYSCALL);
	return site->match == IOT_BTF_DIFFERS;
}

static bool follows_return(const struct iot_site *site)
{
	return site->unbounded || site->may_be_unbounded;
}

#ifdef IOT_REDIRECT
static struct hlist_head *bucket_of(struct iot_hook_set *set, unsigned long entry)
{
	return &set->table[hash_long(entry, IOT_HOOK_SET_BITS)];
}

/** iot_site_follow() - follow a call by its return address. Context: ftrace handler */
void iot_site_follow(const struct iot_site *site, struct iot_regs *regs)
{
	preempt_disable_notrace();
	iot_kretprobe_follow(site->krp, regs);
	preempt_enable_notrace();
}

/**
 * iot_hook_set_handle() - handle a call of a site that has no handler of its own
 *
 * If a function has several sites, the first that wants the call gets it. Sites are added to the
 * table and removed while handlers of other functions walk it. The instruction pointer is changed
 * only for a site with @redirects: the ops of other sites have no FTRACE_OPS_FL_IPMODIFY, and
 * another user that redirects the function may already have changed it. Context: entry of the
 * function, preemption on or off.
 */
void iot_hook_set_handle(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs)
{
	struct iot_hook_set *set = ops->private;
	struct iot_regs *regs = iot_ftrace_regs(fregs);
	unsigned long args[IOT_CALL_ARGS] IOT_UNINITIALIZED;
	unsigned long entry = iot_redirect_entry_of(ip);
	struct iot_site *site, *stubbed = NULL;
	enum iot_hook_verdict verdict;

	args[0] = iot_regs_arg(regs, 0);
	args[1] = iot_regs_arg(regs, 1);
	args[2] = iot_regs_arg(regs, 2);
	args[3] = iot_regs_arg(regs, 3);
	args[4] = iot_regs_arg(regs, 4);
	hlist_for_each_entry_rcu_notrace(site, bucket_of(set, entry), node) {
		if (site->entry != entry)
			continue;
		if (site->redirects)
			stubbed = site;
		verdict = set->wants(site, args, parent_ip);
		if (verdict == IOT_HOOK_IGNORE)
			continue;
		if (verdict == IOT_HOOK_FOLLOW && likely(site->redirects)) {
			iot_site_redirect(site, ip, regs);
			return;
		}
		iot_site_follow(site, regs);
		break;
	}
	if (stubbed)
		iot_site_pass(stubbed, ip, regs);
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
	return site->entry && (!needs_probe(site) || site->krp);
}

/* Only iot_hook_set_handle() can handle a site that should be redirected and is not. */
static ftrace_func_t handler_of(const struct iot_site *site)
{
	if (!site->handler || (site->set->call && !site->redirects))
		return iot_hook_set_handle;
	return site->handler;
}

static enum iot_hook_mechanism mechanism_of(const struct iot_site *site)
{
	if (site->redirects)
		return IOT_HOOK_REDIRECT;
	if (site->unbounded)
		return IOT_HOOK_KRETPROBE;
	return site->set->call ? IOT_HOOK_FALLBACK : IOT_HOOK_ENTRY;
}

/* Find the entries of a set's sites, and decide which of them to redirect. */
static void choose_redirects(struct iot_hook_set *set, const char *owner)
{
	unsigned int i;

	for (i = 0; i < set->nr; i++) {
		struct iot_site *site = &set->sites[i];

		if (!is_unattached(site, owner))
			continue;
		site->entry = iot_redirect_entry(site->addr);
		site->redirects = false;
		if (!site->entry)
			site->error = -ENXIO;
		if (!site->entry || !set->redirects || site->unbounded)
			continue;
		site->error = iot_stub_get(site);
		site->redirects = !site->error;
	}
}

/* Functions that are attached together; @ips has each one once, also if it has several sites. */
struct batch {
	struct iot_hook_set *set;
	const char *owner;
	ftrace_func_t func;
	bool redirects;
	unsigned int nr;
	unsigned long ips[];
};

static bool is_waiting(const struct batch *b, const struct iot_site *site)
{
	return is_unattached(site, b->owner) && site->redirects == b->redirects &&
	       is_handled(site);
}

static bool has_ip(const unsigned long *ips, unsigned int n, unsigned long ip)
{
	while (n--)
		if (ips[n] == ip)
			return true;
	return false;
}

/*
 * Collect the waiting sites from @from on that share a handler with the first of them. They are
 * added to the table before an ops sees their calls. Return: where to continue.
 */
static unsigned int collect(struct batch *b, unsigned int from)
{
	struct iot_hook_set *set = b->set;
	unsigned int i, next = set->nr;

	b->func = NULL;
	b->nr = 0;
	for (i = from; i < set->nr; i++) {
		struct iot_site *site = &set->sites[i];

		if (!is_waiting(b, site))
			continue;
		if (!b->func)
			b->func = handler_of(site);
		if (handler_of(site) != b->func) {
			next = min(next, i);
			continue;
		}
		if (hlist_unhashed(&site->node))
			hlist_add_head_rcu(&site->node, bucket_of(set, site->entry));
		if (!has_ip(b->ips, b->nr, site->addr))
			b->ips[b->nr++] = site->addr;
	}
	return next;
}

static int attach_group(struct batch *b, unsigned int from, unsigned int n)
{
	struct iot_hook_group *group = kzalloc(sizeof(*group), GFP_KERNEL);
	unsigned long flags = b->redirects ? FTRACE_OPS_FL_IPMODIFY : 0;
	int err;

	if (!group)
		return -ENOMEM;
	group->owner = b->owner;
	err = iot_redirect_attach(&group->ops, b->func, flags, b->set, b->ips + from, n);
	if (err)
		kfree(group);
	else
		list_add(&group->list, &b->set->groups);
	return err;
}

/* Store for @n functions of a batch that they are attached, or rejected with @err. */
static void note_outcome(const struct batch *b, unsigned int from, unsigned int n, int err)
{
	unsigned int i;

	for (i = 0; i < b->set->nr; i++) {
		struct iot_site *site = &b->set->sites[i];

		if (!is_waiting(b, site) || !has_ip(b->ips + from, n, site->addr))
			continue;
		if (!err) {
			set_mechanism(site, mechanism_of(site));
			continue;
		}
		site->error = err;
		site->redirects = false;
	}
}

/* Attach those of @n functions of a batch that ftrace accepts. Return: 0 or -ENOMEM. */
static int attach_range(struct batch *b, unsigned int from, unsigned int n)
{
	int err;

	if (!n)
		return 0;
	err = attach_group(b, from, n);
	if (err == -ENOMEM)
		return err;
	if (!err || n == 1) {
		note_outcome(b, from, n, err);
		return 0;
	}
	err = attach_range(b, from, n / 2);
	return err ?: attach_range(b, from + n / 2, n - n / 2);
}

/* Attach the sites that wait for a handler that redirects, or for one that does not. */
static int attach_groups(struct iot_hook_set *set, const char *owner, bool redirects)
{
	struct batch *b = kzalloc(struct_size(b, ips, set->nr), GFP_KERNEL);
	unsigned int from = 0;
	int err = 0;

	if (!b)
		return -ENOMEM;
	b->set = set;
	b->owner = owner;
	b->redirects = redirects;
	while (!err && from < set->nr) {
		from = collect(b, from);
		err = attach_range(b, 0, b->nr);
	}
	kfree(b);
	return err;
}

/*
 * When this returns, the kernel has waited for all tasks in a handler or in a trampoline of the
 * ops: no handler still uses a site that was removed from the table before.
 */
static void detach_groups(struct iot_hook_set *set, const char *owner)
{
	struct iot_hook_group *group, *next;

	list_for_each_entry_safe(group, next, &set->groups, list) {
		if (!is_of(group->owner, owner))
			continue;
		list_del(&group->list);
		/* otherwise ftrace has disabled itself and may still use the ops */
		if (iot_redirect_detach(&group->ops))
			kfree(group);
	}
}
#else
static void detach_groups(struct iot_hook_set *set, const char *owner)
{
}
#endif

/* A kretprobe and its site. */
struct iot_hook_probe {
	struct kretprobe krp;
	struct iot_site *site;
};

/** iot_site_of() - get the site of a kretprobe. Context: its entry handler */
const struct iot_site *iot_site_of(struct kretprobe_instance *ri)
{
	return container_of(get_kretprobe(ri), struct iot_hook_probe, krp)->site;
}

/*
 * A kretprobe that only replaces redirection follows few calls at a time. Of calls that may
 * be unbounded, many may be in progress.
 */
static int max_active(const struct iot_site *site)
{
	return follows_return(site) ? iot_param_maxactive() :
				      max_t(int, 32, 4 * num_possible_cpus());
}

/*
 * @flags: KPROBE_FLAG_DISABLED if the kretprobe gets its calls from the ftrace handler.
 * Return: 0 or -ENOMEM. A function that cannot be hooked only sets site->error.
 */
static int attach_probe(struct iot_site *site, u32 flags)
{
	struct iot_hook_set *set = site->set;
	struct iot_hook_probe *probe = &set->probes[site - set->sites];
	const struct iot_kretprobe_type type = {
		.entry = set->entry,
		.exit = set->exit,
		.data_size = set->data_size,
		.maxactive = max_active(site),
	};
	int err;

	probe->site = site;
	site->armed = !flags; /* ftrace handlers read this */
	err = iot_kretprobe_register(&probe->krp, site->addr, flags, &type);
	if (err == -ENOMEM)
		return -ENOMEM;
	if (err) {
		site->error = err;
		return 0;
	}
	mutex_lock(&sets_lock);
	site->krp = &probe->krp;
	mutex_unlock(&sets_lock);
	return 0;
}

/* Under sets_lock. */
static unsigned long site_missed(const struct iot_site *site)
{
	if (!site->krp)
		return site->missed;
	return site->missed + iot_kretprobe_missed(site->krp, site->armed);
}

/* Detach all at once, as the kernel then waits once. No ftrace handler uses the kretprobes now. */
static void detach_probes(struct iot_hook_set *set, const char *owner)
{
	unsigned int i, n = 0;

	for (i = 0; i < set->nr; i++)
		if (set->sites[i].krp && is_in(&set->sites[i], owner))
			set->scratch[n++] = set->sites[i].krp;
	if (!n)
		return;
	unregister_kretprobes(set->scratch, n);
	mutex_lock(&sets_lock);
	for (i = 0; i < set->nr; i++) {
		struct iot_site *site = &set->sites[i];

		if (!site->krp || !is_in(site, owner))
			continue;
		site->missed = site_missed(site);
		site->krp = NULL;
	}
	mutex_unlock(&sets_lock);
}

#ifdef IOT_REDIRECT
/* Register a disabled kretprobe for each site that needs one and has none. */
static int attach_disabled_probes(struct iot_hook_set *set, const char *owner)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < set->nr; i++) {
		struct iot_site *site = &set->sites[i];

		if (is_unattached(site, owner) && needs_probe(site) && !site->krp)
			err = attach_probe(site, KPROBE_FLAG_DISABLED);
	}
	return err;
}

/*
 * Attach by ftrace handlers. Sites to be redirected come first. The calls of sites that
 * ftrace rejects are followed by their return address. Return: 0 or -ENOMEM.
 */
static int attach_handled(struct iot_hook_set *set, const char *owner)
{
	int err;

	choose_redirects(set, owner);
	err = attach_disabled_probes(set, owner);
	if (!err)
		err = attach_groups(set, owner, true);
	if (!err)
		err = attach_disabled_probes(set, owner);
	if (!err)
		err = attach_groups(set, owner, false);
	return err;
}
#else
static int attach_handled(struct iot_hook_set *set, const char *owner)
{
	return 0;
}
#endif

/*
 * Attach a site that no ftrace handler sees by an enabled kretprobe. If it has a disabled one
 * for calls from an ftrace handler, enable that. Return: 0 or -ENOMEM.
 */
static int attach_armed(struct iot_site *site)
{
	bool armed;
	int err;

	if (site->krp) {
		site->armed = true;
		err = enable_kretprobe(site->krp);
		armed = !err;
		site->error = err ?: site->error;
	} else {
		err = attach_probe(site, 0);
		armed = site->krp;
	}
	if (armed)
		set_mechanism(site, site->unbounded ? IOT_HOOK_KRETPROBE : IOT_HOOK_FALLBACK);
	else if (err != -ENOMEM)
		pr_err("cannot hook %s (%s): error %d; is it excluded from probing, or are ftrace and kprobes disabled?\n",
		       site->symbol, site->what, site->error);
	return err == -ENOMEM ? err : 0;
}

/* Attach the functions of an owner that are not attached. Return: 0 or -ENOMEM. */
static int attach_part(struct iot_hook_set *set, const char *owner)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < set->nr; i++)
		if (is_unattached(&set->sites[i], owner))
			set->sites[i].error = 0;
	if (iot_param_handlers_allowed())
		err = attach_handled(set, owner);
	for (i = 0; !err && i < set->nr; i++)
		if (is_unattached(&set->sites[i], owner))
			err = attach_armed(&set->sites[i]);
	return err;
}

static void detach_part(struct iot_hook_set *set, const char *owner)
{
	unsigned int i;

	detach_groups(set, owner);
	detach_probes(set, owner);
	for (i = 0; i < set->nr; i++)
		if (is_in(&set->sites[i], owner))
			set_mechanism(&set->sites[i], IOT_HOOK_DETACHED);
}

/*
 * Detach the functions of a module, and forget their addresses. Under modules_lock.
 * @error: why they are not attached from now on
 */
static void detach_module(struct iot_hook_set *set, const char *module, int error)
{
	unsigned int i;

	detach_part(set, module);
	for (i = 0; i < set->nr; i++) {
		struct iot_site *site = &set->sites[i];

		if (!is_in(site, module))
			continue;
		site->addr = 0;
		site->entry = 0;
		site->owner = NULL;
		site->error = error;
	}
}

/*
 * Remove the functions of a module from the table, which other functions use: handlers no
 * longer find them, and they can be added again in another bucket. Under modules_lock.
 */
static void forget_module(struct iot_hook_set *set, const char *module)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i < set->nr; i++) {
		if (!is_in(&set->sites[i], module) || hlist_unhashed(&set->sites[i].node))
			continue;
		hlist_del_init_rcu(&set->sites[i].node);
		any = true;
	}
	/* handlers walk the table with preemption on or off */
	if (any) {
		synchronize_rcu();
		synchronize_rcu_tasks();
	}
}

/*
 * Look up the functions of a module, if it is loaded, and attach them. Nothing is found in a
 * module that is being unloaded, as iot_symbol_find() takes a reference to it. Under
 * modules_lock.
 * Return: 0, or -ENOMEM if none of them is attached.
 */
static int attach_module(struct iot_hook_set *set, const char *module)
{
	char name[MODULE_NAME_LEN + sizeof(set->sites->symbol)];
	unsigned int i;
	int err;

	for (i = 0; i < set->nr; i++) {
		struct iot_site *site = &set->sites[i];

		if (site->addr || !site->module || strcmp(site->module, module))
			continue;
		snprintf(name, sizeof(name), "%s:%s", module, site->symbol);
		site->addr = iot_symbol_find(name);
		site->owner = site->addr ? site->module : NULL;
		site->error = site->addr ? 0 : -ENOENT;
	}
	err = attach_part(set, module);
	if (err) {
		forget_module(set, module);
		detach_module(set, module, err);
	}
	return err;
}

/* Does one of the first @nr sites name the module? */
static bool names_module(const struct iot_hook_set *set, const char *module, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (set->sites[i].module && !strcmp(set->sites[i].module, module))
			return true;
	return false;
}

/* Attach the functions of each module that the sites name, each module once. Under modules_lock. */
static int attach_modules(struct iot_hook_set *set)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < set->nr; i++) {
		const char *module = set->sites[i].module;

		if (module && !names_module(set, module, i))
			err = attach_module(set, module);
	}
	return err;
}

static void detach_modules(struct iot_hook_set *set)
{
	unsigned int i;

	for (i = 0; i < set->nr; i++)
		if (set->sites[i].owner)
			detach_module(set, set->sites[i].owner, -ENOENT);
}

/* Show the set to the module notifier, and attach the functions of modules that are loaded. */
static int publish(struct iot_hook_set *set)
{
	int err;

	mutex_lock(&modules_lock);
	mutex_lock(&sets_lock);
	list_add_tail(&set->list, &sets);
	mutex_unlock(&sets_lock);
	err = attach_modules(set);
	mutex_unlock(&modules_lock);
	return err;
}

static void withdraw(struct iot_hook_set *set)
{
	mutex_lock(&modules_lock);
	mutex_lock(&sets_lock);
	list_del(&set->list);
	mutex_unlock(&sets_lock);
	detach_modules(set);
	mutex_unlock(&modules_lock);
}

/* Decide whether calls of the set may be redirected at all. Return: 0 or -ENOMEM. */
static int choose_way(struct iot_hook_set *set)
{
	int err;

	set->redirects = false;
	if (!set->call || !iot_param_redirect_allowed())
		return 0;
	err = set->unguarded ? 0 : iot_redirect_open();
	set->redirects = !err;
	return err == -ENOMEM ? err : 0;
}

/* Report a mismatch once, in full. Count one missed call, as their true number is unknown. */
static void report_refused(struct iot_site *site, const struct iot_btf_check *check)
{
	char text[IOT_BTF_TEXT];

	iot_symbol_print_found(check, text);
	pr_err("%s is not hooked, so %s is not traced there: \"%s\" is expected, the BTF of this kernel has \"%s\"\n",
	       site->symbol, site->what, site->proto, text);
	mutex_lock(&sets_lock);
	site->missed++;
	mutex_unlock(&sets_lock);
}

/* Check the kernel's own functions, at the first start. Return: 0 or -ENOMEM. */
static int check_prototypes(struct iot_hook_set *set)
{
	struct iot_btf_check *checks;
	unsigned int i;

	if (set->checked)
		return 0;
	checks = kvcalloc(set->nr, sizeof(*checks), GFP_KERNEL);
	if (!checks)
		return -ENOMEM;
	for (i = 0; i < set->nr; i++) {
		checks[i].name = set->sites[i].symbol;
		checks[i].proto = set->sites[i].addr ? set->sites[i].proto : NULL;
	}
	iot_btf_check(checks, set->nr);
	for (i = 0; i < set->nr; i++) {
		set->sites[i].match = checks[i].match;
		if (is_refused(&set->sites[i]))
			report_refused(&set->sites[i], &checks[i]);
	}
	kvfree(checks);
	set->checked = true;
	return 0;
}

/* Treat a function with an unexpected prototype as not found. Return: 0 or -ENOMEM. */
static int drop_misfits(struct iot_hook_set *set)
{
	int err = check_prototypes(set);
	unsigned int i;

	for (i = 0; !err && i < set->nr; i++) {
		if (!is_refused(&set->sites[i]))
			continue;
		set->sites[i].addr = 0;
		set->sites[i].error = -EPROTOTYPE;
	}
	return err;
}

static long __percpu *in_flight_of(const struct iot_hook_set *set)
{
#ifdef IOT_REDIRECT
	return set->unguarded ? &iot_redirect_guard_in_flight : &iot_redirect_in_flight;
#else
	return NULL;
#endif
}

static int prepare(struct iot_hook_set *set)
{
	unsigned int i;
	int err = drop_misfits(set);

	if (err)
		return err;
	INIT_LIST_HEAD(&set->groups);
	memset(set->table, 0, sizeof(set->table));
	for (i = 0; i < set->nr; i++) {
		INIT_HLIST_NODE(&set->sites[i].node);
		set->sites[i].set = set;
		set->sites[i].call = set->call;
		set->sites[i].in_flight = in_flight_of(set);
	}
	set->probes = kvcalloc(set->nr, sizeof(*set->probes), GFP_KERNEL);
	set->scratch = kvcalloc(set->nr, sizeof(*set->scratch), GFP_KERNEL);
	return set->probes && set->scratch ? choose_way(set) : -ENOMEM;
}

static void finish(struct iot_hook_set *set)
{
	detach_part(set, NULL);
	kvfree(set->scratch);
	kvfree(set->probes);
	set->scratch = NULL;
	set->probes = NULL;
}

/**
 * iot_hook_set_attach() - hook all functions of a set that the kernel has
 *
 * A function that cannot be hooked, or not in the cheapest way, is reported in
 * /proc/iotracer/hooks and does not affect the others. -ENOMEM is no reason for a more expensive
 * mechanism: it is returned, and the caller may try again. Context: task, may sleep for seconds
 * while the kernel patches its text; no other task attaches or detaches this set.
 * Return: 0, or -ENOMEM and nothing is hooked.
 */
int iot_hook_set_attach(struct iot_hook_set *set)
{
	int err = prepare(set);

	if (!err)
		err = attach_part(set, NULL);
	if (!err) {
		err = publish(set);
		if (err)
			withdraw(set);
	}
	if (err)
		finish(set);
	return err;
}

/**
 * iot_hook_set_detach() - detach all functions of a set
 *
 * No handler runs when it returns; calls that are in a wrapper continue. Context: as
 * for iot_hook_set_attach().
 */
void iot_hook_set_detach(struct iot_hook_set *set)
{
	withdraw(set);
	finish(set);
}

/* Does a started set name the module? Does not wait for a task that attaches functions. */
static bool is_named(const char *module)
{
	struct iot_hook_set *set;
	bool named = false;

	mutex_lock(&sets_lock);
	list_for_each_entry(set, &sets, list)
		named |= names_module(set, module, set->nr);
	mutex_unlock(&sets_lock);
	return named;
}

/**
 * iot_hook_set_module_coming() - attach the functions of a module before its init runs
 *
 * A set that is not in the list yet finds the module when it is started. Context: module
 * notifier, may sleep.
 */
void iot_hook_set_module_coming(const char *module)
{
	struct iot_hook_set *set;

	if (!is_named(module))
		return;
	mutex_lock(&modules_lock);
	list_for_each_entry(set, &sets, list)
		if (names_module(set, module, set->nr) && attach_module(set, module))
			pr_err("no memory to hook the functions of module %s\n", module);
	mutex_unlock(&modules_lock);
}

/**
 * iot_hook_set_module_going() - detach the functions of a module before its text is freed
 *
 * A set that is not in the list yet no longer finds the module. Context: module notifier,
 * may sleep.
 */
void iot_hook_set_module_going(const char *module)
{
	struct iot_hook_set *set;

	if (!is_named(module))
		return;
	mutex_lock(&modules_lock);
	list_for_each_entry(set, &sets, list) {
		forget_module(set, module);
		detach_module(set, module, -ENOENT);
	}
	mutex_unlock(&modules_lock);
}

/*
 * Find the kernel's own function of a name. Return: its address or 0. A function of a module with
 * the same name does not count: a site that means one has @module.
 */
static unsigned long kernel_symbol(const char *symbol)
{
	unsigned long addr = iot_symbol_find(symbol);

	return iot_symbol_is_kernels(addr) ? addr : 0;
}

/* A function of the kernel itself never moves, so it is looked up until it is found once. */
static void find_function(struct iot_site *site)
{
	if (!site->in_kernel)
		site->in_kernel = kernel_symbol(site->symbol);
	site->addr = site->in_kernel;
	site->error = site->addr ? 0 : -ENOENT;
}

/**
 * iot_hook_set_start() - look up the functions of a set by name, and attach them
 * @points:	@nr tracepoints of the set, attached after the functions
 *
 * Context: task, may sleep for seconds. Return: 0, or an error and nothing is
 * attached.
 */
int iot_hook_set_start(struct iot_hook_set *set, struct iot_point *points, size_t nr)
{
	unsigned int i;
	int err;

	for (i = 0; i < set->nr; i++)
		find_function(&set->sites[i]);
	err = iot_hook_set_attach(set);
	if (err)
		return err;
	err = iot_points_get(points, nr);
	if (err)
		iot_hook_set_detach(set);
	return err;
}

/** iot_hook_set_stop() - detach what iot_hook_set_start() has attached */
void iot_hook_set_stop(struct iot_hook_set *set, struct iot_point *points, size_t nr)
{
	iot_points_put(points, nr);
	iot_hook_set_detach(set);
}

/** iot_hook_set_own_missed() - do iot_hook_set_missed() without iot_redirect_refused() */
unsigned long iot_hook_set_own_missed(const struct iot_hook_set *set)
{
	unsigned long missed = 0;
	unsigned int i;

	mutex_lock(&sets_lock);
	for (i = 0; i < set->nr; i++)
		missed += site_missed(&set->sites[i]);
	mutex_unlock(&sets_lock);
	return missed;
}

/** iot_hook_set_missed() - count the calls that could not be followed */
unsigned long iot_hook_set_missed(const struct iot_hook_set *set)
{
	return iot_hook_set_own_missed(set) + iot_redirect_refused();
}

/** iot_hook_set_show() - print a line per function, like iot_hook_show() */
void iot_hook_set_show(struct seq_file *m)
{
	struct iot_hook_set *set;
	unsigned int i;

	mutex_lock(&sets_lock);
	list_for_each_entry(set, &sets, list)
		for (i = 0; i < set->nr; i++) {
			const struct iot_site *site = &set->sites[i];

			seq_printf(m, "%s %s %s %u %lu %s %d\n", site->symbol, site->what,
				   mechanism_names[site->mechanism],
				   site->mechanism != IOT_HOOK_DETACHED, site_missed(site),
				   match_names[site->match], site->error);
		}
	mutex_unlock(&sets_lock);
}
