// SPDX-License-Identifier: GPL-2.0
/*
 * How a function is attached and safely detached.
 *
 * A function is attached in the cheapest way that the running kernel allows:
 *
 *   redirect	an ftrace_ops whose handler, for the calls that it wants, moves
 *		the instruction pointer to a wrapper, as livepatch does. The wrapper
 *		calls the original function after its entry site. Every other call
 *		costs only the filter in the handler.
 *   kretprobe	if redirecting is not possible (architecture, a livepatch on the
 *		same function) or not allowed: attach=entry, or the function may
 *		sleep without bound and must not have a frame of ours on its stack.
 *		If possible, all kretprobes get their calls from one ftrace_ops:
 *		see iot_kretprobe_follow().
 *
 * Lifetime: a hook exists while a reference to it is held, and is attached while it
 * has users. The first iot_hook_enable() attaches it, the last iot_hooks_disable()
 * detaches it. unregister_ftrace_function() returns when no task is in the handler
 * or its trampoline (it waits for RCU tasks, since the ops are not in the kernel's
 * image). unregister_kretprobe() returns when no handler runs. A redirected call is
 * counted per CPU by the handler, before it enters our text, and uncounted as the
 * last act of the wrapper. Unloading starts only if the sum is zero, or becomes
 * zero soon (unload.c). It then waits for RCU tasks, so that a task preempted
 * between that last act and its return has left our text too.
 *
 * When the module that owns a hooked function is unloaded, the hook is detached
 * before the module's text is freed. When the module is loaded again, the function
 * is looked up again by its name.
 */
#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "core/param.h"
#include "hook/hook.h"
#include "hook/hook_set.h"
#include "hook/kretprobe.h"
#include "hook/point.h"
#include "hook/redirect.h"
#include "hook/symbol.h"
#include "hook/unload.h"

enum mechanism {
	DETACHED,
	REDIRECT,
	KRETPROBE,
};

static const char * const mechanism_names[] = {
	[DETACHED] = "detached",
	[REDIRECT] = "redirect",
	[KRETPROBE] = "kretprobe",
};

struct iot_hook {
	struct list_head list;
	const struct iot_hook_type *type;
	unsigned long addr;	/* 0 while its module is not loaded */
	unsigned long entry;	/* see iot_redirect_entry() */
	char symbol[KSYM_NAME_LEN];
	char module[MODULE_NAME_LEN];
	unsigned int holders;
	unsigned int users;	/* users that have enabled the hook */
	bool may_redirect;
	bool going;		/* being detached: the end of a new call may not be seen */
	bool followed;		/* the kretprobe gets its calls from follow() */
	bool armed;		/* the kretprobe gets its calls from a kprobe */
	struct hlist_node node;	/* in followed[] if @followed, under RCU */
	enum mechanism mechanism;
	int error;		/* why the function is not attached, or not redirected */
	unsigned long missed;	/* calls missed by earlier attachments */
	struct ftrace_ops ops;
	struct kretprobe krp;
};

/*
 * Serialises changes of all hooks, also while one is attached or detached. The
 * module notifier takes it too.
 */
static DEFINE_MUTEX(hook_lock);

/* Protects @missed and @mechanism for readers that must not wait for hook_lock. */
static DEFINE_SPINLOCK(missed_lock);

/* Changed under hook_lock and list_lock; read under either. */
static LIST_HEAD(hooks);
static DEFINE_SPINLOCK(list_lock);

#ifdef IOT_REDIRECT
/*
 * Redirected functions and their stubs. A call that may pass through BPF's trampoline arrives
 * with only its arguments, so it goes to the stub of its function. Stubs are never freed: a
 * function keeps its entry here until its module is unloaded.
 */
#define MAX_BARE	128

static struct iot_site bare[MAX_BARE];
static unsigned int nr_bare;	/* only grows, under hook_lock */

