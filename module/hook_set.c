// SPDX-License-Identifier: GPL-2.0
/*
 * A set of hooks: many functions that are attached and let go at once.
 *
 * An ftrace handler that wants a call sends it to the stub of its site (hook_enter.S),
 * which knows it by nothing but that: BPF's trampoline may come between (fentry, fexit
 * on the same function), and what it keeps are the function's arguments only. The
 * stub keeps the arguments, asks the set's wrapper, and either returns what the
 * wrapper says, or, where that is IOT_HOOK_ALONE, goes on into the function with
 * nothing of ours on the stack: so a call that turns out to be able to sleep
 * without bound does not hold the module. As in hook.c a redirected call is in
 * flight from the handler to the wrapper's end.
 *
 * Calls that may sleep without bound are followed by their return address: see
 * iot_hook_follow().
 *
 * Where redirecting is not possible or not allowed each function gets a kretprobe of
 * the usual kind. The handlers of either may not sleep.
 */
#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "hook.h"
#include "hook_set.h"
#include "hook_stub.h"
#include "param.h"

static const char * const mechanism_names[] = {
	[IOT_HOOK_DETACHED] = "detached",
	[IOT_HOOK_REDIRECT] = "redirect",
	[IOT_HOOK_ENTRY] = "entry",
	[IOT_HOOK_KRETPROBE] = "kretprobe",
	[IOT_HOOK_FALLBACK] = "kretprobe-names-as-given",
};

/*
 * Of the list, and of what a site tells about itself. Held for moments, so that who
 * reads does not wait for hundreds of functions: the owner of a set attaches and
 * detaches it, one at a time.
 */
static DEFINE_MUTEX(sets_lock);
static LIST_HEAD(sets);

static bool follows_return(const struct iot_hook_site *site)
{
	return site->unbounded || site->sometimes;
}

#ifdef IOT_REDIRECT
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

	mutex_lock(&sets_lock);
	if (!site->stub && nr_stubs == IOT_HOOK_STUBS) {
		err = -ENOSPC;
	} else if (!site->stub) {
		iot_hook_stubbed[nr_stubs] = site;
		site->stub = (unsigned long)iot_hook_stubs + nr_stubs++ * IOT_HOOK_STUB_SIZE;
	}
	mutex_unlock(&sets_lock);
	return err;
}

/* Called by the stubs. */
s64 iot_hook_stub_call(unsigned long *args, struct iot_hook_site *site)
{
	s64 ret = site->set->call(site, args);

	iot_hook_leave();
	return ret;
}

static struct hlist_head *bucket_of(struct iot_hook_set *set, unsigned long ip)
{
	return &set->table[hash_long(iot_hook_key(ip), IOT_HOOK_SET_BITS)];
}

/* What the ftrace handler looks at. */
static bool is_handled(const struct iot_hook_site *site)
{
	return site->addr && (!follows_return(site) || site->krp);
}

/* Where its body goes on, which ftrace tells only now. */
static void note_entry(struct iot_hook_site *site, unsigned long ip)
{
	if (unlikely(!site->entry))
		WRITE_ONCE(site->entry, ip + MCOUNT_INSN_SIZE);
}

/** iot_hook_site_redirect() - send a call to the stub of its site. Context: the handler's */
void iot_hook_site_redirect(struct iot_hook_site *site, unsigned long ip,
			    struct pt_regs *regs)
{
	note_entry(site, ip);
	this_cpu_inc(iot_hook_inflight);
	regs->ip = site->stub;
}

/** iot_hook_site_go_on() - see iot_hook_site_pass() */
void iot_hook_site_go_on(struct iot_hook_site *site, unsigned long ip,
			 struct pt_regs *regs)
{
	note_entry(site, ip);
	regs->ip = (unsigned long)iot_hook_passes + site->stub - (unsigned long)iot_hook_stubs;
}

/** iot_hook_site_follow() - follow a call by its return. Context: the handler's */
void iot_hook_site_follow(const struct iot_hook_site *site, struct pt_regs *regs)
{
	preempt_disable_notrace();
	iot_hook_follow(site->krp, regs);
	preempt_enable_notrace();
}

/*
 * Of the sites of a function the first that wants the call has it. The table does
 * not change while the ops are registered.
 */
