// SPDX-License-Identifier: GPL-2.0
/*
 * Sets of hooks: many functions that are found by name, attached and detached at once.
 *
 * An ftrace handler that wants a call sends it to the stub of its site (site.c). The stub saves
 * the arguments and calls the set's wrapper. Then it either returns the wrapper's result or, for
 * IOT_HOOK_PASS_THROUGH, continues into the function with nothing of ours on the stack. So a call
 * that turns out to be unbounded does not keep the module loaded.
 *
 * Calls that may be unbounded are followed by their return address, see iot_kretprobe_follow().
 * So are the calls of a function that cannot be redirected, because another user such as a
 * livepatch redirects it, or that may not be redirected (attach=entry).
 *
 * The owner of a set starts and stops it, one task at a time. The functions of the kernel itself
 * are attached before the set's sites are shown, and detached after that: the engine's lock is held
 * only for functions of modules, which the module notifier attaches and detaches, too.
 */
#include <linux/rculist.h>
#include <linux/slab.h>
#include "core/param.h"
#include "hook/enter.h"
#include "hook/hook_set.h"
#include "hook/point.h"
#include "hook/redirect.h"
#include "hook/symbol.h"

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

#ifdef IOT_REDIRECT
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
	hlist_for_each_entry_rcu_notrace(site, iot_hook_set_bucket(set, entry), node) {
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

#else
#define iot_hook_set_handle NULL
#endif

/* Decide whether calls of the set may be redirected at all. Return: 0 if so, or an error. */
static int open_redirection(const struct iot_hook_set *set)
{
	if (!set->call || !iot_param_redirect_allowed())
		return -EOPNOTSUPP;
	return set->unguarded ? 0 : iot_redirect_open();
}

/* Report a mismatch once, in full. Count one missed call, as their true number is unknown. */
static void report_refused(struct iot_site *site, const struct iot_btf_check *check)
{
	char text[IOT_BTF_TEXT];

	iot_symbol_print_found(check, text);
	pr_err("%s is not hooked, so %s is not traced there: \"%s\" is expected, the BTF of this kernel has \"%s\"\n",
	       site->symbol, site->what, site->proto, text);
	iot_site_miss(site);
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
	int err = drop_misfits(set) ?: open_redirection(set);
	unsigned int i;

	if (err == -ENOMEM)
		return err;
	set->handle = iot_hook_set_handle;
	set->returns = (struct iot_kretprobe_type){
		.entry = set->entry, .exit = set->exit, .data_size = set->data_size,
	};
	for (i = 0; i < set->nr; i++) {
		struct iot_site *site = &set->sites[i];

		site->set = set;
		site->call = set->call;
		site->in_flight = in_flight_of(set);
		site->returns = &set->returns;
		site->may_redirect = !err && !site->unbounded;
	}
	return 0;
}

/* Collect the sites whose functions are the kernel's own. */
static void gather(struct iot_hook_set *set, struct list_head *list)
{
	unsigned int i;

	for (i = 0; i < set->nr; i++)
		if (set->sites[i].addr && !set->sites[i].owner)
			list_add_tail(&set->sites[i].link, list);
}

static void detach_own(struct iot_hook_set *set)
{
	LIST_HEAD(list);

	gather(set, &list);
	iot_sites_detach(&list);
}

static int attach_own(struct iot_hook_set *set)
{
	LIST_HEAD(list);
	int err;

	gather(set, &list);
	err = iot_sites_attach(&list);
	if (err)
		iot_sites_detach(&list);
	return err;
}

/* Hide the set from the module notifier, and detach the functions of modules. */
static void withdraw(struct iot_hook_set *set)
{
	unsigned int i;

	iot_engine_lock();
	iot_sites_detach_modules(set, NULL);
	for (i = 0; i < set->nr; i++)
		iot_site_remove(&set->sites[i]);
	iot_engine_unlock();
}

/* Show the set to the module notifier, and attach the functions of modules that are loaded. */
static int publish(struct iot_hook_set *set)
{
	unsigned int i;
	int err;

	iot_engine_lock();
	for (i = 0; i < set->nr; i++)
		iot_site_add(&set->sites[i]);
	err = iot_sites_attach_modules(set, NULL);
	iot_engine_unlock();
	if (err)
		withdraw(set);
	return err;
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
	int err = prepare(set) ?: attach_own(set);

	if (err)
		return err;
	err = publish(set);
	if (err)
		detach_own(set);
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
	detach_own(set);
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
	return iot_sites_missed(set->sites, set->nr);
}

/** iot_hook_set_missed() - count the calls that could not be followed */
unsigned long iot_hook_set_missed(const struct iot_hook_set *set)
{
	return iot_hook_set_own_missed(set) + iot_redirect_refused();
}