/* Called by a stub instead of the wrapper: runs the handler again and does what it decides. */
static s64 call_bare(const struct iot_site *site, unsigned long *args)
{
	const struct iot_hook_type *type = site->data;
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

static struct iot_site *find_bare(unsigned long entry)
{
	unsigned int i, n = smp_load_acquire(&nr_bare); /* pairs with need_bare() */

	for (i = 0; i < n; i++)
		if (READ_ONCE(bare[i].entry) == entry)
			return &bare[i];
	return NULL;
}

/* Return: 0; -ENOSPC: too many functions; -EBUSY: the function is hooked with another type. */
static int need_bare(const struct iot_hook *hook)
{
	struct iot_site *site = find_bare(hook->entry);
	int err;

	if (site)
		return site->data == hook->type ? 0 : -EBUSY;
	site = find_bare(0) ?: &bare[nr_bare];
	if (site == &bare[MAX_BARE])
		return -ENOSPC;
	err = iot_stub_get(site);
	if (err)
		return err;
	site->call = call_bare;
	site->in_flight = &iot_redirect_in_flight;
	site->data = hook->type;
	WRITE_ONCE(site->addr, hook->addr);
	WRITE_ONCE(site->entry, hook->entry);
	if (site == &bare[nr_bare])
		smp_store_release(&nr_bare, nr_bare + 1); /* the entry is complete */
	return 0;
}

static bool has_bare(const struct module *mod)
{
	unsigned int i, n = smp_load_acquire(&nr_bare); /* pairs with need_bare() */

	for (i = 0; i < n; i++)
		if (within_module(READ_ONCE(bare[i].addr), mod))
			return true;
	return false;
}

/* Forget the functions of a module that is being unloaded. No task can be in them any more. */
static void forget_bare(struct module *mod)
{
	unsigned int i;

	for (i = 0; i < nr_bare; i++)
		if (within_module(bare[i].addr, mod)) {
			WRITE_ONCE(bare[i].addr, 0);
			WRITE_ONCE(bare[i].entry, 0);
		}
}

/** iot_hook_send_bare() - send a call to its function's stub. Context: ftrace handler */
void iot_hook_send_bare(struct iot_regs *regs, unsigned long ip)
{
	struct iot_site *site = find_bare(iot_redirect_entry_of(ip));

	if (!WARN_ON_ONCE(!site))
		iot_site_redirect(site, ip, regs);
}

static int attach_redirect(struct iot_hook *hook)
{
	int err;

	if (!hook->type->ftrace || !hook->may_redirect ||
	    !iot_param_redirect_allowed())
		return -EOPNOTSUPP;
	if (!hook->entry)
		return -ENXIO;
	err = iot_redirect_open();
	if (err)
		return err;
	err = need_bare(hook);
	if (err)
		return err;
	return iot_redirect_attach(&hook->ops, hook->type->ftrace, FTRACE_OPS_FL_IPMODIFY, NULL,
				 &hook->addr, 1);
}

static void detach_redirect(struct iot_hook *hook)
{
	iot_redirect_detach(&hook->ops);
}

#define FOLLOWED_BITS	8

static struct hlist_head followed[1 << FOLLOWED_BITS];
static unsigned int nr_followed;

static struct hlist_head *followed_bucket(unsigned long entry)
{
	return &followed[hash_long(entry, FOLLOWED_BITS)];
}

/* The handler of follow_ops. Context: entry of a followed function, preemption on. */
static void follow(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		   struct ftrace_regs *fregs)
{
	unsigned long entry = iot_redirect_entry_of(ip);
	struct iot_hook *hook;

	preempt_disable_notrace();
	hlist_for_each_entry_rcu_notrace(hook, followed_bucket(entry), node)
		if (hook->entry == entry)
			iot_kretprobe_follow(&hook->krp, iot_ftrace_regs(fregs));
	preempt_enable_notrace();
}

/* Registered while there is a function to follow, so that its filter is never empty. */
static struct ftrace_ops follow_ops;

static int follow_begin(struct iot_hook *hook)
{
	int err = nr_followed ? ftrace_set_filter_ip(&follow_ops, hook->addr, 0, 0) :
				iot_redirect_attach(&follow_ops, follow, 0, NULL, &hook->addr, 1);

	if (err)
		return err;
	nr_followed++;
	hook->followed = true;
	hlist_add_head_rcu(&hook->node, followed_bucket(hook->entry));
	return 0;
}

static bool is_followed(unsigned long entry)
{
	struct iot_hook *hook;

	hlist_for_each_entry(hook, followed_bucket(entry), node)
		if (hook->entry == entry)
			return true;
	return false;
}

/*
 * The handler may still use the hook: the caller waits for a grace period. If there is no
 * memory for a smaller filter the function stays in it, and its calls find no hook.
 */
static void follow_end(struct iot_hook *hook)
{
	hlist_del_rcu(&hook->node);
	hook->followed = false;
	if (!--nr_followed)
		iot_redirect_detach(&follow_ops);
	else if (!is_followed(hook->entry))
		ftrace_set_filter_ip(&follow_ops, hook->addr, 1, 0);
}
#else
static int attach_redirect(struct iot_hook *hook)
{
	return -EOPNOTSUPP;
}

static void detach_redirect(struct iot_hook *hook)
{
}

static bool has_bare(const struct module *mod)
{
	return false;
}

static void forget_bare(struct module *mod)
{
}

static int follow_begin(struct iot_hook *hook)
{
	return -EOPNOTSUPP;
}

static void follow_end(struct iot_hook *hook)
{
}
#endif

static int attach_kretprobe(struct iot_hook *hook, u32 flags)
{
	const struct iot_kretprobe_type type = {
		.entry = hook->type->entry,
		.exit = hook->type->exit,
		.data_size = hook->type->data_size,
		.maxactive = iot_param_maxactive(),
	};

	WRITE_ONCE(hook->going, false);
	hook->armed = !flags;
	return iot_kretprobe_register(&hook->krp, hook->addr, flags, &type);
}

/* The kretprobe gets its calls from follow() or, if that is impossible or disallowed, a kprobe. */
static int attach_return(struct iot_hook *hook)
{
	int err;

	if (!iot_param_handlers_allowed())
		return attach_kretprobe(hook, 0);
	err = attach_kretprobe(hook, KPROBE_FLAG_DISABLED);
	if (err)
		return err;
	err = hook->entry && iot_kretprobe_is_followable(&hook->krp) ?
		follow_begin(hook) : -EOPNOTSUPP;
	if (err && err != -ENOMEM) {
		err = enable_kretprobe(&hook->krp);
		hook->armed = !err;
	}
	if (err)
		unregister_kretprobe(&hook->krp);
	return err;
}

static unsigned long missed_now(const struct iot_hook *hook)
{
	if (hook->mechanism != KRETPROBE)
		return 0;
	return iot_kretprobe_missed(&hook->krp, hook->armed);
}

/* Change the mechanism and add the calls that the old one has missed to @missed, in one step. */
static void set_mechanism(struct iot_hook *hook, enum mechanism mechanism)
{
	spin_lock(&missed_lock);
	hook->missed += missed_now(hook);
	hook->mechanism = mechanism;
	spin_unlock(&missed_lock);
}

/*
 * A function whose module is not loaded is attached by module_live(). -ENOMEM is no reason
 * for a more expensive mechanism: it is returned, and the caller may try again.
 */
static int attach(struct iot_hook *hook)
{
	int refused, err;

	hook->error = 0;
	if (!hook->addr)
		return 0;
	hook->entry = iot_redirect_entry(hook->addr);
	refused = attach_redirect(hook);
	if (!refused) {
		set_mechanism(hook, REDIRECT);
		return 0;
	}
	err = refused == -ENOMEM ? refused : attach_return(hook);
	if (!err) {
		/* a function that is not to be redirected has no error */
		hook->error = refused == -EOPNOTSUPP ? 0 : refused;
		set_mechanism(hook, KRETPROBE);
		return 0;
	}
	hook->error = err;
	if (err != -ENOMEM)
		pr_err("cannot hook %s (%s): error %d; is it excluded from probing, or are ftrace and kprobes disabled?\n",
		       hook->symbol, hook->type->name, err);
	return err;
}

/** iot_hook_is_going() - check whether the end of a new call may not be seen. Context: @entry */
bool iot_hook_is_going(const struct kretprobe *krp)
{
	return READ_ONCE(container_of(krp, struct iot_hook, krp)->going);
}

#define BATCH	32

/*
 * Detach at most BATCH kretprobes; the kernel waits once for all of them. The first ones stop
 * seeing the end of calls while others still see new calls start, so all are marked as going
 * first.
 */
static void detach_kretprobes(struct iot_hook **hooks, unsigned int n)
{
	struct kretprobe *krps[BATCH];
	unsigned int i;

	for (i = 0; i < n; i++) {
		WRITE_ONCE(hooks[i]->going, true);
		if (hooks[i]->followed)
			follow_end(hooks[i]);
		krps[i] = &hooks[i]->krp;
	}
	synchronize_rcu(); /* handlers see @going, and follow() uses none of the hooks any more */
	for (i = 0; i < n; i++)
		if (hooks[i]->type->forget)
			hooks[i]->type->forget(krps[i]);
	unregister_kretprobes(krps, n);
}

static void detach(struct iot_hook **hooks, unsigned int n)
{
	struct iot_hook *probed[BATCH];
	unsigned int i, nr_probed = 0;

	for (i = 0; i < n; i++) {
		if (hooks[i]->mechanism == REDIRECT)
			detach_redirect(hooks[i]);
		if (hooks[i]->mechanism == KRETPROBE)
			probed[nr_probed++] = hooks[i];
	}
	if (nr_probed)
		detach_kretprobes(probed, nr_probed);
	for (i = 0; i < n; i++)
		set_mechanism(hooks[i], DETACHED);
}

static struct iot_hook *find(const struct iot_hook_type *type,
			     unsigned long addr)
{
	struct iot_hook *hook;

	list_for_each_entry(hook, &hooks, list)
		if (hook->type == type && hook->addr == addr)
			return hook;
	return NULL;
}

/* Set the name that is shown: "function" or "function [module]". */
static void name_it(struct iot_hook *hook)
{
	char text[KSYM_SYMBOL_LEN], *module;

	snprintf(text, sizeof(text), "%ps", (void *)hook->addr);
	module = strchr(text, ' ');
	if (module) {
		*module++ = '\0';
		strscpy(hook->module, module + 1, sizeof(hook->module));
		strreplace(hook->module, ']', '\0');
	}
	strscpy(hook->symbol, text, sizeof(hook->symbol));
}

static struct iot_hook *create(const struct iot_hook_type *type,
			       unsigned long addr, bool may_redirect)
{
	struct iot_hook *hook = kzalloc(sizeof(*hook), GFP_KERNEL);

	if (!hook)
		return NULL;
	hook->type = type;
	hook->addr = addr;
	hook->may_redirect = may_redirect;
	name_it(hook);
	spin_lock(&list_lock);
	list_add_tail(&hook->list, &hooks);
	spin_unlock(&list_lock);
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

	mutex_lock(&hook_lock);
	hook = find(type, (unsigned long)func);
	if (!hook)
		hook = create(type, (unsigned long)func, may_redirect);
	if (hook)
		hook->holders++;
	mutex_unlock(&hook_lock);
	return hook;
}

/** iot_hook_put() - drop a reference to a hook, which is disabled, or NULL */
void iot_hook_put(struct iot_hook *hook)
{
	if (!hook)
		return;
	mutex_lock(&hook_lock);
	if (!--hook->holders) {
		spin_lock(&list_lock);
		list_del(&hook->list);
		spin_unlock(&list_lock);
		kfree(hook);
	}
	mutex_unlock(&hook_lock);
}

/**
 * iot_hook_enable() - add a user to a hook; the first one attaches it
 *
 * Context: task, may sleep (for seconds, when the kernel patches its text).
 */
int iot_hook_enable(struct iot_hook *hook)
{
	int err = 0;

	mutex_lock(&hook_lock);
	if (!hook->users)
		err = attach(hook);
	if (!err)
		hook->users++;
	mutex_unlock(&hook_lock);
	return err;
}

/** iot_hooks_put() - drop references to @n hooks, which may be NULL, and set them to NULL */
void iot_hooks_put(struct iot_hook **hooks, unsigned int n)
{
	while (n--) {
		iot_hook_put(hooks[n]);
		hooks[n] = NULL;
	}
}

/**
 * iot_hooks_disable() - remove a user from each of @n hooks, which may be NULL
 *
 * The last user of a hook detaches it, of all hooks at once, which is much faster than one at a
 * time. Calls that are in a wrapper continue; they do not touch the hook.
 */
void iot_hooks_disable(struct iot_hook **hooks, unsigned int n)
{
	struct iot_hook *unused[BATCH];
	unsigned int nr = 0;

	mutex_lock(&hook_lock);
	while (n--) {
		if (!hooks[n] || --hooks[n]->users)
			continue;
		unused[nr++] = hooks[n];
		if (nr < BATCH)
			continue;
		detach(unused, nr);
		nr = 0;
		/* let other tasks have the lock between batches */
		mutex_unlock(&hook_lock);
		mutex_lock(&hook_lock);
	}
	detach(unused, nr);
	mutex_unlock(&hook_lock);
}

/** iot_hooks_enable() - enable @n hooks, which may be NULL: all of them, or none on error */
int iot_hooks_enable(struct iot_hook **hooks, unsigned int n)
{
	unsigned int i;
	int err;

	for (i = 0; i < n; i++) {
		err = hooks[i] ? iot_hook_enable(hooks[i]) : 0;
		if (err) {
			iot_hooks_disable(hooks, i);
			return err;
		}
	}
	return 0;
}

/**
 * iot_hook_missed() - count the calls that the hook could not follow, for all targets
 *
 * The count is complete even while the hook is being detached. Context: task.
 */
unsigned long iot_hook_missed(const struct iot_hook *hook)
{
	unsigned long missed;

	spin_lock(&missed_lock);
	missed = hook->missed + missed_now(hook);
	spin_unlock(&missed_lock);
	return missed;
}

/** iot_hook_show() - print a line per hook, for /proc/iotracer/hooks */
void iot_hook_show(struct seq_file *m)
{
	struct iot_hook *hook;

	mutex_lock(&hook_lock);
	list_for_each_entry(hook, &hooks, list)
		seq_printf(m, "%s %s %s %u %lu - %d\n", hook->symbol,
			   hook->type->name, mechanism_names[hook->mechanism],
			   hook->users, hook->missed + missed_now(hook), hook->error);
	mutex_unlock(&hook_lock);
}

/* The text of @mod is about to be freed: detach the hooks in it. */
static void module_going(struct module *mod)
{
	struct iot_hook *hook;

	list_for_each_entry(hook, &hooks, list) {
		if (!within_module(hook->addr, mod))
			continue;
		detach(&hook, 1);
		WRITE_ONCE(hook->addr, 0);
	}
	forget_bare(mod);
}

/* A module has been loaded: look up its functions that have hooks, attach those enabled. */
static void module_live(struct module *mod)
{
	char name[MODULE_NAME_LEN + KSYM_NAME_LEN];
	struct iot_hook *hook;

	list_for_each_entry(hook, &hooks, list) {
		if (hook->addr || strcmp(hook->module, mod->name))
			continue;
		snprintf(name, sizeof(name), "%s:%s", mod->name, hook->symbol);
		WRITE_ONCE(hook->addr, iot_symbol_find(name));
		if (hook->users)
			attach(hook);
	}
}

/*
 * Is a hook in the module that is being unloaded, or was one in the module that has been
 * loaded? Loading or unloading any other module does not take hook_lock, which may be held for
 * long while hooks are attached. No hook is created in a module that is being unloaded: the
 * inode or file that the function comes from holds a reference to the module.
 */
static bool concerns(struct module *mod, unsigned long event)
{
	struct iot_hook *hook;
	bool found = event == MODULE_STATE_GOING && has_bare(mod);
	unsigned long addr;

	spin_lock(&list_lock);
	list_for_each_entry(hook, &hooks, list) {
		addr = READ_ONCE(hook->addr);
		found |= event == MODULE_STATE_GOING ? within_module(addr, mod) :
						       !addr && !strcmp(hook->module, mod->name);
	}
	spin_unlock(&list_lock);
	return found;
}

static int module_event(struct notifier_block *nb, unsigned long event,
			void *data)
{
	struct module *mod = data;

	if (event == MODULE_STATE_COMING)
		iot_hook_set_module_coming(mod->name);
	if (event == MODULE_STATE_GOING)
		iot_hook_set_module_going(mod->name);
	if (event == MODULE_STATE_COMING || !concerns(mod, event))
		return NOTIFY_DONE;
	mutex_lock(&hook_lock);
	if (event == MODULE_STATE_GOING)
		module_going(mod);
	else if (event == MODULE_STATE_LIVE)
		module_live(mod);
	mutex_unlock(&hook_lock);
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
 * All hooks have been put. Context: task, may sleep; no call is in flight and none is
 * redirected any more.
 */
void iot_hook_exit(void)
{
	unregister_module_notifier(&module_notifier);
	iot_unload_exit();
	iot_points_wait();
	iot_redirect_drain();
}