static void handler(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		    struct ftrace_regs *fregs)
{
	struct iot_hook_set *set = ops->private;
	struct pt_regs *regs = iot_ftrace_regs(fregs);
	unsigned long args[IOT_HOOK_ARGS] IOT_UNINITIALIZED;
	struct iot_hook_site *site, *stubbed = NULL;
	enum iot_hook_wish wish;

	args[0] = regs->di;
	args[1] = regs->si;
	args[2] = regs->dx;
	args[3] = regs->cx;
	args[4] = regs->r8;
	hlist_for_each_entry(site, bucket_of(set, ip), node) {
		if (iot_hook_key(site->addr) != iot_hook_key(ip))
			continue;
		if (site->stub)
			stubbed = site;
		wish = set->wants(site, args, parent_ip);
		if (wish == IOT_HOOK_IGNORE)
			continue;
		if (wish == IOT_HOOK_FOLLOW && likely(!site->unbounded)) {
			iot_hook_site_redirect(site, ip, regs);
			return;
		}
		iot_hook_site_follow(site, regs);
		break;
	}
	if (stubbed)
		iot_hook_site_pass(stubbed, ip, regs);
}

static void fill_table(struct iot_hook_set *set)
{
	unsigned int i;

	memset(set->table, 0, sizeof(set->table));
	for (i = 0; i < set->nr; i++) {
		struct iot_hook_site *site = &set->sites[i];

		site->set = set;
		if (is_handled(site))
			hlist_add_head(&site->node, bucket_of(set, site->addr));
	}
}

static int give_stubs(struct iot_hook_set *set)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && set->call && i < set->nr; i++)
		if (is_handled(&set->sites[i]) && !set->sites[i].unbounded)
			err = iot_hook_stub_get(&set->sites[i]);
	return err;
}

static unsigned long redirect_flags(const struct iot_hook_set *set)
{
	return set->call ? FTRACE_OPS_FL_IPMODIFY : 0;
}

/* Attach the sites that have this handler, @unbounded or not; there may be none. */
static int register_ops(struct iot_hook_set *set, struct ftrace_ops *ops,
			ftrace_func_t own, bool unbounded)
{
	unsigned long *ips;
	unsigned int i, n = 0;
	int err;

	ips = kcalloc(set->nr, sizeof(*ips), GFP_KERNEL);
	if (!ips)
		return -ENOMEM;
	for (i = 0; i < set->nr; i++) {
		const struct iot_hook_site *site = &set->sites[i];

		if (is_handled(site) && site->handler == own && site->unbounded == unbounded)
			ips[n++] = site->addr;
	}
	err = iot_ftrace_attach(ops, own ?: handler, unbounded ? 0 : redirect_flags(set), set,
				ips, n);
	kfree(ips);
	return err;
}

/* Is it the first site with this handler? Sites that share one share its ops. */
static bool is_first_own(const struct iot_hook_set *set, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (set->sites[i].handler == set->sites[nr].handler)
			return false;
	return set->sites[nr].handler;
}

static int register_own(struct iot_hook_set *set)
{
	unsigned int i, n = 0;
	int err = 0;

	for (i = 0; i < set->nr; i++)
		n += is_first_own(set, i);
	if (!n)
		return 0;
	set->own_ops = kcalloc(n, sizeof(*set->own_ops), GFP_KERNEL);
	if (!set->own_ops)
		return -ENOMEM;
	for (i = 0; !err && i < set->nr; i++)
		if (is_first_own(set, i))
			err = register_ops(set, &set->own_ops[set->nr_own++],
					   set->sites[i].handler, false);
	return err;
}

/*
 * The kernel has waited for all that are in a handler, and in the trampolines of the
 * ops, when this returns.
 */
static void detach_handlers(struct iot_hook_set *set)
{
	bool done = true;

	while (set->nr_own)
		done &= iot_ftrace_detach(&set->own_ops[--set->nr_own]);
	if (done)
		kfree(set->own_ops);
	set->own_ops = NULL;
	iot_ftrace_detach(&set->follow_ops);
	iot_ftrace_detach(&set->ops);
}

static enum iot_hook_mechanism mechanism_of(const struct iot_hook_site *site)
{
	if (site->unbounded)
		return IOT_HOOK_KRETPROBE;
	return site->set->call ? IOT_HOOK_REDIRECT : IOT_HOOK_ENTRY;
}

/* All that is handled; after an error some may be. */
static int attach_handlers(struct iot_hook_set *set)
{
	unsigned int i;
	int err;

	fill_table(set);
	err = give_stubs(set);
	if (!err)
		err = register_ops(set, &set->ops, NULL, false);
	if (!err)
		err = register_ops(set, &set->follow_ops, NULL, true);
	if (!err)
		err = register_own(set);
	for (i = 0; !err && i < set->nr; i++)
		if (is_handled(&set->sites[i]))
			set->sites[i].mechanism = mechanism_of(&set->sites[i]);
	return err;
}
#else
static int attach_handlers(struct iot_hook_set *set)
{
	return -EOPNOTSUPP;
}

static void detach_handlers(struct iot_hook_set *set)
{
}
#endif

/* A kretprobe and whose it is. */
struct iot_hook_probe {
	struct kretprobe krp;
	struct iot_hook_site *site;
};

/** iot_hook_site_of() - whose kretprobe it is. Context: its entry handler. */
const struct iot_hook_site *iot_hook_site_of(struct kretprobe_instance *ri)
{
	return container_of(get_kretprobe(ri), struct iot_hook_probe, krp)->site;
}

/*
 * Where all functions have kretprobes, few are at work at a time; those chosen to
 * have one because they wait may be many.
 */
static int max_active(const struct iot_hook_site *site)
{
	return follows_return(site) ? iot_param_maxactive() :
				      max_t(int, 32, 4 * num_possible_cpus());
}

/*
 * @flags: KPROBE_FLAG_DISABLED: the ftrace handler gives it its calls.
 * Return: 0, also if it cannot be hooked, which is told; or -ENOMEM.
 */
static int attach_probe(struct iot_hook_set *set, struct iot_hook_probe *probe,
			struct iot_hook_site *site, u32 flags)
{
	probe->site = site;
	site->armed = !flags; /* the handlers ask */
	probe->krp.kp.addr = (kprobe_opcode_t *)site->addr;
	probe->krp.kp.flags = flags;
	probe->krp.entry_handler = set->entry;
	probe->krp.handler = set->exit;
	probe->krp.data_size = set->data_size;
	probe->krp.maxactive = max_active(site);
	site->error = register_kretprobe(&probe->krp);
	if (site->error == -ENOMEM)
		return -ENOMEM;
	if (site->error) {
		pr_err("cannot hook %s (%s): error %d; is it excluded from probing, or are ftrace and kprobes disabled?\n",
		       site->symbol, site->what, site->error);
		return 0;
	}
	set->registered[set->nr_registered++] = &probe->krp;
	mutex_lock(&sets_lock);
	site->krp = &probe->krp;
	site->mechanism = site->unbounded ? IOT_HOOK_KRETPROBE : IOT_HOOK_FALLBACK;
	mutex_unlock(&sets_lock);
	return 0;
}

/* One for each function; disabled ones only for those whose returns are followed. */
static int attach_probes(struct iot_hook_set *set, u32 flags)
{
	unsigned int i;
	int err = 0;

	set->probes = kvcalloc(set->nr, sizeof(*set->probes), GFP_KERNEL);
	set->registered = kvcalloc(set->nr, sizeof(*set->registered), GFP_KERNEL);
	if (!set->probes || !set->registered)
		return -ENOMEM;
	for (i = 0; !err && i < set->nr; i++)
		if (set->sites[i].addr && (!flags || follows_return(&set->sites[i])))
			err = attach_probe(set, &set->probes[i], &set->sites[i], flags);
	return err;
}

/* Under sets_lock. */
static unsigned long site_missed(const struct iot_hook_site *site)
{
	if (!site->krp)
		return site->missed;
	return site->missed + iot_hook_probe_missed(site->krp, site->armed);
}

static void detach_probes(struct iot_hook_set *set)
{
	unsigned int i;

	if (set->nr_registered)
		unregister_kretprobes(set->registered, set->nr_registered);
	set->nr_registered = 0;
	mutex_lock(&sets_lock);
	for (i = 0; i < set->nr; i++) {
		set->sites[i].missed = site_missed(&set->sites[i]);
		set->sites[i].krp = NULL;
	}
	mutex_unlock(&sets_lock);
	kvfree(set->registered);
	kvfree(set->probes);
	set->registered = NULL;
	set->probes = NULL;
}

static void detach(struct iot_hook_set *set)
{
	unsigned int i;

	detach_handlers(set);
	detach_probes(set);
	for (i = 0; i < set->nr; i++)
		set->sites[i].mechanism = IOT_HOOK_DETACHED;
}

/* By the ftrace handlers; after an error some may be. */
static int attach_handled(struct iot_hook_set *set)
{
	int err = attach_probes(set, KPROBE_FLAG_DISABLED);

	return err ?: attach_handlers(set);
}

/**
 * iot_hook_set_attach() - hook all functions of a set that the kernel has
 *
 * One that cannot be hooked is told in /proc/iotracer/hooks and does not hinder
 * the others. Want of memory is no reason for the dearer way: the caller is told,
 * and may try again. Context: task, may sleep long: the kernel patches its text;
 * nobody else attaches or detaches this set.
 * Return: 0 or -ENOMEM, then nothing is hooked.
 */
int iot_hook_set_attach(struct iot_hook_set *set)
{
	int err;

	err = iot_param_redirect_allowed() ? attach_handled(set) : -EOPNOTSUPP;
	if (err && err != -ENOMEM) {
		detach(set);
		err = attach_probes(set, 0);
	}
	if (err) {
		detach(set);
		return err;
	}
	mutex_lock(&sets_lock);
	list_add_tail(&set->list, &sets);
	mutex_unlock(&sets_lock);
	return 0;
}

/**
 * iot_hook_set_detach() - let go of all
 *
 * No handler runs when it returns; calls that are in a wrapper go on. Context: as of
 * iot_hook_set_attach().
 */
void iot_hook_set_detach(struct iot_hook_set *set)
{
	mutex_lock(&sets_lock);
	list_del(&set->list);
	mutex_unlock(&sets_lock);
	detach(set);
}

/**
 * iot_hook_set_start() - find the functions of a set by name, and attach them
 * @points:	@nr tracepoints that belong to it, attached after them
 *
 * Context: task, may sleep long. Return: 0, or an error: then nothing is attached.
 */
int iot_hook_set_start(struct iot_hook_set *set, struct iot_hook_point *points, size_t nr)
{
	unsigned int i;
	int err;

	for (i = 0; i < set->nr; i++)
		set->sites[i].addr = iot_hook_symbol(set->sites[i].symbol);
	err = iot_hook_set_attach(set);
	if (err)
		return err;
	err = iot_hook_points_get(points, nr);
	if (err)
		iot_hook_set_detach(set);
	return err;
}

/** iot_hook_set_stop() - let go what iot_hook_set_start() has attached */
void iot_hook_set_stop(struct iot_hook_set *set, struct iot_hook_point *points, size_t nr)
{
	iot_hook_points_put(points, nr);
	iot_hook_set_detach(set);
}

/** iot_hook_set_missed() - calls that could not be followed */
unsigned long iot_hook_set_missed(const struct iot_hook_set *set)
{
	unsigned long missed = 0;
	unsigned int i;

	mutex_lock(&sets_lock);
	for (i = 0; i < set->nr; i++)
		missed += site_missed(&set->sites[i]);
	mutex_unlock(&sets_lock);
	return missed;
}

/** iot_hook_set_show() - a line for each function, as in iot_hook_show() */
void iot_hook_set_show(struct seq_file *m)
{
	struct iot_hook_set *set;
	unsigned int i;

	mutex_lock(&sets_lock);
	list_for_each_entry(set, &sets, list)
		for (i = 0; i < set->nr; i++) {
			const struct iot_hook_site *site = &set->sites[i];

			seq_printf(m, "%s %s %s %u %lu %d\n", site->symbol, site->what,
				   mechanism_names[site->mechanism],
				   site->mechanism != IOT_HOOK_DETACHED,
				   site_missed(site), site->error);
		}
	mutex_unlock(&sets_lock);
}

#ifdef IOT_REDIRECT
static DEFINE_MUTEX(symbol_lock);
static iot_hook_symbol_fn symbol_fn; /* under symbol_lock */

#ifdef IOT_HAVE_KALLSYMS_EACH_WITHOUT_MODULE
static int each_symbol(void *data, const char *name, unsigned long addr)
{
	symbol_fn(name, addr);
	return 0;
}
#else
static int each_symbol(void *data, const char *name, struct module *mod, unsigned long addr)
{
	symbol_fn(name, addr);
	return 0;
}
#endif

/**
 * iot_hook_symbols() - all functions and variables of the kernel by name
 *
 * kallsyms_on_each_symbol() is not exported, so it has no ENDBR where the kernel
 * seals what is called directly only: iot_hook_enter() does not need one.
 * Context: task, may sleep. Return: 0, or -EOPNOTSUPP: this kernel does not tell.
 */
int iot_hook_symbols(iot_hook_symbol_fn fn)
{
	unsigned long addr = iot_hook_symbol("kallsyms_on_each_symbol");

	if (!addr)
		return -EOPNOTSUPP;
	mutex_lock(&symbol_lock);
	symbol_fn = fn;
	iot_hook_enter((void *)each_symbol, NULL, addr);
	mutex_unlock(&symbol_lock);
	return 0;
}
#else
int iot_hook_symbols(iot_hook_symbol_fn fn)
{
	return -EOPNOTSUPP;
}
#endif
